"""The scale on which differences were judged, and what it is on the scale from -1 to 1."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Scale:
    """Judgements from ``low`` to ``high``, the middle meaning "no difference".

    >>> Scale(1, 7, "a 7-point scale from 1 to 7").differences([1, 4, 7])
    array([-1.,  0.,  1.])
    """

    low: float
    high: float
    name: str

    def differences(self, values: ArrayLike) -> NDArray[np.float64]:
        """The judgements as differences in [-1, 1]."""
        middle, reach = (self.low + self.high) / 2, (self.high - self.low) / 2
        return (np.asarray(values, dtype=np.float64) - middle) / reach

    @property
    def is_plain(self) -> bool:
        """Whether the judgements are differences from -1 to 1 already."""
        return (self.low, self.high) == (-1, 1)


PLAIN = Scale(-1, 1, "differences from -1 to 1")
_POINTS = (3, 5, 7, 9, 11)  # of the scales that people are given


def recognise_scale(values: ArrayLike) -> Scale | None:
    """The scale that judgements seem to be on; None where it cannot be told.

    Within [-1, 1] they are taken as they are. Whole numbers from -k to k, k up to 10, or from 1 to an odd number up to
    11 are points of a scale. Numbers of either sign, some beyond 10 and none beyond 100, are per cent.

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
        return PLAIN
    least, greatest, whole = c.min(), c.max(), not np.any(c % 1)
    if whole and least < 0 and max(-least, greatest) <= 10:
        reach = int(max(-least, greatest))
        return Scale(-reach, reach, f"a {2 * reach + 1}-point scale from {-reach} to {reach}")
    if whole and least >= 1 and greatest <= max(_POINTS):
        top = next(points for points in _POINTS if points >= greatest)
        return Scale(1, top, f"a {top}-point scale from 1 to {top}")
    if least < 0 and 10 < max(-least, greatest) <= 100:
        return Scale(-100, 100, "per cent, from -100 to 100")
    return None


def parse_scale(scale: str | Sequence[float]) -> Scale:
    """Return a scale that is given by its two ends, as numbers or as text.

    >>> parse_scale("0,100")
    Scale(low=0.0, high=100.0, name='a scale from 0 to 100')
    >>> parse_scale((0, 100)) == parse_scale("0,100")
    True
    """
    parts = scale.split(",") if isinstance(scale, str) else scale
    try:
        low, high = (float(part) for part in parts)
        if not (np.isfinite([low, high]).all() and low < high):
            raise ValueError
    except (TypeError, ValueError) as error:
        raise ValueError(f"a scale must be given as LOW,HIGH, such as 1,7; got {scale!r}.") from error
    return Scale(low, high, f"a scale from {low:g} to {high:g}")
