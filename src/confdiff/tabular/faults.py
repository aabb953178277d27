"""Cells of tables that `fit` refuses: collected by a check, which then goes on without them."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.values import as_floats, is_missing

_Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Fault:
    """Rows of a table with a cell that cannot be used.

    Attributes
    ----------
    kind : {"missing-item-id", "repeated-id", "not-numeric", "not-on-scale"}
        The fault.
    source : TableSource
        The table.
    table : {"items", "pairs"}
        Which table that is.
    column : str
        The column of the cells.
    rows : ndarray of int
        Rows, counted from 0.
    values : tuple of str
        The distinct cells, as text.
    expected : str
        What the cells should be, or the remedy; empty if the kind of the fault says it.
    """

    kind: Literal["missing-item-id", "repeated-id", "not-numeric", "not-on-scale"]
    source: TableSource
    table: Literal["items", "pairs"]
    column: str
    rows: _Rows
    values: tuple[str, ...] = ()
    expected: str = ""


def usable_ids(source: TableSource, column: str, ids: NDArray[Any], faults: list[Fault]) -> NDArray[Any]:
    """Return unique ids; those that are missing or repeated are added to ``faults`` and replaced by ids of no pair.

    >>> faults = []
    >>> usable_ids(TableSource("the items"), "id", np.array(["a", "b", "a"], dtype=object), faults).tolist()[:2]
    ['a', 'b']
    >>> faults[0].kind, faults[0].rows.tolist()
    ('repeated-id', [2])
    """
    missing = is_missing(ids)
    text = np.array([str(value) for value in ids.tolist()], dtype=object)
    first = np.zeros(len(ids), dtype=bool)
    first[np.unique(text, return_index=True)[1]] = True
    repeated = ~first & ~missing
    if not (missing | repeated).any():
        return ids
    if missing.any():
        rows = np.flatnonzero(missing)
        faults.append(Fault(kind="missing-item-id", source=source, table="items", column=column, rows=rows))
    if repeated.any():
        rows = np.flatnonzero(repeated)
        values = _distinct(text[rows])
        faults.append(Fault(kind="repeated-id", source=source, table="items", column=column, rows=rows, values=values))
    for row in np.flatnonzero(missing | repeated).tolist():
        text[row] = f"\0{row}"
    return text


def usable_floats(
    source: TableSource, column: str, values: Any, faults: list[Fault], hint: str = ""
) -> NDArray[np.float64]:
    """Return a numeric column as floats; cells that are not numbers are added to ``faults`` and become NaN.

    A hint is added to the remedy of the fault.

    >>> faults = []
    >>> usable_floats(TableSource("the pairs"), "grade", np.array(["2", "much", None], dtype=object), faults)
    array([ 2., nan, nan])
    >>> faults[0].values
    ('much',)
    """
    try:
        return as_floats(source, column, values)
    except ValueError:
        cells = list(np.asarray(values).tolist())
    numbers = np.array([_number(cell) for cell in cells], dtype=np.float64)
    present = ~is_missing(np.array([*cells, None], dtype=object)[:-1])
    rows = np.flatnonzero(np.isnan(numbers) & present)
    distinct = _distinct([str(cells[row]) for row in rows.tolist()])
    faults.append(
        Fault(
            kind="not-numeric",
            source=source,
            table="pairs",
            column=column,
            rows=rows,
            values=distinct,
            expected=hint,
        )
    )
    return numbers


def _number(cell: Any) -> float:
    """Return a cell as a number, or NaN; truth values are not numbers."""
    if cell is None or isinstance(cell, bool):
        return np.nan
    try:
        return float(cell)
    except (TypeError, ValueError):
        return np.nan


def _distinct(values: Any) -> tuple[str, ...]:
    return tuple(dict.fromkeys(str(value) for value in values))
