r"""Intervals of class priors: what differences leave open, and whether that is narrow enough for decisions.

Differences determine the posterior up to one constant: :math:`r(x) = d(x) + \pi`, where :math:`d` has mean 0 and is
learned by regression on the differences. As :math:`r` lies in [0, 1], the prior :math:`\pi` lies in
:math:`[-\min d,\ 1 - \max d]`. This is a single point if some items are certainly negative and others certainly
positive, and an interval otherwise, which only labels can narrow. With K classes each prior is at least
:math:`-\min d_k`, and the rest of 1 is not identified.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.validation import warn_user

WIDE = 0.2
"""Width above which a 95 % interval does not determine the prior."""

_TAIL = 0.01  # fraction of the items at either end, whose predictions may be wrong
_Vector = NDArray[np.float64]

Interval = tuple[float, float]
"""Lower and upper end."""

PriorInterval = Interval | tuple[Interval, ...]
"""Class priors that the data leave open: of the positive class, or of each of K classes."""


def identified_interval(
    probabilities: ArrayLike, *, weight: ArrayLike | None = None, tail: float = _TAIL
) -> tuple[float, float]:
    """Return the interval of priors that fit the differences of probabilities equally well.

    These are the means of all shifted copies of the probabilities that lie in [0, 1]. If the probabilities span all
    of [0, 1], the interval is one point, their mean.

    Parameters
    ----------
    probabilities : array-like of shape (m,)
        Predicted probabilities of the items.
    weight : array-like of shape (m,) or None
        Weights of the items.
    tail : float
        Fraction of the items that is left out at either end.

    Returns
    -------
    tuple of float
        Lower and upper end.

    Examples
    --------
    >>> identified_interval([0.2, 0.4, 0.6], tail=0)
    (0.2, 0.8)
    """
    p = np.asarray(probabilities, dtype=np.float64)
    w = np.ones_like(p) if weight is None else np.asarray(weight, dtype=np.float64)
    centre = np.average(p, weights=w)
    least, greatest = quantiles(p, w, tail, 1 - tail)
    low = centre - least
    high = centre + 1 - greatest
    if low > high:
        low = high = (low + high) / 2
    return float(np.round(low, 12).clip(0, 1)), float(np.round(high, 12).clip(0, 1))


def quantiles(values: _Vector, weight: _Vector, *fractions: float) -> list[float]:
    """Return the values below which each fraction of the weight lies."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    positions = np.searchsorted(total, np.array(fractions) * total[-1]).clip(max=len(values) - 1)
    return [float(value) for value in values[order][positions]]


def open_interval(
    predicted: ArrayLike, differences: ArrayLike, probabilities: ArrayLike, weight: ArrayLike | None = None
) -> tuple[Interval, ...]:
    """Return the intervals of the priors of K classes with which a model would fit the differences equally well.

    Parameters
    ----------
    predicted, differences : array-like of shape (n, K)
        Predicted and observed differences of held-out pairs. They scale the spread of the probabilities: a model that
        overfits noise predicts 0 or 1 for all items.
    probabilities : array-like of shape (m, K)
        Predicted probabilities of items, preferably held out.
    weight : array-like of shape (n,) or None
        Weights of the pairs.

    Returns
    -------
    tuple of K tuples (low, high)
        All have the same width.
    """
    p = np.asarray(probabilities, dtype=np.float64)
    c = np.asarray(differences, dtype=np.float64)
    c_hat = np.asarray(predicted, dtype=np.float64)
    w = np.ones(len(c)) if weight is None else np.asarray(weight, dtype=np.float64)
    spread = min(1.0, _least_slope(c_hat, c, w))
    lows = spread * np.array([column.mean() - np.quantile(column, _TAIL) for column in p.T])
    lows = lows / max(1.0, lows.sum())
    width = float(1 - lows.sum())
    return tuple((float(low), min(1.0, float(low) + width)) for low in lows)


def is_narrow(interval: PriorInterval) -> bool:
    """Return whether an interval of priors, or one for each of K classes, is narrow enough to determine the prior.

    >>> is_narrow((0.3, 0.35)), is_narrow(((0.3, 0.6), (0.4, 0.7)))
    (True, False)
    """
    return all(high - low <= WIDE for low, high in _ends_of(interval))


def check_prior_interval(interval: PriorInterval, n_classes: int | None) -> None:
    """Check an interval of priors, or one for each of ``n_classes`` classes."""
    ends = _ends_of(interval)
    if len(ends) != (n_classes or 1) or not all(0 <= low <= high <= 1 for low, high in ends):
        raise ValueError(f"prior_interval must be {n_classes or 1} intervals in [0, 1]; got {interval!r:.100}")


def _ends_of(interval: PriorInterval) -> tuple[Interval, ...]:
    """Return the intervals of all classes, or the one of the positive class."""
    return interval if isinstance(interval[0], tuple) else (interval,)


def warn_of_open_prior(interval: PriorInterval) -> None:
    """Warn that differences leave the priors of an interval open, in one sentence that says what to do.

    Parameters
    ----------
    interval : PriorInterval
        As :func:`open_interval` returns it.
    """
    low, high = _ends_of(interval)[0]
    if not isinstance(interval[0], tuple):
        warn_user(f"{not_identified(low, high)} Probabilities may be off by a constant.")
        return
    warn_user(
        f"the differences do not determine {high - low:.2f} of the class priors: some classes have no item that "
        "certainly does not belong to them. Pass prior=... if you know it. Probabilities may be off by a constant per "
        "class."
    )


def _least_slope(predicted: _Vector, differences: _Vector, weight: _Vector) -> float:
    """Return the lower 95 % limit of the slope by which predicted differences must be scaled to fit the observed."""
    w = np.repeat(weight, predicted.size // len(predicted))
    x = predicted.reshape(-1)
    y = differences.reshape(-1)
    total = float(w @ x**2)
    if total < 1e-12 or len(y) < 2:
        return 0.0
    slope = float(w @ (x * y)) / total
    error = math.sqrt(float(w**2 @ (x**2 * (y - slope * x) ** 2))) / total  # robust to errors of unequal variance
    return max(0.0, slope - 1.645 * error)


def not_identified(low: float, high: float) -> str:
    """Return the sentence that says which priors the differences leave open, and what to do."""
    return (
        f"the differences do not determine the class prior: any value from {low:.2f} to {high:.2f} fits, as no item "
        "is certain. Pass prior=... if you know it, or a few labelled items."
    )
