"""Write an Excel workbook row by row."""

import datetime
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.xlsx import import_openpyxl

_MOST_ROWS = 2**20 - 1  # below the header
_MOST_CHARACTERS = 32_767  # of a cell
_EXACT = 2**53  # numbers of a workbook are floats


class XlsxWriter:
    """A workbook with one sheet.

    Texts are written as texts, also those that begin like a formula.

    Parameters
    ----------
    names : sequence of str
        The names of the columns.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._workbook = import_openpyxl().Workbook(write_only=True)
        self._sheet = self._workbook.create_sheet("table")
        self._names = list(names)
        self._sheet.append([self._text(name, name) for name in names])
        self._count = 0

    def append(self, rows: Any) -> None:
        """Append the rows of a pyarrow table or batch."""
        self._count += rows.num_rows
        if self._count > _MOST_ROWS:
            raise ValueError(f"a sheet of .xlsx has at most {_MOST_ROWS:,} rows of data. Write .csv or .parquet.")
        columns = [column.to_pylist() for column in rows.columns]
        for row in zip(*columns, strict=True):
            self._sheet.append([self._cell(name, value) for name, value in zip(self._names, row, strict=True)])

    def save(self, path: Path) -> None:
        """Write the workbook to a file."""
        self._workbook.save(path)

    def discard(self) -> None:
        """End without writing a file."""
        self._sheet.close()

    def _cell(self, name: str, value: Any) -> Any:
        if isinstance(value, float) and not math.isfinite(value):
            return None if math.isnan(value) else self._text(name, str(value))
        if isinstance(value, int) and abs(value) > _EXACT:
            return self._text(name, str(value))
        if isinstance(value, datetime.datetime) and value.tzinfo is not None:
            return value.astimezone(datetime.UTC).replace(tzinfo=None)
        return self._text(name, value) if isinstance(value, str) else value

    def _text(self, name: str, text: str) -> Any:
        """Return a text as a cell, which is never taken for a formula or an error."""
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

        if len(text) > _MOST_CHARACTERS:
            raise ValueError(
                f"column {name!r}: a cell of .xlsx has at most {_MOST_CHARACTERS:,} characters; got {len(text):,}. "
                "Write .csv or .parquet."
            )
        if ILLEGAL_CHARACTERS_RE.search(text):
            raise ValueError(f"column {name!r}: .xlsx has no control characters; got {text!r:.60}. Write .csv.")
        if not text.startswith(("=", "#")):
            return text
        cell = WriteOnlyCell(self._sheet, text)
        cell.data_type = "s"
        return cell
