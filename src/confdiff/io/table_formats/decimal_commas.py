"""Decimal commas: which columns of a text file have them, and their numbers with decimal points.

All cells of the file determine it, so that every command reads a file in the same way. ``1,5`` has a decimal comma, and
``1.234,5`` also a point between thousands. Numbers that can be read in two ways are an error.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_EXPONENT = r"([eE][+-]?[0-9]+)?"
_FORMS_WITH_COMMA = {
    "1,234": r"^[+-]?[1-9][0-9]{0,2},[0-9]{3}$",  # 1.234 or 1234
    "1,5": rf"^[+-]?[0-9]*,[0-9]+{_EXPONENT}$",
    "1.234,5": r"^[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+,[0-9]+$",
}
_FORMS_WITHOUT_COMMA = {
    "1.234": r"^[+-]?[1-9][0-9]{0,2}\.[0-9]{3}$",  # 1.234 or 1234
    "1.5": rf"^[+-]?[0-9]*\.[0-9]+{_EXPONENT}$",
    "integer": r"^[+-]?[0-9]+$",
}
"""An example of a form of numbers -> the pattern of the form. A number has the first form that matches."""

_STRAY = 0.1  # the largest fraction of text in a column of numbers

_NUMBER = r"^\s*[+-]?[0-9.,]+([eE][+-]?[0-9]+)?\s*$"


@dataclass
class _Column:
    """How often the cells of a column have each form, and the first cell of each."""

    forms: Counter[str] = field(default_factory=Counter)
    first: dict[str, str] = field(default_factory=dict)
    others: int = 0

    def add(self, cells: Any) -> None:
        from pyarrow import compute

        from confdiff.io.column_types.text_cells import trimmed

        cells = trimmed(cells).drop_null()
        has_comma = compute.match_substring(cells, ",")
        self._add(cells.filter(has_comma), _FORMS_WITH_COMMA)
        self._add(cells.filter(compute.invert(has_comma)), _FORMS_WITHOUT_COMMA)

    def _add(self, cells: Any, forms: Mapping[str, str]) -> None:
        from pyarrow import compute

        for form, pattern in forms.items():
            if not len(cells):
                return
            matches = compute.match_substring_regex(cells, pattern)
            count = compute.sum(matches).as_py()
            if count:
                self.forms[form] += count
                self.first.setdefault(form, cells.filter(matches)[0].as_py())
                cells = cells.filter(compute.invert(matches))
        self.others += len(cells)

    @property
    def holds_numbers(self) -> bool:
        """Return whether nearly all cells are numbers; the few others are found when the column gets its type."""
        numbers = self.forms.total()
        return numbers > 0 and self.others <= _STRAY * (numbers + self.others)

    def has(self, *forms: str) -> bool:
        return any(self.forms[form] for form in forms)


def find_decimal_commas(path: Path, batches: Iterable[Any], *, delimiter: str) -> set[str]:
    """Return the names of the columns with decimal commas.

    Parameters
    ----------
    path : Path
        The file, for messages.
    batches : iterable of pyarrow batches
        All of its columns as texts.
    delimiter : str
        The delimiter of the file. Programs write semicolons where the comma is the decimal sign, so that ``1,234`` is
        1.234 in such a file.

    Raises
    ------
    ValueError
        If the numbers of a column can be read in two ways.
    """
    columns: dict[str, _Column] = {}
    for batch in batches:
        for name in batch.schema.names:
            columns.setdefault(name, _Column()).add(batch.column(name))
    numeric = {name: column for name, column in columns.items() if column.holds_numbers}
    has_commas = _file_has_commas(numeric, delimiter)
    for name, column in numeric.items():
        first = _doubtful(column, has_commas)
        if first:
            raise ValueError(
                f"{path}, column {name!r}: {first!r} may be read in two ways, because the comma or the point may be "
                "a decimal sign or a separator of thousands. Write the numbers of the file without such separators."
            )
    return {name for name, column in numeric.items() if column.has("1,5", "1,234", "1.234,5")}


def _file_has_commas(columns: Mapping[str, _Column], delimiter: str) -> bool:
    """Return whether the comma is the decimal sign of a file."""
    if any(column.has("1,5", "1.234,5") for column in columns.values()):
        return True
    has_points = any(column.has("1.5") for column in columns.values())
    return delimiter == ";" and not has_points and any(column.has("1,234") for column in columns.values())


def _doubtful(column: _Column, has_commas: bool) -> str:
    """Return a cell that can be read in two ways, given the decimal sign of the file; empty if there is none."""
    if column.has("1,5", "1,234", "1.234,5") and column.has("1.5"):
        return column.first["1.5"]
    if column.has("1,234") and not has_commas:
        return column.first["1,234"]
    if column.has("1.234") and has_commas and not column.has("1.5", "1.234,5"):
        return column.first["1.234"]
    return ""


def with_decimal_points(column: Any) -> Any:
    """Return the numbers of a column with decimal points and without separators of thousands.

    >>> import pyarrow
    >>> with_decimal_points(pyarrow.array(["1,5", "+1.234,5", "n/a"])).to_pylist()
    ['1.5', '1234.5', 'n/a']
    """
    from pyarrow import compute

    numbers = compute.replace_substring(column, ".", "")
    numbers = compute.replace_substring(compute.replace_substring(numbers, ",", "."), "+", "", max_replacements=1)
    return compute.if_else(compute.match_substring_regex(column, _NUMBER), numbers, column)
