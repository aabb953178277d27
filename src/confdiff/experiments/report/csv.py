"""Render tables for programs as CSV."""

import csv
import io

from confdiff.experiments.report.blocks import CsvFile


def as_csv(file: CsvFile) -> str:
    r"""Return a table as CSV, None as an empty field.

    >>> as_csv(CsvFile("numbers", ["method", "prior", "std"], [["confdiff-abs", 0.5, None]]))
    'method,prior,std\nconfdiff-abs,0.5,\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(file.header)
    writer.writerows(file.rows)
    return text.getvalue()
