"""Rescale scores to fit held-out differences best: the prior of that fit is the point estimate in an open interval.

The probabilities sigmoid(a s + b) of all offsets b are compared, from several starts: a learner that starts at a
probability of 1/2 stays near it if the differences are noisy. The shape of the sigmoid decides where the range of the
probabilities does not. This is a point estimate only: with other posteriors than logistic ones, its error would have to
be larger than its sampling error.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize
from scipy.special import expit

from confdiff.calibration import LEAST_VARIANCE
from confdiff.prior.out_of_fold import OutOfFold

_Vector = NDArray[np.float64]

_MOST_PAIRS = 5_000  # more do not make a point estimate better that an interval accompanies
_LOG_SCALES = np.linspace(-1.5, 1.5, 13)
_BEYOND = np.array([0.5, 1.0, 2.0, 3.0, 4.0, 6.0])  # log-odds beyond the scores at which probabilities may be 1/2
_NOTICEABLE = 10.0  # gain in units of the variance of a residual; noise alone rarely reaches it


@dataclass(frozen=True)
class Rescaling:
    """The best rescaling of scores.

    Attributes
    ----------
    scale, shift : float
        The factor a of the scores, and the constant b.
    prior : float
        The mean probability.
    is_better : bool
        Whether it fits held-out differences noticeably better than the scores as they are.
    """

    scale: float
    shift: float
    prior: float
    is_better: bool


def fit_shape(data: OutOfFold, low: float, high: float) -> Rescaling:
    """Return the rescaling that fits held-out differences best, with a prior between ``low`` and ``high``.

    As in :func:`confdiff.calibration.fit_to_differences`, log a is N(0, 1/4) before the differences are seen.
    """
    search = _Search.of(data)
    starts = [point for point in search.grid() if low <= search.prior(point) <= high]
    if not starts:
        prior = min(max((low + high) / 2, 0.001), 0.999)
        shift = offset_at(search.scores, prior, np.stack([search.weight, search.weight]))
        return Rescaling(scale=1.0, shift=shift, prior=prior, is_better=True)
    best = min(starts, key=search.error)
    refined = minimize(search.error, best, method="Nelder-Mead", options={"maxiter": 120, "xatol": 1e-3}).x
    if low <= search.prior(refined) <= high:
        best = refined
    gain = (search.error_as_it_is - search.error(best)) / max(search.error(best), 1e-12)
    return Rescaling(
        scale=float(np.exp(best[0])),
        shift=-float(np.exp(best[0]) * best[1]),
        prior=search.prior(best),
        is_better=gain * len(data) > _NOTICEABLE,
    )


def offset_at(scores: _Vector, prior: float, weight: _Vector | None = None) -> float:
    """Return the constant to add to scores so that the mean probability is a prior.

    >>> round(offset_at(np.array([-1.0, 3.0]), 0.5), 6)
    -1.0
    """
    ends = np.array([-scores.max(), -scores.min()]) + np.log(prior / (1 - prior)) + np.array([-1e-6, 1e-6])
    return float(brentq(lambda b: np.average(expit(scores + b), weights=weight) - prior, *ends))


@dataclass(frozen=True, eq=False)
class _Search:
    """Scores and differences of at most ``_MOST_PAIRS`` pairs; points are (log a, t) with b = -a t."""

    scores: _Vector
    c: _Vector
    weight: _Vector
    error_as_it_is: float

    @classmethod
    def of(cls, data: OutOfFold) -> "_Search":
        step = -(-len(data) // _MOST_PAIRS)
        rows = slice(None, None, step)
        p = data.probabilities[:, rows]
        weight = data.weight[rows] / data.weight[rows].sum()
        return cls(
            scores=data.scores[:, rows],
            c=data.c[rows],
            weight=weight,
            error_as_it_is=float(weight @ (p[1] - p[0] - data.c[rows]) ** 2),
        )

    def grid(self) -> list[_Vector]:
        """Return the points to start from: all scales, and thresholds in and beyond the range of the scores."""
        inner = np.quantile(self.scores, np.linspace(0, 1, 21))
        points = []
        for log_scale in _LOG_SCALES:
            beyond = _BEYOND / np.exp(log_scale)
            thresholds = np.concatenate([inner[0] - beyond, inner, inner[-1] + beyond])
            points += [np.array([log_scale, threshold]) for threshold in thresholds]
        return points

    def probabilities(self, point: _Vector) -> _Vector:
        p: _Vector = expit(np.exp(point[0]) * (self.scores - point[1]))
        return p

    def prior(self, point: _Vector) -> float:
        return float(self.weight @ self.probabilities(point).mean(axis=0))

    def error(self, point: _Vector) -> float:
        p = self.probabilities(point)
        penalty = max(self.error_as_it_is, LEAST_VARIANCE) * float(2 * point[0]) ** 2 / len(self.c)
        return float(self.weight @ (p[1] - p[0] - self.c) ** 2) + penalty
