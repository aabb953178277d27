"""Check groups, annotators and the items shown first: rows in which they are missing or cannot be used."""

import numpy as np

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings
from confdiff.tabular.values import is_missing


def group_findings(data: CheckData) -> list[Finding]:
    """Return findings about groups, annotators and the items shown first, if there are such columns."""
    return [*_missing_groups(data), *_missing_annotators(data), *_unknown_sides(data)]


def _missing_groups(data: CheckData) -> list[Finding]:
    group = data.pairs.group
    if group is None:
        return []
    missing = is_missing(group)
    empty = missing & np.array([isinstance(name, str) for name in group.tolist()])
    return [
        *row_findings(
            "missing-group",
            "error",
            missing & ~empty,
            source=data.pairs.source,
            text="without a group.",
            action="`fit` stops with an error: name a group for each pair, or rename the column.",
        ),
        *row_findings(
            "empty-group",
            "note",
            empty,
            source=data.pairs.source,
            text="with an empty group.",
            action="`fit` treats them as one group.",
        ),
    ]


def _missing_annotators(data: CheckData) -> list[Finding]:
    if data.pairs.annotator is None:
        return []
    return row_findings(
        "missing-annotator",
        "note",
        is_missing(data.pairs.annotator),
        source=data.pairs.source,
        text="without an annotator.",
        action="`fit` uses them; the table of annotators does not include them.",
    )


def _unknown_sides(data: CheckData) -> list[Finding]:
    if data.sides is None:
        return []
    _, is_invalid = data.sides
    return row_findings(
        "shown-first",
        "error",
        is_invalid,
        source=data.pairs.source,
        text="whose item shown first is neither an item of the pair nor `left` or `right`.",
        action="`fit` stops with an error: correct the cell, or leave it empty if that is not known.",
    )
