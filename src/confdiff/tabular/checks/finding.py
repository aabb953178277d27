"""A finding of a check: its severity, the affected rows, and a remedy."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.tabular.row_numbers import TableSource

Severity = Literal["error", "warning", "note"]
"""``error``: `fit` would stop. ``warning``: it would go on, but the result suffers. ``note``: for information."""

SHOWN_ROWS = 5
"""A finding lists at most this many rows."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One finding of a check.

    Attributes
    ----------
    kind : str
        Short name for programs, such as ``"unknown-id"``.
    severity : {"error", "warning", "note"}
        See :data:`Severity`.
    count : int
        Number of affected rows, pairs, items or annotators.
    rows : tuple of int
        The first few affected rows, numbered as a reader of the table numbers them; empty if it is about no rows.
    text : str
        The finding in words.
    action : str
        Reaction of `fit`, and possible actions of the user.
    table : {"pairs", "items"}
        Table that has the rows.
    """

    kind: str
    severity: Severity
    count: int
    rows: tuple[int, ...] = ()
    text: str
    action: str
    table: Literal["pairs", "items"] = "pairs"


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings with errors first and notes last, otherwise in their order."""
    return tuple(sorted(findings, key=lambda finding: get_args(Severity).index(finding.severity)))


def first_rows(source: TableSource, rows: NDArray[np.int64]) -> tuple[int, ...]:
    """Return the first few rows as a reader of the table numbers them."""
    return tuple(source.row(row) for row in rows[:SHOWN_ROWS].tolist())


def row_findings(
    kind: str,
    severity: Severity,
    mask: NDArray[np.bool_],
    *,
    source: TableSource,
    text: str,
    action: str,
    noun: Literal["pair", "item"] = "pair",
) -> list[Finding]:
    """Return one finding about the rows where a mask is true, or none if it is true nowhere.

    Parameters
    ----------
    kind, severity, action
        As in :class:`Finding`.
    mask : ndarray of bool, shape (n,)
        Rows of the table that are concerned.
    source : TableSource
        Table that has these rows.
    text : str
        Continuation of "3 pairs ...".
    noun : {"pair", "item"}, default="pair"
        Noun for a row of the table.

    Returns
    -------
    list of Finding
    """
    rows = np.flatnonzero(mask)
    if not len(rows):
        return []
    finding = Finding(
        kind=kind,
        severity=severity,
        count=len(rows),
        rows=first_rows(source, rows),
        text=f"{plural(len(rows), noun)} {text}",
        action=action,
        table="items" if noun == "item" else "pairs",
    )
    return [finding]
