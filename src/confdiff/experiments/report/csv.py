"""Tables for programs: their columns, and how they are rendered as CSV."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from confdiff.experiments.report.blocks import CsvFile
from confdiff.experiments.report.numbers import digits
from confdiff.io.table_formats.formulas import escape_text

CsvColumns = Mapping[str, Callable[[Any], object]]
"""Name of a column -> its value for a row."""

TRIAL_COLUMNS: CsvColumns = {
    "trials": attrgetter("trials.n"),
    "mean": lambda row: digits(row.trials.mean),
    "std": lambda row: digits(row.trials.std),
    "low": lambda row: digits(row.trials.interval and row.trials.interval[0]),
    "high": lambda row: digits(row.trials.interval and row.trials.interval[1]),
}
"""The columns of any row with an attribute ``trials``; low and high are the ends of the 95 % interval of the mean."""


def attributes(*names: str) -> CsvColumns:
    """Return columns with attributes of a row, each under its own name."""
    return {name: attrgetter(name) for name in names}


def csv_file(name: str, columns: CsvColumns, rows: Iterable[Any]) -> CsvFile:
    """Return a table for programs.

    Parameters
    ----------
    name : str
        Name of the file without its ending.
    columns : mapping
        Name of a column -> its value for a row.
    rows : iterable
        What the rows are made from.

    Examples
    --------
    >>> csv_file("numbers", {**attributes("real"), "square": lambda number: number**2}, [2, 3])
    CsvFile(name='numbers', header=['real', 'square'], rows=[[2, 4], [3, 9]])
    """
    return CsvFile(name, list(columns), [[value(row) for value in columns.values()] for row in rows])


def as_csv(file: CsvFile, *, escape: bool = True) -> str:
    r"""Return a table as CSV, None as an empty field. ``escape`` is that of ``confdiff.io.tables.write_table``.

    >>> as_csv(CsvFile("numbers", ["method", "prior", "std"], [["confdiff-abs", 0.5, None]]))
    'method,prior,std\nconfdiff-abs,0.5,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (file.header, *file.rows):
        writer.writerow([escape_text(cell) if escape and isinstance(cell, str) else cell for cell in row])
    return text.getvalue()
