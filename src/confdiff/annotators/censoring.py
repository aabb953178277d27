r"""Answers at an end of the scale mean "at least this much": their expectation under the model of annotators.

A latent answer :math:`c^* = m + e` with :math:`e \sim N(0, v)` is shown as :math:`c = \min(\max(c^*, -1), 1)`. Where c
is 1, :math:`E[c^*] = m + \sqrt{v} \, \lambda(z)` and :math:`Var[c^*] = v (1 + z \lambda(z) - \lambda(z)^2)` with
:math:`z = (1 - m) / \sqrt{v}` and the inverse Mills ratio :math:`\lambda`; where it is -1, the same with the signs
changed. Without this, the answers of those who use much of the scale look as if they used less of it.
"""

import numpy as np
from scipy.stats import norm

from confdiff.annotators.sums import RealArray

LIMIT = 1.0
"""The ends of the scale are -LIMIT and LIMIT."""
_FEWEST_SIZES = 20  # fewer different sizes of answers are grades, whose ends are not censored
_LEAST_FRACTION = 0.01  # of the answers, at the ends
_LARGEST_FRACTION = 0.5


def may_be_censored(c: RealArray) -> bool:
    """Return whether answers are on a continuous scale, and some but not most of them are at its ends.

    >>> may_be_censored(np.array([-1.0, 0.0, 1.0] * 100))
    False
    >>> may_be_censored(np.clip(np.linspace(-1.2, 1.2, 100), -1, 1))
    True
    """
    size = np.abs(c)
    fraction = float(np.mean(size >= LIMIT))
    is_common = _LEAST_FRACTION <= fraction <= _LARGEST_FRACTION
    return is_common and len(np.unique(size.round(6))) >= _FEWEST_SIZES


def latent_answers(c: RealArray, mean: RealArray, variance: RealArray) -> tuple[RealArray, RealArray]:
    """Return mean and variance of the latent answers, given the answers and the distribution before them.

    Parameters
    ----------
    c : array of shape (n,)
        Answers; those within the ends of the scale are returned unchanged, with the variance 0.
    mean, variance : arrays of shape (n,)
        Of the latent answers.

    Examples
    --------
    >>> expected, _ = latent_answers(np.array([0.5, 1.0, -1.0]), np.zeros(3), np.ones(3))
    >>> expected.round(2)
    array([ 0.5 ,  1.53, -1.53])
    """
    rows = np.flatnonzero(np.abs(c) >= LIMIT)
    sign = np.sign(c[rows])
    deviation = np.sqrt(variance[rows])
    z = (LIMIT - sign * mean[rows]) / deviation
    mills = np.exp(norm.logpdf(z) - norm.logsf(z))
    latent = np.array(c, dtype=np.float64)
    latent[rows] = mean[rows] + sign * deviation * mills
    spread = np.zeros(len(c))
    spread[rows] = variance[rows] * np.clip(1 + z * mills - mills**2, 0.0, 1.0)
    return latent, spread


def expected_answers(mean: RealArray, variance: RealArray) -> RealArray:
    """Return the expectation of answers whose latent answers are normal.

    >>> expected_answers(np.array([0.0, 0.5, 9.0]), np.full(3, 0.25)).round(2)
    array([0.  , 0.46, 1.  ])
    """
    deviation = np.sqrt(variance)
    low = (-LIMIT - mean) / deviation
    high = (LIMIT - mean) / deviation
    within = norm.cdf(high) - norm.cdf(low)
    expected: RealArray = (
        mean * within + deviation * (norm.pdf(low) - norm.pdf(high)) + LIMIT * (norm.sf(high) - norm.cdf(low))
    )
    return expected
