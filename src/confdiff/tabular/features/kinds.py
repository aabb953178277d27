"""Recognise what a column of items is: a number, a flag, a time, a category, a text, or nothing to learn from."""

import re
from typing import Any

import numpy as np

from confdiff.io.column_types.converting import canonical_text
from confdiff.io.column_types.deciding import NumberCount, type_of
from confdiff.io.column_types.lattice import ColumnType
from confdiff.tabular.row_numbers import TableSource
from confdiff.validation import warn_user

KINDS = ("number", "flag", "time", "category", "text", "vector", "ignore")
"""Kinds of columns that can be declared."""
ALL_KINDS = (*KINDS, "encoded")
"""Kinds of columns, with that of cells which a function turns into vectors."""

_KIND_OF_TYPE: dict[ColumnType, str] = {
    "integer": "number",
    "number": "number",
    "duration": "number",
    "flag": "flag",
    "time": "time",
    "vector": "vector",
}
_MAX_CATEGORIES = 50
_MIN_WORDS = 3  # of a text, on average
_LIST = re.compile(r"\s*\[\s*[-+.]?\d[-+.\dEe]*[,\s]+[-+.,\s\dEe]*\]\s*")  # [0.1, -2e-3] and, of NumPy, [0.1 2.]
_MOSTLY = 0.9  # fraction of the cells that are numbers, from which on the others are taken for mistakes


def kind_of(name: str, column: Any, type: ColumnType | None = None, source: TableSource | None = None) -> str:
    """Return the recognised kind of a column, one of :data:`KINDS`; warn if the column is ignored.

    Parameters
    ----------
    name : str
        The name of the column.
    column : array
        Its values.
    type : ColumnType, optional
        Its type; that of the values if not given.
    source : TableSource, optional
        The table, for messages.

    Raises
    ------
    ValueError
        If nearly all cells of a column of text are numbers; the message names the first that is not.

    Examples
    --------
    >>> kind_of("ward", np.array(["A", "B", "A"])), kind_of("age", np.array([30.5, np.nan]))
    ('category', 'number')
    """
    type = type or type_of(column)
    if type in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[type]
    if type == "empty":
        return _ignored(name, "it is empty", "category")
    numbers = NumberCount.of(column)
    check_not_numbers(name, numbers, source or TableSource("the items"))
    return _kind_of_text(name, column, numbers)


def _kind_of_text(name: str, column: Any, numbers: NumberCount) -> str:
    texts = canonical_text(column, "text")
    texts = texts[texts != ""]
    _check_no_lists(name, texts.tolist())
    n_distinct = len(set(texts.tolist()))
    words = np.mean([len(text.split()) for text in texts.tolist()]) if len(texts) else 0
    few = n_distinct <= _MAX_CATEGORIES
    if words >= _MIN_WORDS and not (few and len(texts) >= 5 * n_distinct):
        return "text"
    if few:
        return "category"
    if numbers.numbers == numbers.cells:
        return _ignored(name, f"its {n_distinct:,} values are numbers written as text", "number")
    return _ignored(name, f"its {n_distinct:,} values look like names, not like a category or a text", "category")


def _check_no_lists(name: str, texts: list[str]) -> None:
    """Check that texts are not lists of numbers, as data frames with vectors are written to CSV."""
    if texts and all(_LIST.fullmatch(text) for text in texts):
        raise ValueError(
            f"column {name!r} holds lists of numbers as text, such as {texts[0]!r:.40}. Write vectors as Parquet, JSON "
            f"lines or .npy, or leave the column out with ignore={name!r}."
        )


def check_not_numbers(name: str, numbers: NumberCount, source: TableSource) -> None:
    """Raise an error if nearly all cells of a column of text are numbers; it names the first that is not."""
    message = stray_text(name, numbers, source)
    if message is not None:
        raise ValueError(message)


def stray_text(name: str, numbers: NumberCount, source: TableSource) -> str | None:
    """Return a message about a cell of text in a column of numbers, or None.

    Digits that are no number, such as postal codes with a leading zero and long ids, are no mistake.

    >>> stray_text("age", NumberCount.of(["31"] * 19 + ["unknown"]), TableSource("the items"))[:80]
    "the items, column 'age', row 19: 95 % of the cells are numbers, but not 'unknown"
    """
    if numbers.first_other is None or numbers.numbers < _MOSTLY * numbers.cells:
        return None
    row, cell = numbers.first_other
    others = numbers.cells - numbers.numbers
    percent = int(100 * numbers.numbers / numbers.cells)
    more = f" ({others:,} such cells)" if others > 1 else ""
    return (
        f"{source.cell(name)(row)}: {percent} % of the cells are numbers, but not {cell!r:.60}{more}. Correct it, "
        "or leave the cell empty (NA, NaN and null are missing too). If the column holds names instead of numbers, "
        f"pass kinds={{{name!r}: 'category'}}, or ignore={name!r} to leave it out."
    )


def _ignored(name: str, reason: str, kind: str) -> str:
    warn_user(
        f"column {name!r} is ignored: {reason}. If it matters, pass its kind, such as kinds={{{name!r}: {kind!r}}}."
    )
    return "ignore"
