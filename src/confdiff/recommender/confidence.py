"""Convert the strengths of interactions to confidences: the probability that a user likes an item."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.interactions import Interactions
from confdiff.recommender.columns import plain_name
from confdiff.validation import check_choice, check_number

_Floats = NDArray[np.float64]
_CAP = 2.0  # larger watch ratios are clipped to this value and count as positive


@dataclass(frozen=True, eq=False)
class Graded:
    """Interactions with confidences.

    Attributes
    ----------
    interactions : Interactions
        n interactions.
    confidence : ndarray, shape (n,)
        Confidences in [0, 1], used as p(positive | user, item).
    positive : ndarray of bool, shape (n,)
        Mask of the positive interactions.
    """

    interactions: Interactions
    confidence: NDArray[np.float32]
    positive: NDArray[np.bool_]


def _watch_ratio(strength: _Floats) -> _Floats:
    return np.minimum(strength, _CAP) / _CAP


def _min_max(strength: _Floats) -> _Floats:
    low = strength.min()
    high = strength.max()
    if low == high:
        raise ValueError(f"strengths must differ; got {low:g} in all interactions.")
    confidence: _Floats = (strength - low) / (high - low)
    return confidence


def _rank(strength: _Floats) -> _Floats:
    from scipy.stats import rankdata

    confidence: _Floats = (rankdata(strength) - 0.5) / len(strength)
    return confidence


_RATING_ENDS = ((1, 5), (0.5, 5), (0, 5), (1, 10), (0, 10), (-10, 10), (0, 100))


def _rating_ends(strength: _Floats) -> tuple[float, float] | None:
    """Return the ends of a common scale of ratings, of which the upper one occurs, or nearly occurs below 0.

    >>> _rating_ends(np.array([2.0, 4.5, 5.0])), _rating_ends(np.array([1.0, 2.0]))
    ((1, 5), None)
    """
    least = strength.min()
    greatest = strength.max()
    for low, high in _RATING_ENDS:
        nearly = 0.9 if low < 0 else 1.0  # ratings that a slider gives need not reach its ends
        if low <= least and nearly * high <= greatest <= high and (least < 0) == (low < 0):
            return low, high
    return None


def _rating(strength: _Floats) -> _Floats:
    ends = _rating_ends(strength)
    if ends is None:
        raise ValueError(
            "ratings must be on a scale from 1 to 5, 0 to 5, 1 to 10, 0 to 10, -10 to 10 or 0 to 100; got "
            f"{strength.min():g} to {strength.max():g}. Pass confidence='min-max' or confidence='rank'."
        )
    low, high = ends
    confidence: _Floats = (strength - low) / (high - low)
    return confidence


def _click(strength: _Floats) -> _Floats:
    if set(np.unique(strength).tolist()) != {0, 1}:
        raise ValueError(
            f"clicks must be 0 and 1, and both must occur; got {strength.min():g} to {strength.max():g}. Without items "
            "that a user saw and did not click there is nothing to compare."
        )
    return strength


_COUNT_NAMES = ("count", "plays", "playcount", "listencount", "listens", "views", "clicks", "purchases")
_RATING_NAMES = ("rating", "ratings", "score", "stars", "overall", "grade")


def recognise_confidence(strength: _Floats, name: str) -> str:
    """Return the formula of strengths, recognised by their values and by the name of their column.

    Parameters
    ----------
    strength : ndarray, shape (n,)
        Finite strengths.
    name : str
        The column.

    Returns
    -------
    str
        A name from :data:`CONFIDENCES`.

    Raises
    ------
    ValueError
        The strengths are not recognised.

    Examples
    --------
    >>> recognise_confidence(np.array([1.0, 3.5, 5.0]), "rating")
    'rating'
    """
    if strength.min() == strength.max():
        raise ValueError(
            f"the strengths in column {name!r} must differ; got {strength.min():g} in all interactions. Add items that "
            "a user saw and did not like."
        )
    column = plain_name(name)
    are_integers = not np.any(strength % 1)
    if "ratio" in column and strength.min() >= 0:
        return "watch-ratio"
    if set(np.unique(strength).tolist()) == {0, 1}:
        return "click"
    if are_integers and strength.min() >= 0 and column in _COUNT_NAMES:
        return "count"
    has_points = not np.any((2 * strength) % 1)
    if _rating_ends(strength) is not None and (column in _RATING_NAMES or has_points or strength.min() < 0):
        return "rating"
    raise ValueError(
        f"the strengths in column {name!r} are not recognised: they range from {strength.min():g} to "
        f"{strength.max():g}. Pass confidence='watch-ratio' for ratios of watched and whole time, "
        "confidence='rating' for ratings, confidence='count' for counts, confidence='min-max' if the smallest and the "
        "largest mean certainty, or confidence='rank'."
    )


CONFIDENCES: dict[str, tuple[Callable[[_Floats], _Floats], str]] = {
    "watch-ratio": (_watch_ratio, "min(ratio, 2) / 2; positive above a ratio of 2, as in the paper"),
    "min-max": (_min_max, "from 0 for the smallest strength to 1 for the largest"),
    "rank": (_rank, "the fraction of interactions that are weaker"),
    "rating": (_rating, "from 0 for the lowest rating of the scale to 1 for the highest"),
    "click": (_click, "0 or 1"),
    "count": (_rank, "the fraction of interactions that have a smaller count"),
}
"""Name -> formula, and its description."""


def grade_interactions(interactions: Interactions, kind: str = "watch-ratio", threshold: float | None = None) -> Graded:
    """Convert strengths to confidences, and mark the positive interactions.

    Parameters
    ----------
    interactions : Interactions
        n interactions.
    kind : str, default="watch-ratio"
        Name of a formula from :data:`CONFIDENCES`.
    threshold : float or None, default=None
        Strengths above it are positive. If None, a ratio of 2 for ``watch-ratio``, else a confidence of 1/2.

    Returns
    -------
    Graded
    """
    formula, _ = CONFIDENCES[check_choice("confidence", kind, CONFIDENCES)]
    strength: NDArray[Any] = interactions.strength.astype(np.float64)
    if kind == "watch-ratio" and strength.min() < 0:
        raise ValueError(
            f"watch ratios must be at least 0; got {strength.min():g}. Pass confidence='min-max' or confidence='rank'."
        )
    confidence = formula(strength)
    if threshold is not None:
        positive = strength > check_number("threshold", threshold)
    else:
        positive = strength > _CAP if kind == "watch-ratio" else confidence > 0.5
    return Graded(interactions=interactions, confidence=confidence.astype(np.float32), positive=positive)
