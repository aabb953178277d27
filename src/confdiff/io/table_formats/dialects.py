"""The dialect of a delimited text file, which its first rows determine: the same file always has the same dialect."""

import csv
import io
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab"}
_SEPARATOR_LINE = re.compile(r'"?sep=(?P<delimiter>[,;\t|])"?\r?\n', re.IGNORECASE)
_ROWS = 100

START = 1 << 18
"""The number of characters at the beginning of a file that determine its dialect."""


@dataclass(frozen=True)
class Dialect:
    """How a file separates its cells.

    Attributes
    ----------
    delimiter
        The character between cells.
    lines_before_header
        The number of lines before the header: Excel writes ``sep=;`` there.
    """

    delimiter: str
    lines_before_header: int = 0

    @property
    def may_have_decimal_commas(self) -> bool:
        """Return whether commas may be decimal signs, because they do not separate cells."""
        return self.delimiter != ","


def find_dialect(path: Path, start: str, delimiter: str | None) -> Dialect:
    r"""Return the dialect of a file.

    A header with delimiters of one kind determines it. If a header contains several kinds, the delimiter is the one
    that divides the first rows into equally many cells.

    Parameters
    ----------
    path : Path
        The file, for messages.
    start : str
        The first :data:`START` characters of the file.
    delimiter : str or None
        The delimiter, if the format of the file determines it.

    Raises
    ------
    ValueError
        If the rows can be read in two ways.

    Examples
    --------
    >>> find_dialect(Path("items.csv"), "id;size\n1;2,5", None).delimiter
    ';'
    """
    line = _SEPARATOR_LINE.match(start)
    if line is not None:
        return Dialect(delimiter=line["delimiter"], lines_before_header=1)
    return Dialect(delimiter=delimiter or _find_delimiter(path, start))


def _find_delimiter(path: Path, start: str) -> str:
    rows = {delimiter: _first_rows(start, delimiter) for delimiter in _DELIMITERS}
    in_header = [delimiter for delimiter in rows if rows[delimiter] and len(rows[delimiter][0]) > 1]
    if len(in_header) < 2:
        return in_header[0] if in_header else ","
    regular = [delimiter for delimiter in in_header if _is_regular(rows[delimiter])]
    if len(regular) > 1:
        names = " or ".join(_DELIMITERS[delimiter] for delimiter in regular)
        raise ValueError(
            f"the delimiter of {path} is not certain: its first rows can be divided at each {names}. "
            "Put the names of columns that contain such a character in quotes."
        )
    return regular[0] if regular else in_header[0]


def _first_rows(start: str, delimiter: str) -> list[list[str]]:
    try:
        cells = csv.reader(io.StringIO(start, newline=""), delimiter=delimiter)
        rows = [row for row in islice(cells, _ROWS) if row]
    except csv.Error:  # a very long cell
        return []
    return rows[:-1] if len(start) >= START and len(rows) < _ROWS else rows  # the last row is cut off


def _is_regular(rows: list[list[str]]) -> bool:
    """Return whether all rows have as many cells as the header, and the header has no cell with half of a quotation."""
    is_torn = any(cell.count('"') % 2 for cell in rows[0])
    return not is_torn and len({len(row) for row in rows}) == 1
