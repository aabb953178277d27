"""What a check finds: how serious it is, where it stands, and what is done about it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.tabular.checks.graph import Rows
from confdiff.tabular.scales import Scale
from confdiff.tabular.tables import PairTable
from confdiff.tabular.values import is_missing

Severity = Literal["stop", "mind", "note"]
"""``stop``: `confdiff fit` would refuse. ``mind``: it goes on, but it matters. ``note``: good to know."""

Mask = NDArray[np.bool_]
LITTLE = 0.25  # of a scale: where no more of it is used, it may be another one
_DROP = "`fit` refuses: fill it in or drop the row."
FIRST = 5  # rows that a finding names


@dataclass(frozen=True)
class Finding:
    """One thing that was found.

    kind: a short name for programs. count: how many rows, pairs, items or annotators. rows: the first few row numbers.
    text: what was found. action: what `confdiff fit` does about it, or what to do.
    """

    kind: str
    severity: Severity
    count: int
    rows: tuple[int, ...]
    text: str
    action: str


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """What stops first, notes last; otherwise as they came."""
    return tuple(sorted(findings, key=lambda finding: get_args(Severity).index(finding.severity)))


def where(kind: str, severity: Severity, mask: Mask, text: str, action: str, what: str = "pair") -> list[Finding]:
    """A finding about the rows where the mask is true, if there are any; ``{}`` in the text is how many."""
    rows = np.flatnonzero(mask)
    if not len(rows):
        return []
    said = text.format(plural(len(rows), what))
    return [Finding(kind, severity, len(rows), tuple(rows[:FIRST].tolist()), said, action)]


def id_findings(pairs: PairTable, left: Rows, right: Rows) -> list[Finding]:
    """Ids that are missing or not among the items, and pairs of an item with itself; -1 is the row of no item."""
    missing = is_missing(pairs.left) | is_missing(pairs.right)
    sides = ((pairs.left, left), (pairs.right, right))
    unknown = [(rows < 0) & ~is_missing(ids) for ids, rows in sides]
    names = list(dict.fromkeys(str(name) for (ids, _), lost in zip(sides, unknown, strict=True) for name in ids[lost]))
    shown = ", ".join(map(repr, names[:3])) + (" ..." if len(names) > 3 else "")
    lost = f"{{}} with an id that is not among the items: {_literal(shown)} ({plural(len(names), 'such id')})."
    return [
        *where("missing-id", "stop", missing, "{} in which an id is missing.", _DROP),
        *where("unknown-id", "stop", unknown[0] | unknown[1], lost, "`fit` refuses: add the items, or drop the rows."),
        *where(
            "self-pair", "stop", (left == right) & (left >= 0), "{} of an item with itself.",
            "`fit` refuses: such a pair says nothing; drop the row.",
        ),
    ]  # fmt: skip


def _literal(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def number_findings(pairs: PairTable) -> list[Finding]:
    """Differences and weights that are no numbers that can be used."""
    c, weight = pairs.difference, np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    none = len(weight) * (not np.any(weight > 0))
    return [
        *where("missing-difference", "stop", np.isnan(c), "{} without a difference.", _DROP),
        *where("infinite-difference", "stop", np.isinf(c), "{} with an infinite difference.", _DROP),
        *where("missing-weight", "stop", ~np.isfinite(weight), "{} with a missing or infinite weight.", _DROP),
        *where(
            "negative-weight", "stop", weight < 0, "{} with a weight below 0.",
            "`fit` refuses: a weight of 0 leaves a pair out; turn the pair round if it should count the other way.",
        ),
        *where(
            "no-weight", "stop", np.arange(len(weight)) < none, "No weight is above 0 ({}).",
            "`fit` refuses: give at least some pairs a weight above 0.",
        ),
    ]  # fmt: skip


def scale_findings(
    c: NDArray[np.float64], scale: Scale | None, beyond: NDArray[np.bool_], given: bool
) -> list[Finding]:
    """A scale that cannot be told, values beyond it, and what a recognised one was taken for."""
    if scale is None:
        return [_unknown_scale(c)]
    found = where(
        "beyond-scale", "stop", beyond, f"{{}} with a difference beyond {scale.name}.",
        "`fit` refuses: correct the rows, or say the scale by --scale LOW,HIGH.",
    )  # fmt: skip
    if given or scale.is_plain:
        return found
    text = f"The differences are taken for {scale.name}: {mapping(scale)}."
    action = "`fit` does the same; if the scale is another one, say --scale LOW,HIGH."
    largest = float(np.abs(scale.differences(c[np.isfinite(c)])).max())
    if largest < LITTLE:
        text += f" Only {largest:.0%} of it is used, so it may be another one."
    return [*found, Finding("scale", "mind" if largest < LITTLE else "note", 1, (), text, action)]


def mapping(scale: Scale) -> str:
    """How judgements become differences, as a formula.

    >>> mapping(Scale(1, 7, "a 7-point scale from 1 to 7"))
    'c = (value - 4) / 3'
    """
    middle, reach = (scale.low + scale.high) / 2, (scale.high - scale.low) / 2
    moved = "value" if middle == 0 else f"(value {'-' if middle > 0 else '+'} {abs(middle):g})"
    return f"c = {moved}" + ("" if reach == 1 else f" / {reach:g}")


def _unknown_scale(c: NDArray[np.float64]) -> Finding:
    least, greatest = np.min(c[np.isfinite(c)]), np.max(c[np.isfinite(c)])
    row = int(np.nanargmax(np.where(np.isfinite(c), np.abs(c), -1)))
    text = (
        f"No known scale: the differences run from {least:g} to {greatest:g}; farthest out is {c[row]:g} in row {row}."
    )
    action = f"`fit` refuses: say --scale LOW,HIGH, such as --scale {least:g},{greatest:g} if these are its ends."
    return Finding("unknown-scale", "stop", 1, (row,), text, action)


def name_findings(pairs: PairTable) -> list[Finding]:
    """Pairs without a group or without an annotator, where there are such columns."""
    none = np.zeros(len(pairs), dtype=bool)
    group, annotator = (none if names is None else is_missing(names) for names in (pairs.group, pairs.annotator))
    empty = none if pairs.group is None else group & np.array([isinstance(name, str) for name in pairs.group.tolist()])
    refuse = "`fit` refuses: name a group for each pair, or call the column something else."
    aside = "`fit` does not mind; they are not in the table of annotators."
    return [
        *where("missing-group", "stop", group & ~empty, "{} without a group.", refuse),
        *where("empty-group", "note", empty, "{} with an empty group.", "`fit` takes them for one group."),
        *where("missing-annotator", "note", annotator, "{} without an annotator.", aside),
    ]
