"""Read tables with overlapping or unequal classes: Adult, Spambase, Wine Quality and an extract of Framingham.

None of them is in the paper. Their rows come in one order, sorted by their entries, which does not depend on the copy.
Each has an own form, a table with a header, and all but Framingham the form of the UCI repository.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.dataset import Dataset
from confdiff.datasets.sources import Form, LocatedFiles, SourceFile, damaged_source, md5_of_bytes

_Table = NDArray[np.float64]
_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"

INCOMES = ("<=50K", ">50K")
MAILS = ("no spam", "spam")
QUALITIES = ("3", "4", "5", "6", "7", "8", "9")
OUTCOMES = ("survived", "died")
GOOD_WINES = tuple(QUALITIES.index(quality) for quality in "6789")
_ADULT_COLUMNS = (
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
)
_ADULT_NUMBERS = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
_ADULT_MD5 = "2d15a0db128bb806b7010e0573ff56a4"
_SPAMBASE_MD5 = "6206568a8173e3ae8125cab98f651d9a"
_WINE_MD5 = "e067a72e0a4104dd7ec577a31f3bb506"
_FRAMINGHAM_MD5 = "9fcbae1dad7f7d51d9e79956dedb47c3"


def _read_adult(files: LocatedFiles, *, has_header: bool) -> Dataset:
    """Read numbers as they are and categories one-hot; a missing value ("?") is a category of its own."""
    ((source, path),) = files
    cells = [[cell.strip() for cell in row] for row in _rows(source, path, ",") if row]
    header = cells[0] if has_header else list(_ADULT_COLUMNS)
    position = [header.index(name) for name in _ADULT_COLUMNS]
    rows = sorted([row[place] for place in position] for row in cells[int(has_header) :])
    _check(path, "\n".join(map(",".join, rows)).encode(), _ADULT_MD5, "Adult")
    columns = dict(zip(_ADULT_COLUMNS, zip(*rows, strict=True), strict=True))
    incomes = columns.pop("income")
    return Dataset(
        name="adult",
        items=np.concatenate([_encoded(name, values) for name, values in columns.items()], axis=1),
        classes=np.array([INCOMES.index(income) for income in incomes], dtype=np.uint8),
        class_names=INCOMES,
        positive=(1,),
    )


def _encoded(name: str, values: Sequence[str]) -> NDArray[np.float32]:
    """Return a column of numbers as it is, (N, 1), and a column of categories one-hot, (N, K)."""
    if name in _ADULT_NUMBERS:
        return np.array(values, dtype=np.float32)[:, None]
    one_hot: NDArray[np.float32] = (np.array(values)[:, None] == np.unique(values)).astype(np.float32)
    return one_hot


def _read_spambase(files: LocatedFiles, *, has_header: bool) -> Dataset:
    ((source, path),) = files
    table = _sorted(_numbers(source, path, ",", has_header))
    _check(path, table.tobytes(), _SPAMBASE_MD5, "Spambase")
    return _dataset("spambase", table[:, :-1], table[:, -1], MAILS, (1,))


def _read_wine(files: LocatedFiles, *, delimiter: str) -> Dataset:
    """Read red and white wines, with a column for the colour (1 is white), without wines that occur twice."""
    tables = [_numbers(source, path, delimiter, has_header=True) for source, path in files]
    coloured = [np.insert(table, 0, colour, axis=1) for colour, table in enumerate(tables)]
    table = np.unique(np.concatenate(coloured), axis=0)
    _check(files[0][1].parent, table.tobytes(), _WINE_MD5, "Wine Quality")
    return _dataset("wine", table[:, :-1], table[:, -1] - int(QUALITIES[0]), QUALITIES, GOOD_WINES)


def _read_framingham(files: LocatedFiles) -> Dataset:
    """Read the measures as published, in which -9 is a value that was not taken."""
    ((source, path),) = files
    table = _sorted(_numbers(source, path, ",", has_header=True))
    _check(path, table.tobytes(), _FRAMINGHAM_MD5, "the extract of Framingham")
    return _dataset("framingham", table[:, :-1], table[:, -1], OUTCOMES, (1,))


def _dataset(
    name: str, items: _Table, classes: _Table, class_names: tuple[str, ...], positive: tuple[int, ...]
) -> Dataset:
    return Dataset(
        name=name,
        items=np.ascontiguousarray(items, dtype=np.float32),
        classes=classes.astype(np.uint8),
        class_names=class_names,
        positive=positive,
    )


def _rows(source: SourceFile, path: Path, delimiter: str) -> Iterable[list[str]]:
    text = source.read(path).decode("utf-8")
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)


def _numbers(source: SourceFile, path: Path, delimiter: str, has_header: bool) -> _Table:
    rows = [row for row in _rows(source, path, delimiter) if row]
    return np.array(rows[int(has_header) :], dtype="<f8")


def _sorted(table: _Table) -> _Table:
    return table[np.lexsort(table.T[::-1])]


def _check(path: Path, contents: bytes, md5: str, title: str) -> None:
    if md5_of_bytes(contents) != md5:
        raise damaged_source(path, f"its rows are not those of {title}")


def _own(name: str) -> SourceFile:
    return SourceFile(name, ("tabular", ""), None, "")


def _uci(name: str, *folders: str) -> SourceFile:
    return SourceFile(name, (*folders, ""), None, f"{_UCI}/{folders[0]}/{name}")


ADULT = (
    Form((_own("adult.csv"),), partial(_read_adult, has_header=True)),
    Form((_uci("adult.data", "adult"),), partial(_read_adult, has_header=False)),
)
SPAMBASE = (
    Form((_own("spambase.csv"),), partial(_read_spambase, has_header=True)),
    Form((_uci("spambase.data", "spambase"),), partial(_read_spambase, has_header=False)),
)
WINE = (
    Form((_own("wine-red.csv"), _own("wine-white.csv")), partial(_read_wine, delimiter=",")),
    Form(
        (
            _uci("winequality-red.csv", "wine-quality", "wine+quality"),
            _uci("winequality-white.csv", "wine-quality", "wine+quality"),
        ),
        partial(_read_wine, delimiter=";"),
    ),
)
FRAMINGHAM = (Form((_own("framingham.csv"),), _read_framingham),)
