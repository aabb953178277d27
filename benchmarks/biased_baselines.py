"""Measure the bias of GLWS and of the CRCR-like ablation, next to methods that are unbiased or consistent.

Items have five normal features. Posteriors are a sigmoid of a linear score, mapped to an interval: the whole of [0, 1]
with a steep sigmoid, or the middle. Random pairs have exact differences. The true prior is given to methods that use
one. The table has the error of the probabilities of new items, mean |p - r|, and the accuracy minus that of the true
posteriors: means over seeds with 95 % t intervals.
"""

import argparse
import warnings

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit

from confdiff import ConfDiffClassifier, Pairs
from confdiff.methods import METHODS

NAMES = ("confdiff-regression", "confdiff-abs", "glws", "crcr-like")
INTERVALS = {"[0, 1]": (0.0, 1.0, 8.0), "[.2, .8]": (0.2, 0.8, 2.0)}
DIRECTION = np.array([1.0, 0.7, -0.5, 0.3, 0.0])


def main() -> None:
    """Print the errors of each method for each interval of posteriors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pairs", type=int, default=3_000)
    options = parser.parse_args()
    print(f"{'posteriors':>10} {'method':>20} {'|p - r|':>16} {'accuracy minus best':>22}")
    for name, (low, high, slope) in INTERVALS.items():
        for method in NAMES:
            errors, gaps = np.transpose(
                [_trial(method, options.pairs, seed, low, high, slope) for seed in range(options.seeds)]
            )
            print(f"{name:>10} {method:>20} {_with_interval(errors):>16} {_with_interval(gaps):>22}", flush=True)


def _trial(method: str, n: int, seed: int, low: float, high: float, slope: float) -> tuple[float, float]:
    """Return the error of probabilities, and the accuracy minus that of the true posteriors."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(2 * n + 10_000, 5)).astype(np.float32)
    r = low + (high - low) * expit(slope * (items @ DIRECTION - 0.5))
    pairs = Pairs(items[: 2 * n], np.arange(n), np.arange(n, 2 * n), r[n : 2 * n] - r[:n])
    prior = None if METHODS[method].prior == "unused" else float(r.mean())
    model = ConfDiffClassifier(method, prior=prior, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of an open prior
        model.fit(pairs)
    p = model.predict_proba(items[2 * n :])[:, 1]
    truth = r[2 * n :]
    accuracy = np.where(p >= 0.5, truth, 1 - truth).mean()
    return float(np.abs(p - truth).mean()), float(accuracy - np.maximum(truth, 1 - truth).mean())


def _with_interval(values: NDArray[np.float64]) -> str:
    """Return a mean with half of the width of its 95 % interval."""
    n = len(values)
    half = stats.t.ppf(0.975, n - 1) * values.std(ddof=1) / np.sqrt(n) if n > 1 else float("nan")
    return f"{values.mean():.3f} +- {half:.3f}"


if __name__ == "__main__":
    main()
