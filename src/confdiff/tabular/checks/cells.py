"""Check for cells that `fit` refuses when it reads a table: ids of items, and text instead of numbers."""

from confdiff.display.text import listed, plural
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, first_rows
from confdiff.tabular.faults import Fault

_MOST_VALUES = 3  # shown in one finding


def cell_findings(data: CheckData) -> list[Finding]:
    """Return one finding for each column with cells that cannot be used."""
    return [
        Finding(
            kind=fault.kind,
            severity="error",
            count=len(fault.rows),
            rows=first_rows(fault.source, fault.rows),
            text=_text(fault),
            action=_action(fault, data),
            table=fault.table,
        )
        for fault in data.faults
    ]


_ACTIONS = {
    "missing-item-id": "`fit` stops with an error: fill in the id or drop the row.",
    "repeated-id": "`fit` stops with an error: an id must name one item. Drop the repeated rows or rename them.",
    "not-numeric": "`fit` stops with an error: write numbers, or drop the rows.",
}
_JUDGE_BY_NUMBERS = "`fit` stops with an error: write numbers, such as -3 to 3 with 0 for equal, or drop the rows."


def _action(fault: Fault, data: CheckData) -> str:
    if fault.kind == "not-on-scale":
        return f"`fit` stops with an error: each must be {fault.expected}. Correct the cells or drop the rows."
    is_difference = fault.table == "pairs" and fault.column == data.pairs.names.get("difference")
    return f"{_JUDGE_BY_NUMBERS}{fault.expected}" if is_difference else _ACTIONS[fault.kind]


def _text(fault: Fault) -> str:
    count = plural(len(fault.rows), "item" if fault.table == "items" else "pair")
    values = listed((repr(value[:40]) for value in fault.values), most=_MOST_VALUES)
    if fault.kind == "missing-item-id":
        return f"{count} without an id in column {fault.column!r}."
    if fault.kind == "repeated-id":
        return f"{count} with an id in column {fault.column!r} that occurs in an earlier row: {values}."
    if fault.kind == "not-on-scale":
        return f"{count} with a value in column {fault.column!r} that cannot be read: {values}."
    return f"{count} with a value in column {fault.column!r} that is not a number: {values}."
