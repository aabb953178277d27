"""The table of the formats of table files."""

from pathlib import Path

from confdiff.io.table_formats.delimited import CSV, CSV_GZ, TSV, TSV_GZ
from confdiff.io.table_formats.json_array import JSON_ARRAY
from confdiff.io.table_formats.json_lines import JSON_LINES
from confdiff.io.table_formats.npy import NPY
from confdiff.io.table_formats.parquet import PARQUET
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.io.table_formats.xlsx import XLSX

_FORMATS: tuple[TableFormat, ...] = (
    PARQUET,
    CSV,
    CSV_GZ,
    TSV,
    TSV_GZ,
    JSON_LINES,
    JSON_ARRAY,
    XLSX,
)

TABLE_FORMATS = {table_format.ending: table_format for table_format in _FORMATS}
"""Ending of a file name -> its format, which can be read and written."""

READ_FORMATS = TABLE_FORMATS | {NPY.ending: NPY}
"""Ending of a file name -> its format, which can be read."""


def find_table_format(path: Path) -> TableFormat:
    """Return the format that the ending of a path names.

    >>> find_table_format(Path("Pairs.CSV")).row_note
    'the header is row 1'

    Raises
    ------
    ValueError
        If the ending names no format of tables.
    """
    table_format = table_format_of(path)
    if table_format is None:
        raise ValueError(f"the name of a table must end in {', '.join(READ_FORMATS)}; got {path.name!r}.")
    return table_format


def table_format_of(path: Path) -> TableFormat | None:
    """Return the format that the ending of a path names, or None."""
    name = path.name.lower()
    return next((READ_FORMATS[ending] for ending in READ_FORMATS if name.endswith(ending)), None)
