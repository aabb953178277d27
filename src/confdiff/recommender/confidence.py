"""Convert the strengths of interactions to confidences: the probability that a user likes an item."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.interactions import Interactions
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


CONFIDENCES: dict[str, tuple[Callable[[_Floats], _Floats], str]] = {
    "watch-ratio": (_watch_ratio, "min(ratio, 2) / 2; positive above a ratio of 2, as in the paper"),
    "min-max": (_min_max, "from 0 for the smallest strength to 1 for the largest"),
    "rank": (_rank, "the fraction of interactions that are weaker"),
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
