"""Adjusted p-values, against restatements of the procedures as their papers give them."""

import numpy as np
import pytest

from confdiff.multiple_tests import benjamini_hochberg, holm

FAMILIES = [
    [0.01, 0.04, 0.03],
    [0.5],
    [0.02, 0.02, 0.02],
    [0.001, 0.9, 0.3, 0.012, 0.04, 0.0],
    np.random.default_rng(0).random(30) ** 3,
]
LEVELS = (0.001, 0.01, 0.05, 0.2, 0.9)


def rejected_by_holm(p_values, level):
    """Holm 1979: go through the p-values from the smallest, and stop at the first that is above its bound."""
    rejected = set()
    for step, test in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        if p_values[test] > level / (len(p_values) - step):
            break
        rejected.add(test)
    return rejected


def rejected_by_benjamini_hochberg(p_values, level):
    """Benjamini and Hochberg 1995: reject the k smallest, with the largest k whose p-value is within its bound."""
    order = sorted(range(len(p_values)), key=lambda k: p_values[k])
    within = [rank for rank, test in enumerate(order, start=1) if p_values[test] <= rank * level / len(p_values)]
    return set(order[: max(within, default=0)])


@pytest.mark.parametrize(
    ("adjust", "rejected"), [(holm, rejected_by_holm), (benjamini_hochberg, rejected_by_benjamini_hochberg)]
)
@pytest.mark.parametrize("p_values", FAMILIES, ids=len)
@pytest.mark.parametrize("level", LEVELS)
def test_adjusted_values_reject_what_the_procedure_rejects(adjust, rejected, p_values, level):
    adjusted = adjust(p_values)
    assert {test for test, value in enumerate(adjusted) if value <= level} == rejected(p_values, level)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_no_tests_and_order(adjust):
    assert adjust([]).tolist() == []
    p_values = np.array(FAMILIES[-1])
    shuffled = np.random.default_rng(1).permutation(len(p_values))
    np.testing.assert_array_equal(adjust(p_values[shuffled]), adjust(p_values)[shuffled])


def test_the_family_wise_error_rate_is_kept_where_tests_are_independent():
    rng = np.random.default_rng(0)
    false = np.mean([holm(rng.random(20)).min() <= 0.05 for _ in range(2_000)])
    assert false == pytest.approx(1 - (1 - 0.05 / 20) ** 20, abs=3 * (0.05 / 2_000) ** 0.5)
