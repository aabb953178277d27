"""The signed-rank test, compared with an enumeration of all signs and with scipy."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from confdiff.experiments.signed_ranks import signed_ranks, smallest_p


def p_by_enumeration(differences):
    """Give each nonzero difference either sign, and count the sums of ranks at least as far from their mean."""
    nonzero = [value for value in differences if value]
    ranks = stats.rankdata(np.abs(nonzero))
    observed = abs(sum(rank if value > 0 else -rank for rank, value in zip(ranks, nonzero, strict=True)))
    sums = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(nonzero))]
    return np.mean([value >= observed - 1e-9 for value in sums])


@pytest.mark.parametrize(
    "differences",
    [
        [0.1, 0.2, 0.3, -0.05],
        [0.1, -0.1, 0.1, 0.2, 0.2, -0.3],  # ties
        [0.0, 0.1, 0.0, 0.2, -0.1],  # zeros
        [0.5],
        [-0.1, -0.2, -0.3, -0.4, -0.5, -0.6],
        [0.1, -0.1],
    ],
)
def test_p_values_are_exact(differences):
    assert signed_ranks(differences).p_value == pytest.approx(p_by_enumeration(differences))


@pytest.mark.parametrize("seed", range(5))
def test_without_ties_it_is_scipy_s(seed):
    differences = np.random.default_rng(seed).normal(0.3, 1, 14)
    expected = stats.wilcoxon(differences, method="exact")
    assert signed_ranks(differences).p_value == pytest.approx(expected.pvalue)


def test_equal_differences_are_ties_whatever_their_last_bits():
    differences = [0.3 - 0.2, 0.1, 0.9 - 1.0, 0.2]  # the first three are .1 to 16 digits
    assert signed_ranks(differences).rank_biserial == pytest.approx((2 + 2 - 2 + 4) / 10)


def test_no_differences():
    assert (signed_ranks([]).p_value, signed_ranks([0.0, 0.0]).p_value) == (1.0, 1.0)
    assert signed_ranks([0.0, 0.0]).rank_biserial == 0.0


@pytest.mark.parametrize("n", range(1, 9))
def test_the_smallest_p_value(n):
    assert signed_ranks([0.1 * k for k in range(1, n + 1)]).p_value == pytest.approx(smallest_p(n))


def test_many_differences():
    differences = np.random.default_rng(0).normal(0.1, 1, 200)
    expected = stats.wilcoxon(differences, method="exact")
    assert signed_ranks(differences).p_value == pytest.approx(expected.pvalue)
