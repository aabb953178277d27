"""Find the type of a column."""

from dataclasses import dataclass
from typing import Any

from pyarrow import compute

from confdiff.io.column_types.lattice import ColumnType, TextParsing
from confdiff.io.column_types.physical import as_arrow, is_floating, is_integer, is_text
from confdiff.io.column_types.text_cells import is_digits, is_number, trimmed, type_of_text
from confdiff.io.vectors import is_vectors


def type_of(column: Any, parse_text: TextParsing = "none") -> ColumnType:
    """Return the type of the values of a column.

    The type of a column is the :func:`~confdiff.io.column_types.lattice.join` of the types of its parts.

    Parameters
    ----------
    column : Arrow array, NumPy array, pandas series or list
        The column as written.
    parse_text : {"none", "times", "all"}
        Which cells of text may be other values: none in a data frame or Parquet file, ISO 8601 times in JSON, all in
        a text file.

    Examples
    --------
    >>> type_of(["1", "2.5", ""], "all"), type_of(["1", "2.5", ""]), type_of([1, None])
    ('number', 'text', 'integer')
    """
    array = as_arrow(column)
    if is_text(array):
        return type_of_text(array, parse_text)
    if is_floating(array):
        return "empty" if compute.all(compute.is_null(array, nan_is_null=True)).as_py() is not False else "number"
    if array.null_count == len(array):
        return "empty"
    if is_integer(array):
        return "integer"
    if is_vectors(array):
        return "vector"
    return _TYPE_OF_ARROW[str(array.type)]


_TYPE_OF_ARROW: dict[str, ColumnType] = {"bool": "flag", "timestamp[us]": "time", "duration[us]": "duration"}


@dataclass(frozen=True)
class NumberCount:
    """Count the numbers among the cells of a column, to find a column of numbers with a few cells of text.

    Attributes
    ----------
    cells
        Number of cells that are not missing.
    numbers
        Number of those that are numbers.
    first_other
        Row and text of the first cell that is neither a number nor digits (a postal code, a long id); None if all are.
    """

    cells: int = 0
    numbers: int = 0
    first_other: tuple[int, str] | None = None

    @classmethod
    def of(cls, column: Any, type: ColumnType = "text") -> "NumberCount":
        """Count the numbers of a column, whose type may be known; text is parsed.

        >>> NumberCount.of(["1", "x", "02"])
        NumberCount(cells=3, numbers=1, first_other=(1, 'x'))
        """
        array = as_arrow(column)
        present = len(array) - array.null_count
        if type in ("integer", "number") or is_integer(array) or is_floating(array):
            return cls(cells=present, numbers=present)
        if not is_text(array):
            return cls(cells=present)
        cells = trimmed(array)
        numbers = compute.fill_null(is_number(cells), False)
        other = compute.invert(compute.fill_null(compute.or_(numbers, is_digits(cells)), True))
        first = compute.index(other, True).as_py()
        return cls(
            cells=len(cells) - cells.null_count,
            numbers=compute.sum(numbers).as_py() or 0,
            first_other=None if first < 0 else (first, array[first].as_py()),
        )

    def then(self, following: "NumberCount", start: int) -> "NumberCount":
        """Return the count of a column of which ``following`` counts the part that begins with row ``start``."""
        other = self.first_other
        if other is None and following.first_other is not None:
            row, text = following.first_other
            other = (start + row, text)
        return NumberCount(
            cells=self.cells + following.cells,
            numbers=self.numbers + following.numbers,
            first_other=other,
        )
