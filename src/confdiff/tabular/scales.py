"""The scales on which differences are judged, and their mapping to [-1, 1]."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Scale:
    """A scale of judgements from ``low`` to ``high``, whose middle means "no difference".

    Attributes
    ----------
    low, high
        The ends.
    name
        The scale in words.

    Examples
    --------
    >>> Scale(1, 7, "a 7-point scale from 1 to 7").differences([1, 4, 7])
    array([-1.,  0.,  1.])
    """

    low: float
    high: float
    name: str

    def differences(self, values: ArrayLike) -> NDArray[np.float64]:
        """Map judgements to differences in [-1, 1]."""
        middle = (self.low + self.high) / 2
        reach = (self.high - self.low) / 2
        return (np.asarray(values, dtype=np.float64) - middle) / reach

    @property
    def is_plain(self) -> bool:
        """Whether the judgements already are differences from -1 to 1."""
        return (self.low, self.high) == (-1, 1)


PLAIN_SCALE = Scale(-1, 1, "differences from -1 to 1")
_POINTS = (3, 5, 7, 9, 11)  # of common rating scales


def recognise_scale(values: ArrayLike) -> Scale | None:
    """Return the scale that judgements seem to be on, or None.

    Values within [-1, 1] are differences already. Integers from -k to k (k up to 10), or from 1 to an odd number up to
    11, are points of a scale. Values of both signs, some beyond 10 and none beyond 100, are per cent.

    Examples
    --------
    >>> recognise_scale([-3, 0, 2]).name
    'a 7-point scale from -3 to 3'
    >>> recognise_scale([-40, 12.5, 80]).name
    'per cent, from -100 to 100'
    >>> recognise_scale([0.2, 1.7]) is None
    True
    """
    c = np.asarray(values, dtype=np.float64)
    c = c[np.isfinite(c)]
    if not len(c) or np.abs(c).max() <= 1 + 1e-6:
        return PLAIN_SCALE
    least = c.min()
    greatest = c.max()
    reach = max(-least, greatest)
    integers = not np.any(c % 1)
    if integers and least < 0 and reach <= 10:
        k = int(reach)
        return Scale(-k, k, f"a {2 * k + 1}-point scale from {-k} to {k}")
    if integers and least >= 1 and greatest <= max(_POINTS):
        top = next(points for points in _POINTS if points >= greatest)
        return Scale(1, top, f"a {top}-point scale from 1 to {top}")
    if least < 0 and 10 < reach <= 100:
        return Scale(-100, 100, "per cent, from -100 to 100")
    return None


def parse_scale(scale: str | Sequence[float]) -> Scale:
    """Return a scale given by its two ends, as numbers or as text.

    >>> parse_scale("0,100")
    Scale(low=0.0, high=100.0, name='a scale from 0 to 100')
    >>> parse_scale((0, 100)) == parse_scale("0,100")
    True
    """
    ends = scale.split(",") if isinstance(scale, str) else scale
    try:
        low, high = (float(end) for end in ends)
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError
    except (TypeError, ValueError) as error:
        expected = "two numbers, the lower first, such as scale=(1, 7)"
        raise ValueError(f"a scale must be {expected}; got {scale!r}.") from error
    return Scale(low, high, f"a scale from {low:g} to {high:g}")
