"""Compare the time and the accuracy of boosted trees on differences with trees on soft labels and with other learners.

All learners see the same pairs of items, on one thread. Ten features matter: the score of an item has a sine, a
square, an interaction and six linear terms. --noise adds normal errors to the differences. Times are processor seconds
of ``fit``, after a small fit of each learner that does not count. ProjectedClassifier and the network are fitted to
the first draw only, because they are slow.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier

from confdiff import ConfDiffBoosting, ConfDiffClassifier, Pairs, ProjectedClassifier
from confdiff.threads import use_threads

N_NEW = 10_000
Features = NDArray[np.float32]
Vector = NDArray[np.float64]
Scorer = Callable[[Features], Vector]
"""Items -> scores, which are at least 0 for the positive class."""


def main() -> None:
    """Print one line per learner."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1500)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--noise", type=float, default=0.0, help="standard deviation of the errors of differences")
    parser.add_argument("--seeds", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in LEARNERS}
    with use_threads(1):
        for learn in LEARNERS.values():
            learn(draw_pairs(100, arguments.columns, 0.0, np.random.default_rng(0)))
        for seed in range(arguments.seeds):
            for name, outcome in one_draw(arguments, seed).items():
                results[name].append(outcome)
    print_results(results)


def print_results(results: dict[str, list[tuple[float, float]]]) -> None:
    """Print the mean time of each learner, its ratio to that of the same trees on soft labels, and the accuracy."""
    means = {name: np.mean(outcomes, axis=0) for name, outcomes in results.items()}
    print(f"{'learner':44} draws  seconds  ratio  accuracy")
    for name, (seconds, accuracy) in means.items():
        ratio = seconds / means[REFERENCE][0]
        print(f"{name:44} {len(results[name]):5}  {seconds:7.2f}  {ratio:5.2f}  {accuracy:8.4f}")


def one_draw(arguments: argparse.Namespace, seed: int) -> dict[str, tuple[float, float]]:
    """Return the processor seconds and the accuracy of each learner."""
    rng = np.random.default_rng(seed)
    pairs = draw_pairs(arguments.pairs, arguments.columns, arguments.noise, rng)
    new_items = rng.normal(size=(N_NEW, arguments.columns)).astype(np.float32)
    is_positive = rng.random(N_NEW) < posteriors(new_items)
    outcomes = {}
    for name, learn in LEARNERS.items():
        if seed > 0 and name in SLOW:
            continue
        start = time.process_time()
        score = learn(pairs)
        seconds = time.process_time() - start
        outcomes[name] = (seconds, float(np.mean((score(new_items) >= 0) == is_positive)))
    return outcomes


def draw_pairs(count: int, columns: int, noise: float, rng: np.random.Generator) -> Pairs:
    """Return pairs of different items, with the posteriors of the items."""
    items = rng.normal(size=(2 * count, columns)).astype(np.float32)
    r = posteriors(items)
    c = np.clip(r[count:] - r[:count] + rng.normal(0, noise, count), -1, 1)
    rows = np.arange(2 * count)
    return Pairs(items, rows[:count], rows[count:], c, posteriors=r)


def posteriors(items: Features) -> Vector:
    """Return the probability of the positive class of each item."""
    score = (
        np.sin(2 * items[:, 0]) + items[:, 1] ** 2 - 1 + items[:, 2] * items[:, 3] + 0.4 * items[:, 4:10].sum(axis=1)
    )
    return np.asarray(expit(2 * score), dtype=np.float64)


def _prior(pairs: Pairs) -> float:
    assert pairs.posteriors is not None
    return float(pairs.posteriors.mean())


def _boosting(method: str | None = None, **options: Any) -> Callable[[Pairs], Scorer]:
    def learn(pairs: Pairs) -> Scorer:
        prior = None if method == "oracle-soft" else _prior(pairs)
        return ConfDiffBoosting(method, prior=prior, **options).fit(pairs).decision_function

    return learn


def _lightgbm(pairs: Pairs, number: int = 0, n_parts: int = 7) -> Scorer:
    """Train LightGBM on soft labels with the same tree settings, and stop early by one part of the items."""
    import lightgbm

    assert pairs.posteriors is not None
    items = pairs.items.numpy()  # type: ignore[union-attr]  # they are not sparse
    r = pairs.posteriors.numpy()
    parameters = {
        "objective": "cross_entropy",
        "num_leaves": 7,
        "min_data_in_leaf": 10,
        "min_sum_hessian_in_leaf": 1e-3,
        "feature_fraction": 0.8,
        "bagging_fraction": 0.8,
        "bagging_freq": 1,
        "num_threads": 1,
        "verbosity": -1,
    }
    is_held_out = np.arange(len(r)) % n_parts == number
    training = lightgbm.Dataset(items[~is_held_out], r[~is_held_out], params=parameters)
    held_out = training.create_valid(items[is_held_out], r[is_held_out])
    stopping = lightgbm.early_stopping(30, verbose=False)
    model = lightgbm.train(parameters, training, 500, valid_sets=[held_out], callbacks=[stopping])
    return lambda X: np.asarray(model.predict(X, raw_score=True), dtype=np.float64)


def _mean_of_lightgbm(pairs: Pairs) -> Scorer:
    scorers = [_lightgbm(pairs, number, 5) for number in range(5)]
    return lambda X: np.mean([score(X) for score in scorers], axis=0)


def _projected(pairs: Pairs) -> Scorer:
    trees = HistGradientBoostingClassifier(max_leaf_nodes=7, min_samples_leaf=10, random_state=0)
    model = ProjectedClassifier(trees, prior=_prior(pairs)).fit(pairs)
    return lambda X: np.asarray(model.predict_proba(X)[:, 1] - 0.5, dtype=np.float64)


def _network(pairs: Pairs) -> Scorer:
    model = ConfDiffClassifier(prior=_prior(pairs)).fit(pairs)
    return lambda X: np.asarray(model.decision_function(X), dtype=np.float64)


REFERENCE = "the same trees on soft labels"
LEARNERS: dict[str, Callable[[Pairs], Scorer]] = {
    "ConfDiffBoosting": _boosting(),
    REFERENCE: _boosting("oracle-soft"),
    "ConfDiffBoosting, n_folds=1": _boosting(n_folds=1),
    "the same trees on soft labels, n_folds=1": _boosting("oracle-soft", n_folds=1),
    "LightGBM on soft labels, early stopping": _lightgbm,
    "LightGBM on soft labels, mean of 5 models": _mean_of_lightgbm,
    "ProjectedClassifier over trees": _projected,
    "ConfDiffClassifier (network)": _network,
}
"""Name -> a function that fits it to pairs."""
SLOW = ("ProjectedClassifier over trees", "ConfDiffClassifier (network)")


if __name__ == "__main__":
    main()
