"""Name tables in messages, and number their rows as a reader sees them."""

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from confdiff.io.table_formats.parquet import PARQUET
from confdiff.io.table_formats.registry import table_format_of


@dataclass(frozen=True)
class TableSource:
    """The source of a table: its name and the numbering of its rows in messages.

    Rows of a file are numbered as an editor shows them, rows of a data frame from 0.

    Attributes
    ----------
    name
        The path of a file, or ``"the items"`` and the like.
    first_row
        The number of the first row of data.
    note
        Note on the numbering of rows, if it may be unclear.

    Examples
    --------
    >>> TableSource("the pairs").at(5)
    'row 5'
    >>> TableSource.of_file("pairs.csv").at(5)
    'row 7 (the header is row 1)'
    """

    name: str
    first_row: int = 0
    note: str = ""

    @classmethod
    def of_file(cls, path: str | PathLike[str], start: int = 0) -> "TableSource":
        """Return the source of a file, or of the part of it that begins with row ``start`` of the data."""
        # A path without the ending of a table is a folder of Parquet files.
        table_format = table_format_of(Path(path)) or PARQUET
        return cls(name=str(path), first_row=table_format.first_row + start, note=table_format.row_note)

    def __str__(self) -> str:
        return self.name

    def row(self, index: int) -> int:
        """Return the number that the row at ``index`` (from 0) has for a reader."""
        return int(index) + self.first_row

    def at(self, index: int) -> str:
        """Return the number of a row in words, with the note on numbering."""
        return f"row {self.row(index)}{self._note()}"

    def column(self, name: str) -> str:
        """Return a column in words, for a message that numbers its rows."""
        return f"{self.name}, column {name!r}{self._note()},"

    def cell(self, name: str) -> Callable[[int], str]:
        """Return a function that describes the cell of a column at an index, for messages."""
        return lambda index: f"{self.name}, column {name!r}, {self.at(index)}"

    def _note(self) -> str:
        return f" ({self.note})" if self.note else ""
