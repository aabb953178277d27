"""The columns of the scores of a file: what a model predicts under its link."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.links import class_probability, preference_probability
from confdiff.tabular.model.model import ComparisonModel

OUTPUT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "probability": ("probability", "positive"),
    "preference": ("score", "preferred", "rank"),
    "score": ("score", "rank"),
}
"""Link -> the columns after the ids. Models that make no decisions have ``rank`` instead of ``positive``."""


def has_ranks(model: ComparisonModel, threshold: float | None) -> bool:
    """Return whether the scores of a file have ranks: the link has no classes, or no decisions can be made."""
    return "rank" in OUTPUT_COLUMNS[model.link.name] or threshold is None


def output_columns(model: ComparisonModel, scores: NDArray[Any], *, threshold: float | None) -> dict[str, NDArray[Any]]:
    """Return the columns of :data:`OUTPUT_COLUMNS` for the scores of all items of a file, without the ranks.

    Parameters
    ----------
    model : ComparisonModel
        The model.
    scores : array of shape (m,)
        Scores of its classifier.
    threshold : float or None
        Probability from which an item is positive; None leaves the column ``positive`` out.
    """
    link = model.link.name
    if link == "probability":
        probabilities = class_probability(scores)
        columns = {"probability": probabilities}
        return columns if threshold is None else columns | {"positive": probabilities >= threshold}
    columns = {"score": model.in_units(scores).astype(np.float32)}
    if link == "preference":
        reference = model.classifier.reference_scores_
        columns["preferred"] = preference_probability(scores, reference).astype(np.float32)
    return columns


def ranks_of(scores: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each score: 1 for the highest; equal scores share the best of their ranks. Shape: (m,).

    >>> ranks_of(np.array([0.5, 2.0, 0.5, -1.0]))
    array([2, 1, 2, 4])
    """
    from scipy.stats import rankdata

    ranks: NDArray[np.int64] = rankdata(-scores, method="min").astype(np.int64)
    return ranks
