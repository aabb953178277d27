"""Check the numbers of pairs: differences and weights that are missing, infinite, negative or all zero."""

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.validation import check_weight

_FILL_IN = "`fit` stops with an error: fill in the value or drop the row."


def value_findings(data: CheckData) -> list[Finding]:
    """Return findings about differences and weights that cannot be used."""
    source = data.pairs.source
    difference = data.pairs.difference
    return [
        *row_findings(
            "missing-difference",
            "error",
            np.isnan(difference) & ~_answered(data) & ~data.is_faulty("difference") & ~data.is_faulty("same"),
            source=source,
            text="without a difference." if data.pairs.same is None else "without a difference or an answer.",
            action=_FILL_IN,
        ),
        *row_findings(
            "infinite-difference",
            "error",
            np.isinf(difference),
            source=source,
            text="with an infinite difference.",
            action=_FILL_IN,
        ),
        *_weight_findings(data),
    ]


def _answered(data: CheckData) -> NDArray[np.bool_]:
    """Return for each pair whether it has a same-class answer."""
    same = data.pairs.same
    return np.zeros(len(data.pairs), dtype=bool) if same is None else ~np.isnan(same)


def _weight_findings(data: CheckData) -> list[Finding]:
    source = data.pairs.source
    weight = data.pairs.weight
    if weight is None:
        return []
    none_positive = np.full(len(weight), not np.any(weight > 0))
    return [
        *row_findings(
            "missing-weight",
            "error",
            ~np.isfinite(weight) & ~data.is_faulty("weight"),
            source=source,
            text="with a missing or infinite weight.",
            action=_FILL_IN,
        ),
        *_unequal_weights(weight),
        *row_findings(
            "negative-weight",
            "error",
            weight < 0,
            source=source,
            text="with a negative weight.",
            action="`fit` stops with an error: use a weight of 0 to leave a pair out. To reverse a judgement, change "
            "the sign of its difference.",
        ),
        *row_findings(
            "no-weight",
            "error",
            none_positive,
            source=source,
            text="without a positive weight among them.",
            action="`fit` stops with an error: give at least some pairs a weight above 0.",
        ),
    ]


def _unequal_weights(weight: NDArray[np.float64]) -> list[Finding]:
    """Return a finding if some weights are so small that they would count as 0."""
    valid = weight[np.isfinite(weight) & (weight >= 0)]
    if not valid.any():
        return []
    try:
        check_weight(valid, len(valid))
    except ValueError as error:
        text = str(error)
        return [
            Finding(
                kind="unequal-weights",
                severity="error",
                count=1,
                text=text[:1].upper() + text[1:],
                action="`fit` stops with an error: correct the weights.",
            )
        ]
    return []
