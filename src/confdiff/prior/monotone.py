r"""The class priors that held-out differences leave open: a profile of their error over the prior.

Let :math:`s` be the score of an item by a model that was not trained on the pair. The expected difference of a pair is
:math:`h(s') - h(s)` with :math:`h(s) = E[r | s] - \pi`, for any scores and any noise of mean 0. As :math:`E[r | s]`
lies in [0, 1], the prior lies in :math:`[-\min h,\ 1 - \max h]`. Scores that miss a part of :math:`r` widen this
interval and never make it wrong.

Here :math:`h` is a rising step function of the score. For each prior, the squared error of the held-out differences is
minimised under the bounds of that prior. The result is flat in the interval and rises outside; the 95 % interval holds
the priors whose error is not significantly higher.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar, nnls
from scipy.stats import norm

from confdiff.prior.out_of_fold import OutOfFold

_Vector = NDArray[np.float64]

_INNER = np.linspace(0.05, 0.95, 19)  # fractions of the items at which h may rise
_OUTER = (0.01, 0.025, 0.975, 0.99)
_FEWEST_ITEMS = 4  # below the first step and above the last
_END_ERROR = 0.05  # standard error of the mean of these items; noisy differences need more of them
_STEPS_OF_SEARCH = 14  # halvings: the ends are exact to 1e-4
_STIFFNESS = 1e3  # weight of the bounds, as a multiple of the size of the data


@dataclass(frozen=True, eq=False)
class MonotoneFit:
    """The rising step function that fits held-out differences best, and the error under the bounds of a prior.

    Attributes
    ----------
    knots : array of shape (k,)
        The scores at which it rises.
    above : array of shape (k,)
        The fraction of the items above each knot.
    rises : array of shape (k,)
        By how much it rises, without bounds.
    matrix, target : arrays of shape (k + 1, k) and (k + 1,)
        The least-squares problem in short form.
    variance : float
        The variance of a residual, with the design effect of shared items.
    """

    knots: _Vector
    above: _Vector
    rises: _Vector
    matrix: _Vector
    target: _Vector
    variance: float

    @property
    def low(self) -> float:
        """The least prior that the best fit allows."""
        return float(self.rises @ self.above)

    @property
    def high(self) -> float:
        """The greatest prior that the best fit allows; below ``low`` if the fit exceeds the range of probabilities."""
        return float(1 - self.rises @ (1 - self.above))

    def values(self, scores: _Vector) -> _Vector:
        """Return h of scores."""
        return (scores[..., None] > self.knots) @ self.rises - self.low

    def excess(self, prior: float) -> float:
        """Return the error at a prior, in units of the variance of a residual."""
        size = _STIFFNESS * np.sqrt(1 + (self.matrix**2).sum())
        count = len(self.rises)
        bounds = np.zeros((2, count + 2))
        bounds[0, :count] = self.above
        bounds[1, :count] = 1 - self.above
        bounds[:, count:] = np.eye(2)  # what is left of each bound
        matrix = np.vstack([np.pad(self.matrix, ((0, 0), (0, 2))), size * bounds])
        target = np.concatenate([self.target, size * np.array([prior, 1 - prior])])
        rises = nnls(matrix, target, maxiter=100 * count + 100)[0][:count]
        return float(((self.matrix @ rises - self.target) ** 2).sum() / self.variance)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return the priors whose error is not significantly above the least one.

        If the interval without errors is wide, the prior can be near one end only, and a one-sided limit suffices
        (Imbens and Manski 2004); if it is one point, the limit is two-sided.
        """
        low = self.low
        high = self.high
        if low > high:
            centre = minimize_scalar(self.excess, bounds=(max(0.0, high), min(1.0, low)), method="bounded").x
            low = high = float(centre)
        least = self.excess((low + high) / 2)
        two_sided = float(norm.ppf((1 + level) / 2))
        ends = self._ends(low, high, least + two_sided**2)
        error = max(low - ends[0], ends[1] - high) / two_sided
        if error == 0:
            return ends
        gap = (high - low) / error
        limit = brentq(lambda c: norm.cdf(c + gap) - norm.cdf(-c) - level, 0.0, two_sided + 1e-9)
        return self._ends(low, high, least + limit**2)

    def _ends(self, low: float, high: float, limit: float) -> tuple[float, float]:
        """Return the priors below and above an interval at which the error reaches a limit."""
        return self._end(low, 0.0, limit), self._end(high, 1.0, limit)

    def _end(self, inside: float, outside: float, limit: float) -> float:
        """Return the prior between two at which the error reaches the limit; ``outside`` if it never does."""
        if self.excess(outside) <= limit:
            return outside
        for _ in range(_STEPS_OF_SEARCH):
            middle = (inside + outside) / 2
            if self.excess(middle) <= limit:
                inside = middle
            else:
                outside = middle
        return (inside + outside) / 2


def fit_monotone(data: OutOfFold) -> MonotoneFit:
    """Fit a rising step function of the scores to held-out differences.

    It is fitted twice: the noise decides how many items the first and the last step need.
    """
    first = _fit(data, _FEWEST_ITEMS)
    needed = first.variance / _END_ERROR**2
    return first if needed <= _FEWEST_ITEMS else _fit(data, needed)


def _fit(data: OutOfFold, least_items: float) -> MonotoneFit:
    """Fit a function with at least some items below its first step and above its last."""
    scores = data.scores
    knots = _knots(scores, data.item_weight, least_items / scores.size)
    is_above = (scores[..., None] > knots).astype(np.float64)
    steps = is_above[1] - is_above[0]
    problem = np.column_stack([steps, data.c]) * np.sqrt(data.weight)[:, None]
    padding = np.zeros((len(knots) + 1, len(knots) + 1))
    short = np.asarray(np.linalg.qr(np.vstack([problem, padding]), mode="r"))
    matrix = short[:, :-1]
    target = short[:, -1]
    rises = nnls(matrix, target, maxiter=100 * len(knots) + 100)[0]
    return MonotoneFit(
        knots=knots,
        above=np.average(is_above.mean(axis=0), axis=0, weights=data.weight),
        rises=rises,
        matrix=matrix,
        target=target,
        variance=_variance(data, data.c - steps @ rises, int(np.count_nonzero(rises))),
    )


def _knots(scores: _Vector, weight: _Vector, least: float) -> _Vector:
    """Return the scores at which the function may rise, with a least fraction of the items at either end."""
    fractions = np.sort(np.concatenate([_INNER, _OUTER]))
    fractions = fractions[np.minimum(fractions, 1 - fractions) >= min(least, 0.49)]
    order = np.argsort(scores.reshape(-1), kind="stable")
    total = np.cumsum(weight.reshape(-1)[order])
    positions = np.searchsorted(total, fractions * total[-1]).clip(max=scores.size - 1)
    knots: _Vector = np.unique(scores.reshape(-1)[order][positions])
    return knots


def _variance(data: OutOfFold, residual: _Vector, n_rises: int) -> float:
    """Return the variance of a residual of weight 1, above 0."""
    weight = data.weight
    freedom = len(data) / max(1, len(data) - n_rises)
    variance = float((weight * residual) @ (weight * residual) / weight.sum()) * freedom
    return max(variance * data.design_effect(residual), 1e-12)
