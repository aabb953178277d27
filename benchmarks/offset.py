"""Measure how often the 95 % interval of the class prior contains it, and how wide it is, for each learner.

Items have five normal features, and each is in one pair. Posteriors are a function of a linear score:

wide    reach 0 and 1, prior .31: the differences determine the prior
inside  lie in [.05, .5], prior .19: the differences leave an interval of .55 open
rare    skewed, prior .13: few items are near 1

Differences are exact, noisy (plus N(0, .3^2), clipped to [-1, 1]) or label differences. "open" is the interval that
the true posteriors of the items leave open, [-min d, 1 - max d]. The class prior is that of the population.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from confdiff import ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, Pairs
from confdiff.prior import identified_interval

Vector = NDArray[np.float64]
DIRECTION = np.array([1.0, 0.7, -0.5, 0.3, 0.0]) / np.linalg.norm([1.0, 0.7, -0.5, 0.3, 0.0])
SETTINGS: dict[str, Callable[[Vector], Vector]] = {
    "wide": lambda z: expit(6 * z - 3),
    "inside": lambda z: 0.05 + 0.45 * expit(3 * z - 1.8),
    "rare": lambda z: expit(2 * z - 3),
}
LEARNERS: dict[str, Callable[..., Any]] = {
    "linear": ConfDiffLogisticRegression,
    "boosting": ConfDiffBoosting,
    "network": partial(ConfDiffClassifier.regularised, n_networks=1),
    "paper-network": ConfDiffClassifier,
}
N_LABELS = 40


@dataclass(frozen=True)
class Mode:
    """How the differences are made, and what the learner is told."""

    differences: str
    parameters: dict[str, Any]
    n_labels: int = 0


MODES = {
    "exact, None": Mode("exact", {}),
    "exact, estimate": Mode("exact", {"prior": "estimate"}),
    "noisy, None": Mode("noisy", {}),
    "noisy, estimate": Mode("noisy", {"prior": "estimate"}),
    "noisy, 40 labels": Mode("noisy", {}, N_LABELS),
    "labels, rarer": Mode("labels", {"differences": "labels", "positives": "rarer"}),
    "labels, declared": Mode("labels", {"differences": "labels"}),
    "labels, 40 labels": Mode("labels", {"differences": "labels"}, N_LABELS),
}


def main() -> None:
    """Print one line per setting, learner and mode."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--learners", default="linear,boosting,network")
    parser.add_argument("--settings", default=",".join(SETTINGS))
    parser.add_argument("--modes", default=";".join(MODES), help="separated by semicolons")
    arguments = parser.parse_args()
    print(f"{'setting':8}{'learner':14}{'mode':18} covered   width    open  excess  |error|  determined  seconds")
    for setting in arguments.settings.split(","):
        for learner in arguments.learners.split(","):
            for mode in arguments.modes.split(";"):
                rows = [
                    one_fit(setting, learner, MODES[mode], arguments.pairs, seed) for seed in range(arguments.seeds)
                ]
                print(f"{setting:8}{learner:14}{mode:18}{line_of(np.array(rows))}", flush=True)


def line_of(rows: Vector) -> str:
    """Return the counts and means of the results of all seeds."""
    covered, width, opened, error, determined, seconds = rows.T
    counts = f"{int(covered.sum()):3} / {len(rows):2}"
    means = f"{width.mean():8.3f}{opened.mean():8.3f}{(width - opened).mean():8.3f}{error.mean():9.3f}"
    return f" {counts}{means}{int(determined.sum()):7} / {len(rows):2}{seconds.mean():9.2f}"


def one_fit(setting: str, learner: str, mode: Mode, n_pairs: int, seed: int) -> tuple[float, ...]:
    """Fit once; return whether the interval holds the prior, widths, the error of the prior, and processor time."""
    rng = np.random.default_rng(1_000 + seed)
    items = rng.normal(size=(2 * n_pairs, len(DIRECTION)))
    r = SETTINGS[setting](items @ DIRECTION)
    pairs = Pairs(items, np.arange(n_pairs), np.arange(n_pairs, 2 * n_pairs), judged(r, mode.differences, rng))
    labelled = None
    if mode.n_labels:
        chosen = rng.choice(len(items), mode.n_labels, replace=False)
        labelled = (items[chosen], (rng.random(mode.n_labels) < r[chosen]).astype(int))
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an open prior is counted instead
        model = LEARNERS[learner](random_state=seed, **mode.parameters).fit(pairs, labelled=labelled)
    seconds = time.process_time() - start
    prior = true_prior(setting)
    low, high = model.prior_interval_
    open_low, open_high = identified_interval(r, tail=0)
    covered = low <= prior <= high
    error = abs(model.prior_ - prior)
    return covered, high - low, open_high - open_low, error, model.is_offset_determined_, seconds


def judged(r: Vector, kind: str, rng: np.random.Generator) -> Vector:
    """Return the differences of the second and the first half of some items."""
    first, second = np.split(r, 2)
    if kind == "labels":
        first, second = np.split((rng.random(len(r)) < r).astype(np.float64), 2)
    c = second - first
    return np.clip(c + rng.normal(0, 0.3, len(c)), -1, 1) if kind == "noisy" else c


def true_prior(setting: str) -> float:
    """Return the class prior of the population, by numerical integration over the score."""
    z = np.linspace(-8, 8, 20_001)
    density = np.exp(-(z**2) / 2)
    return float(SETTINGS[setting](z) @ density / density.sum())


if __name__ == "__main__":
    main()
