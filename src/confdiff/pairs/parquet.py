"""Read columns of Parquet files, one row group at a time. Messages count the rows of a file from 0."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation import no_pairs


@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file that can be read on its own.

    Parameters
    ----------
    file : Path
        The file.
    footer : pyarrow.parquet.FileMetaData
        Its metadata.
    number : int
        The number of the row group in the file.
    start, rows : int
        Its first row in the file, and the number of its rows.
    """

    file: Path
    footer: Any
    number: int
    start: int
    rows: int

    def read(self, columns: list[str]) -> dict[str, NDArray[Any]]:
        """Return columns of the row group as arrays."""
        from pyarrow import ArrowException, parquet

        try:
            with parquet.ParquetFile(self.file, metadata=self.footer) as file:
                table = file.read_row_group(self.number, columns, use_threads=False)
        except (ArrowException, OSError) as error:
            raise _unreadable(self.file, error) from error
        return {name: table[name].to_numpy() for name in columns}


def parquet_files(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file itself, or all Parquet files below a folder except those whose names begin with . or _."""
    place = Path(path)
    if place.is_file():
        return [place]
    if not place.is_dir():
        raise FileNotFoundError(f"{place} does not exist; expected a Parquet file or a folder of them.")
    files = sorted(file for file in place.rglob("*.parquet") if not file.name.startswith((".", "_")))
    if not files:
        raise ValueError(f"the folder {place} must hold Parquet files, with names that end in .parquet; got none.")
    return files


def parquet_columns(file: Path) -> list[str]:
    """Return the names of the columns of a Parquet file."""
    return list(_footer(file).schema.to_arrow_schema().names)


def row_groups(files: list[Path], columns: list[str]) -> list[RowGroup]:
    """Return the row groups of Parquet files, all of which must have these columns."""
    groups = [group for file in files for group in _groups_of(file, columns)]
    if not groups:
        raise no_pairs()
    return groups


def _groups_of(file: Path, columns: list[str]) -> list[RowGroup]:
    footer = _footer(file)
    names = footer.schema.to_arrow_schema().names
    missing = [name for name in columns if name not in names]
    if missing:
        shown = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "")
        raise ValueError(f"{file} must have a column {missing[0]!r}; it has {shown or 'none'}.")
    rows = [footer.row_group(number).num_rows for number in range(footer.num_row_groups)]
    starts = np.cumsum([0, *rows]).tolist()
    return [
        RowGroup(file=file, footer=footer, number=number, start=starts[number], rows=count)
        for number, count in enumerate(rows)
        if count
    ]


def _footer(file: Path) -> Any:
    """Return the metadata at the end of a Parquet file: its columns, and the offsets of its row groups."""
    from pyarrow import ArrowException, parquet

    try:
        return parquet.read_metadata(file)
    except (ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _unreadable(file: Path, error: Exception) -> ValueError:
    return ValueError(f"{file} cannot be read as Parquet; it is damaged or another kind of file: {str(error).strip()}")


def identity_of(groups: list[RowGroup]) -> bytes:
    """Return bytes that identify files without reading all of them: names, sizes, rows and footers.

    A footer holds the offsets of all columns in all row groups, and usually the minimum and maximum of each.
    """
    files = {group.file: group.footer for group in groups}
    return b"".join(_identity(file, footer) for file, footer in files.items())


def _identity(file: Path, footer: Any) -> bytes:
    size = file.stat().st_size
    length = footer.serialized_size + 8  # the last 8 bytes: that length, and PAR1
    with file.open("rb") as opened:
        opened.seek(max(0, size - length))
        return f"{file.name} {size} {footer.num_rows} ".encode() + opened.read()
