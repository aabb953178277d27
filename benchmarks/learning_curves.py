"""Measure how often the interval of a projected learning curve covers what further answers bring.

Simulated scores are normal with standard deviation .5. Annotators answer on seven points, with noise, about pairs of
the balanced design. The curve is projected from the first answers. Then the scores are fitted to all answers, and
their pairwise accuracy is measured on answers to 20,000 random pairs. The nominal coverage is 95 %.
"""

import argparse
import time
from dataclasses import astuple, dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff import use_threads
from confdiff.labelling.design.planning import plan_design
from confdiff.tabular.checks.graph import Judgements, edges_of
from confdiff.tabular.checks.learning_curve import learning_curve
from confdiff.tabular.checks.subset_fits import penalised_scores

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
N_TEST = 20_000
SPREAD = 0.5


@dataclass(frozen=True)
class Setting:
    """Hold the size of a study: items, pairs per item, noise of the answers, and the factor of all answers."""

    items: int
    per_item: float
    noise: float
    factor: float


@dataclass(frozen=True)
class Outcome:
    """Hold the accuracy that was reached, and errors of the projection."""

    now: float
    later: float
    error: float
    covered: bool
    width: float
    error_of_gain: float
    seconds: float


SETTINGS = (
    Setting(40, 6, 0.5, 1.5),
    Setting(40, 12, 0.5, 2),
    Setting(100, 6, 0.3, 1.5),
    Setting(100, 10, 0.7, 1.5),
    Setting(100, 10, 0.7, 3),
    Setting(400, 5, 0.5, 2),
    Setting(400, 10, 0.5, 1.5),
)


def judge(score: Floats, left: Ints, right: Ints, noise: float, rng: np.random.Generator) -> Floats:
    answers = score[right] - score[left] + rng.normal(0, noise, len(left))
    return np.round(answers.clip(-1, 1) * 3) / 3


def reached(score: Floats, left: Ints, right: Ints, c: Floats, noise: float, rng: np.random.Generator) -> float:
    """Return the pairwise accuracy of scores that are fitted to answers, on answers to random pairs without ties."""
    weight = np.ones(len(c))
    edges = edges_of(Judgements(len(score), np.arange(len(c)), left, right, c, weight))
    penalty = (noise / SPREAD) ** 2
    fitted = penalised_scores(edges, np.arange(len(edges.mean)), penalty)
    first = rng.integers(0, len(score), N_TEST)
    second = (first + rng.integers(1, len(score), N_TEST)) % len(score)
    answer = judge(score, first, second, noise, rng)
    agreement = np.sign(fitted[second] - fitted[first]) * np.sign(answer)
    return float((1 + agreement[answer != 0]).mean() / 2)


def simulate(setting: Setting, seed: int) -> Outcome:
    rng = np.random.default_rng(seed)
    score = rng.normal(0, SPREAD, setting.items)
    per_item = setting.per_item * setting.factor
    plan = plan_design(setting.items, pairs_per_item=per_item, judges=1, repeats=0, reserve=0, shared=0, seed=seed)
    n = round(len(plan) / setting.factor)
    c = judge(score, plan.left, plan.right, setting.noise, rng)
    start = time.process_time()
    curve = learning_curve(plan.left[:n], plan.right[:n], c[:n], more=len(plan) - n, seed=seed)
    seconds = time.process_time() - start
    now = reached(score, plan.left[:n], plan.right[:n], c[:n], setting.noise, rng)
    later = reached(score, plan.left, plan.right, c, setting.noise, rng)
    projected = curve.projection[-1]
    return Outcome(
        now=now,
        later=later,
        error=projected.accuracy - later,
        covered=projected.low <= later <= projected.high,
        width=projected.high - projected.low,
        error_of_gain=projected.accuracy - curve.projection[0].accuracy - (later - now),
        seconds=seconds,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=200)
    seeds = parser.parse_args().seeds
    use_threads(1)
    print("items  per item  noise  factor    now  later   bias     sd  coverage  width  gain: bias     sd  seconds")
    for setting in SETTINGS:
        rows = np.array([astuple(simulate(setting, seed)) for seed in range(seeds)], dtype=np.float64)
        now, later, bias, coverage, width, gain, seconds = rows.mean(axis=0)
        spread = rows.std(axis=0)
        print(
            f"{setting.items:5d}  {setting.per_item:8.0f}  {setting.noise:5.1f}  {setting.factor:6.1f}  {now:.3f}  "
            f"{later:.3f} {bias:+.3f}  {spread[2]:.3f}  {coverage:8.2f}  {width:.3f}      {gain:+.3f}  {spread[5]:.3f}"
            f"  {seconds:7.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
