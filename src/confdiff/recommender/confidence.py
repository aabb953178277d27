"""From strengths to confidences: how sure it is that a user likes an item, and whether that counts as liking."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.recommender.interactions import Interactions
from confdiff.validation import check_choice, check_number

CAP = 2.0  # watching ratios above this count as this, and as positive


@dataclass(frozen=True, eq=False)
class Graded:
    """Interactions with what is made of their strengths.

    confidence: (n,) in [0, 1], taken for p(positive | user, item). positive: (n,) what counts as a positive.
    """

    interactions: Interactions
    confidence: NDArray[np.float32]
    positive: NDArray[np.bool_]


def _watch_ratio(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(strength, CAP) / CAP


def _min_max(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = strength.min(), strength.max()
    if low == high:
        raise ValueError(f"all strengths are {low:g}: they tell nothing apart.")
    shares: NDArray[np.float64] = (strength - low) / (high - low)
    return shares


def _rank(strength: NDArray[np.float64]) -> NDArray[np.float64]:
    from scipy.stats import rankdata

    shares: NDArray[np.float64] = (rankdata(strength) - 0.5) / len(strength)
    return shares


CONFIDENCES: dict[str, tuple[Callable[[NDArray[np.float64]], NDArray[np.float64]], str]] = {
    "watch-ratio": (_watch_ratio, "min(ratio, 2) / 2; positive above a ratio of 2, as in the paper"),
    "min-max": (_min_max, "from 0 for the least strength to 1 for the greatest"),
    "rank": (_rank, "the share of interactions that are weaker"),
}
"""Name -> formula, and what it does."""


def grade_interactions(interactions: Interactions, kind: str = "watch-ratio", threshold: float | None = None) -> Graded:
    """Confidences and positives.

    kind: a name from :data:`CONFIDENCES`.
    threshold: strengths above it are positive; 2 for ``watch-ratio``, else where the confidence is 1/2.
    """
    formula, _ = CONFIDENCES[check_choice("confidence", kind, CONFIDENCES)]
    strength: NDArray[Any] = interactions.strength.astype(np.float64)
    if kind == "watch-ratio" and strength.min() < 0:
        raise ValueError(f"watching ratios are not negative; got {strength.min():g}. Choose min-max or rank.")
    confidence = formula(strength)
    if threshold is not None:
        positive = strength > check_number("threshold", threshold)
    else:
        positive = strength > CAP if kind == "watch-ratio" else confidence > 0.5
    return Graded(interactions, confidence.astype(np.float32), positive)
