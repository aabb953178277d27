"""Wilcoxon's signed-rank test, exact for any ties, and its effect size."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_DECIMALS = 12  # differences that agree to this many decimals are ties: accuracies are rounded to fewer


@dataclass(frozen=True)
class SignedRanks:
    """The signs and ranks of differences.

    Attributes
    ----------
    n : int
        Number of differences that are not zero.
    rank_biserial : float
        Sum of the ranks of positive differences minus that of negative ones, divided by their total: from -1 (all
        negative) to 1 (all positive). 0 without differences.
    p_value : float
        Two-sided p-value of Wilcoxon's signed-rank test.
    """

    n: int
    rank_biserial: float
    p_value: float


def signed_ranks(differences: Sequence[float]) -> SignedRanks:
    """Test whether differences are symmetric about zero.

    Zeros are left out, as Wilcoxon proposed. The distribution is that of all assignments of signs to the ranks, so the
    p-value is exact for ties, too. It needs independent differences.

    Parameters
    ----------
    differences : sequence of float
        Differences of two methods, one per data set.

    Examples
    --------
    >>> signed_ranks([0.1, 0.2, 0.3, -0.05])
    SignedRanks(n=4, rank_biserial=0.8, p_value=0.25)
    """
    from scipy.stats import rankdata

    rounded = np.round(np.asarray(differences, dtype=np.float64), _DECIMALS)
    nonzero = rounded[rounded != 0]
    if not len(nonzero):
        return SignedRanks(n=0, rank_biserial=0.0, p_value=1.0)
    doubled = np.rint(2 * rankdata(np.abs(nonzero))).astype(np.int64)  # ranks of ties are halves
    total = int(doubled.sum())
    positive = int(doubled[nonzero > 0].sum())
    tail = _sums_of_subsets(doubled)[max(positive, total - positive) :].sum()
    return SignedRanks(
        n=len(nonzero),
        rank_biserial=(2 * positive - total) / total,
        p_value=min(1.0, 2 * float(tail)),
    )


def smallest_p(n: int) -> float:
    """Return the smallest p-value that the test can have with n differences, all of one sign.

    >>> smallest_p(4), smallest_p(6)
    (0.125, 0.03125)
    """
    return min(1.0, 2.0 ** (1 - n))


def _sums_of_subsets(weights: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the probability of each sum of a random subset, in which each weight is with probability 1/2."""
    probabilities = np.zeros(int(weights.sum()) + 1)
    probabilities[0] = 1.0
    for weight in weights:
        probabilities[weight:] += probabilities[:-weight].copy()
        probabilities /= 2
    return probabilities
