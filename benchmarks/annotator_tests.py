"""Measure the error rate and the power of the tests of annotators in `confdiff check`, by simulation.

Fifty items have normal scores (standard deviation 0.3), and annotators judge random pairs with normal noise, such that
about 80 % of the signs agree with the scores. All judge alike, except the first annotator in the rows of power: he adds
a bias, or answers most pairs with a coin. Rates are fractions of the simulated tables. A false finding is one about any
other annotator. Coins also use less of the scale, so the row of agreement counts a finding of either kind.
"""

import argparse
from typing import Any

import numpy as np

from confdiff.tabular.checks.annotators import JudgedAnnotator, measure_annotators
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.scales import PLAIN_SCALE
from confdiff.tabular.tables import read_comparisons

_ITEMS = 50
_NOISE = 0.3
_COINS = 5 / 6  # of the answers: the agreement falls from 0.8 to 0.55


def tables(
    seed: int, n_annotators: int, answers: int, bias: float, coins: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return simulated items and pairs."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=_ITEMS) * 0.3
    code = np.repeat(np.arange(n_annotators), answers)
    left = rng.integers(0, _ITEMS, len(code))
    right = (left + rng.integers(1, _ITEMS, len(code))) % _ITEMS
    c = score[right] - score[left] + _NOISE * rng.normal(size=len(code))
    is_coin = (code == 0) & (rng.random(len(code)) < coins)
    c = np.where(is_coin, c * rng.choice([-1, 1], len(code)), c) + bias * (code == 0)
    pairs = {"left": left, "right": right, "difference": c.clip(-1, 1), "annotator": [f"a{k:03d}" for k in code]}
    return {"id": np.arange(_ITEMS), "score": score}, pairs


def measure(seed: int, n_annotators: int, answers: int, bias: float, coins: float) -> tuple[JudgedAnnotator, ...]:
    """Return the annotators of one simulated table."""
    items, pairs = read_comparisons(*tables(seed, n_annotators, answers, bias, coins))
    return measure_annotators(CheckData(items=items, pairs=pairs, scale=PLAIN_SCALE, scale_given=True))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--annotators", type=int, nargs="+", default=[6, 30])
    parser.add_argument("--answers", type=int, nargs="+", default=[25, 50, 100, 200])
    options = parser.parse_args()
    print("| annotators | answers each | false finding, all alike | bias .19 found | agreement .55 found | false |")
    print("|---|---|---|---|---|---|")
    for n_annotators in options.annotators:
        for answers in options.answers:
            false_alike = []
            false_others = []
            found_bias = []
            found_coins = []
            for seed in range(options.tables):
                alike = measure(seed, n_annotators, answers, 0.0, 0.0)
                biased = measure(seed, n_annotators, answers, 0.19, 0.0)
                coins = measure(seed, n_annotators, answers, 0.0, _COINS)
                false_alike.append(any(annotator.deviations for annotator in alike))
                false_others += [any(other.deviations for other in case[1:]) for case in (biased, coins)]
                found_bias.append(biased[0].tests["bias"].is_significant)
                found_coins.append(bool(coins[0].deviations))
            rates = [np.mean(case) for case in (false_alike, found_bias, found_coins, false_others)]
            cells = " | ".join(f"{rate:.3f}" for rate in rates)
            print(f"| {n_annotators} | {answers} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
