"""Learn ten classes from differences of posteriors alone.

A teacher provides the posteriors of scikit-learn's digits, each from a model that did not see it. The learners are
given the vector of the ten differences of each pair of digits, and nothing else. The oracle is given the posteriors.
"""

import sys

import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from confdiff import ConfDiffClassifier, OneVersusOne, OneVersusRest, Pairs


def make_pairs(seed: int) -> tuple[Pairs, np.ndarray, np.ndarray]:
    """Return pairs of digits with difference vectors, and held-out digits with their labels."""
    items, labels = load_digits(return_X_y=True)
    items, test_items, labels, test_labels = train_test_split(items, labels, test_size=0.2, random_state=seed)
    teacher = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    posteriors = cross_val_predict(teacher, items, labels, method="predict_proba")
    order = np.random.default_rng(seed).permutation(len(items))
    half = len(order) // 2
    left = order[:half]
    right = order[half : 2 * half]
    c = posteriors[right] - posteriors[left]
    return Pairs(items, left, right, c, posteriors=posteriors, labels=labels), test_items, test_labels


def main(seed: int = 0, *, reductions: bool = False) -> dict[str, float]:
    """Return the accuracy of learners from differences, and of the oracle, on held-out digits."""
    pairs, test_items, test_labels = make_pairs(seed)
    prior = pairs.targets("posteriors").mean(dim=(0, 1)).numpy()
    models = {
        "confdiff-regression": ConfDiffClassifier(),
        "confdiff-projection": ConfDiffClassifier("confdiff-projection"),
        "confdiff-abs": ConfDiffClassifier("confdiff-abs", prior=prior),
        "oracle-soft": ConfDiffClassifier("oracle-soft"),
    }
    if reductions:
        models |= {"one versus rest": OneVersusRest(ConfDiffClassifier(epochs=30))}
        models |= {"one versus one": OneVersusOne(ConfDiffClassifier(epochs=30))}
    accuracies = {}
    for name, model in models.items():
        accuracies[name] = float(np.mean(model.fit(pairs).predict(test_items) == test_labels))
        print(f"{name:20s} {accuracies[name]:.4f}")
    return accuracies


if __name__ == "__main__":
    main(reductions="--reductions" in sys.argv)  # these take a minute or two
