"""Describe a format of table files."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from confdiff.io.column_types.lattice import TextParsing


@dataclass(frozen=True)
class TableFormat(ABC):
    """How to read and write the files of one format, and how a reader numbers their rows.

    Parameters
    ----------
    ending : str
        How the name of a file ends, in lower case, such as ``".csv"``.
    first_row : int
        The number that an editor shows for the first row of data.
    row_note : str
        How rows are numbered, for messages.
    parse_text : {"none", "times", "all"}
        Which cells of text may be other values: all where every cell is text, times where only these are.
    """

    ending: str
    first_row: int
    row_note: str
    parse_text: TextParsing = "none"

    block_bytes: ClassVar[int] = 1 << 22
    """Bytes of a text file to read at a time; pyarrow reads up to 32 such blocks ahead."""

    @abstractmethod
    def read(self, path: Path, columns: list[str] | None) -> Any:
        """Return a file, or some of its columns, as written, as a ``pyarrow.Table``."""

    @abstractmethod
    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        """Yield columns as written, in batches of at most ``rows`` rows; a missing column is a KeyError.

        The type of a column may differ between batches.
        """

    @abstractmethod
    def read_column_names(self, path: Path) -> list[str]:
        """Return the names of the columns without reading all of the file."""

    @abstractmethod
    def open_writer(
        self, path: Path, schema: Any, *, escape: bool = True
    ) -> AbstractContextManager[Callable[[Any], None]]:
        """Open a file for writing, and yield a function that appends a pyarrow table or batch.

        If ``escape`` is true, formats whose cells have no types (CSV, TSV) escape texts that a spreadsheet program
        would run as formulas.
        """

    def check_packages(self) -> None:  # noqa: B027 (most formats need none)
        """Check that optional packages which the format needs are installed."""

    def count_rows(self, path: Path) -> int | None:
        """Return the number of rows if the file records it, otherwise None."""
        return None


def check_has_columns(names: list[str], wanted: list[str]) -> None:
    """Raise a KeyError for the first wanted column that is missing."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise KeyError(f"{missing[0]!r} is missing")


def slices(batch: Any, rows: int) -> Iterator[Any]:
    """Yield a batch in parts of at most ``rows`` rows."""
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)
