"""Time linear models of sparse texts against scikit-learn's logistic regression on feature differences.

Two tables of 8,000 items with 20,000 TF-IDF features: edited headlines with people's grades (humicroedit, needs
CONFDIFF_DATA), of which every pair shares most of its words, and simulated texts of 100 words, each in four pairs. The
features are the words and pairs of words that `confdiff fit` makes of the texts. All times are processor times on one
thread, from items and pairs to a fitted model, side by side in alternating order; the least of --repeats is shown. The
logistic regression of scikit-learn is given the signs of the differences without ties, and the same C.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, LogisticRegressionCV

from confdiff import LINKS, ConfDiffLogisticRegression, ItemFeatures, Pairs, use_threads
from confdiff.metrics import pairwise_accuracy
from confdiff.pairs.sparse import SparseItems
from judged_data import read_headlines

N_ITEMS = 8_000
N_FEATURES = 20_000
WORDS_PER_TEXT = 100
PAIRS_PER_ITEM = 2  # as the first item
SCORE_LINKS = ("preference", "score")
Scorer = Callable[[], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Problem:
    """Encoded items, training pairs, and test pairs with differences."""

    name: str
    train: Pairs
    test: Pairs


def main() -> None:
    """Print one table per problem."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--C", type=float, default=1.0, help="inverse strength of the penalty of both")
    arguments = parser.parse_args()
    with use_threads(1):
        for problem in (headlines(), simulated(seed=0)):
            compare(problem, arguments.C, arguments.repeats)


def headlines() -> Problem:
    """Return the pairs of headlines of which the first 8,000 training items are in, and the official test pairs."""
    data = read_headlines()
    train, test = data.splits[0]
    ends = np.stack([data.left, data.right])
    compared = np.unique(ends[:, train])[:N_ITEMS]
    train = train[np.isin(ends[:, train], compared).all(axis=0)]
    return encoded("headlines", data.texts, compared, ends, data.difference, train, test)


def simulated(seed: int) -> Problem:
    """Return texts of frequent and rare words, some of which count, and noisy differences of their scores."""
    rng = np.random.default_rng(seed)
    frequency = 1 / np.arange(10, N_FEATURES + 10)
    drawn = rng.choice(N_FEATURES, size=(2 * N_ITEMS, WORDS_PER_TEXT), p=frequency / frequency.sum())
    score = rng.normal(size=N_FEATURES)[drawn].mean(axis=1)
    texts = [" ".join(f"w{word}" for word in words) for words in drawn.tolist()]
    left = np.concatenate([rng.integers(0, N_ITEMS, PAIRS_PER_ITEM * N_ITEMS), np.arange(N_ITEMS, 2 * N_ITEMS - 1)])
    right = np.concatenate([rng.integers(0, N_ITEMS, PAIRS_PER_ITEM * N_ITEMS), np.arange(N_ITEMS + 1, 2 * N_ITEMS)])
    c = np.tanh(10 * (score[right] - score[left]) + rng.normal(0, 0.5, len(left)))
    train = np.arange(PAIRS_PER_ITEM * N_ITEMS)
    test = np.arange(PAIRS_PER_ITEM * N_ITEMS, len(left))
    return encoded("simulated", texts, np.arange(N_ITEMS), np.stack([left, right]), c, train, test)


def encoded(
    name: str,
    texts: list[str],
    learned_from: NDArray[np.int64],
    ends: NDArray[np.int64],
    c: NDArray[np.float64],
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> Problem:
    """Return a problem with the features that `confdiff fit` makes, learned from some of the texts."""
    frame = pd.DataFrame({"text": texts})
    features = ItemFeatures(kinds={"text": "text"}, max_features=N_FEATURES).fit(frame.iloc[learned_from])
    items = features.encode(frame)
    sets = [Pairs(items, ends[0, rows], ends[1, rows], difference=c[rows]).compact() for rows in (train, test)]
    return Problem(name=name, train=sets[0], test=sets[1])


def compare(problem: Problem, C: float, repeats: int) -> None:
    """Print times and pairwise accuracies."""
    train = problem.train
    print(f"\n{problem.name}: {train.items.shape[0]:,} items x {train.items.shape[1]:,} features, {len(train):,} pairs")
    ways: dict[str, Callable[[Problem], Any]] = {"scikit-learn": lambda problem: differences_model(problem, C)}
    ways |= {f"{link}, C={C:g}": fitted(link, C) for link in SCORE_LINKS}
    ways |= {f"probability, prior .5, C={C:g}": fitted("probability", C, prior=0.5)}
    ways |= {f"probability, C={C:g}": fitted("probability", C)}
    ways |= {"scikit-learn, 13 C, 4 folds": chosen_differences_model}
    ways |= {f"{link}, C=auto": fitted(link, "auto") for link in LINKS}
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    accuracy = {}
    for _ in range(repeats):
        for name, way in ways.items():
            start = time.process_time()
            weights = way(problem)
            seconds[name].append(time.process_time() - start)
            accuracy[name] = accuracy_of(weights, problem.test)
    least = {name: min(values) for name, values in seconds.items()}
    for name, value in least.items():
        ratio = value / least["scikit-learn"]
        print(f"  {name:30s}{value:7.3f} s  {ratio:5.1f}x  pairwise accuracy {accuracy[name]:.4f}", flush=True)


def differences_model(problem: Problem, C: float) -> NDArray[np.float64]:
    """Return the weights of logistic regression on feature differences."""
    model = LogisticRegression(C=C, fit_intercept=False, max_iter=1000)
    weights: NDArray[np.float64] = model.fit(*differences_of(problem.train)).coef_[0]
    return weights


def chosen_differences_model(problem: Problem) -> NDArray[np.float64]:
    """Return the same with C chosen by folds of pairs, from as many values as C="auto" tries."""
    model = LogisticRegressionCV(
        Cs=np.logspace(-4, 2, 13),
        cv=4,
        scoring="accuracy",
        fit_intercept=False,
        max_iter=1000,
        l1_ratios=(0,),
        use_legacy_attributes=False,
    )
    weights: NDArray[np.float64] = model.fit(*differences_of(problem.train)).coef_[0]
    return weights


def differences_of(pairs: Pairs) -> tuple[Any, NDArray[np.float64]]:
    """Return feature differences and signs of the pairs without ties."""
    assert isinstance(pairs.items, SparseItems)
    assert pairs.difference is not None
    c = pairs.difference.numpy()
    decided = c != 0
    items = pairs.items.to_scipy()
    differences = items[pairs.right.numpy()[decided]] - items[pairs.left.numpy()[decided]]
    return differences, np.sign(c[decided])


def fitted(link: str, C: float | str, **parameters: Any) -> Callable[[Problem], Any]:
    """Return a function that returns the weights of a linear model of pairs."""

    def way(problem: Problem) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return ConfDiffLogisticRegression(link=link, C=C, **parameters).fit(problem.train).coef_[0]

    return way


def accuracy_of(weights: NDArray[np.float64], test: Pairs) -> float:
    """Return the pairwise accuracy on test pairs."""
    assert isinstance(test.items, SparseItems)
    assert test.difference is not None
    scores = test.items.to_scipy() @ weights
    return float(pairwise_accuracy(scores[test.right.numpy()] - scores[test.left.numpy()], test.difference.numpy()))


if __name__ == "__main__":
    main()
