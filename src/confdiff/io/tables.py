"""Read and write tables. Messages count rows from 0, without a header."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.io.atomic import atomic_file
from confdiff.io.table_formats.registry import TABLE_FORMATS, find_table_format
from confdiff.io.table_formats.table_format import TableFormat


def check_table_name(path: Path) -> Path:
    """Check that the ending of a path names a format of tables that can be written, and return the path."""
    if not any(path.name.lower().endswith(ending) for ending in TABLE_FORMATS):
        raise ValueError(f"the name of a table to write must end in {', '.join(TABLE_FORMATS)}; got {path.name!r}.")
    find_table_format(path).check_packages()
    return path


def check_table_file(path: Path) -> TableFormat:
    """Check that a path is an existing table, and return its format."""
    table_format = find_table_format(path)
    table_format.check_packages()
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a table.")
    if not path.is_file():
        raise FileNotFoundError(f"the table {path} does not exist.")
    return table_format


@contextmanager
def table_errors(path: Path, columns: Iterable[str] = ()) -> Iterator[None]:
    """Turn the errors of pyarrow inside the block into messages that name the table.

    Parameters
    ----------
    path : Path
        The table that the block reads.
    columns : iterable of str
        The columns that it must have.

    Raises
    ------
    ValueError
        If a column is missing, or the file does not have the format of its ending.
    OSError
        If the operating system cannot read the file.
    """
    import pyarrow

    try:
        yield
    except KeyError as error:
        raise ValueError(f"{path} must have the columns {', '.join(columns)}; {error.args[0]}.") from error
    except (pyarrow.ArrowException, UnicodeDecodeError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        text = " ".join(str(error).split())
        raise ValueError(f"{path} cannot be read as a table: {text[:300]}") from error


def write_table(path: Path, columns: Mapping[str, Any], *, escape: bool = True) -> None:
    """Write columns of equal length in the format that the ending of ``path`` names.

    Parameters
    ----------
    path : Path
        The table to write.
    columns : mapping of str to array-like
        Name -> column.
    escape : bool
        Whether to escape texts that a spreadsheet program would run as formulas, in CSV and TSV.
    """
    import pyarrow

    table = pyarrow.table({name: _as_arrow_column(column) for name, column in columns.items()})
    table_format = find_table_format(path)
    with atomic_file(path) as temporary, table_format.open_writer(temporary, table.schema, escape=escape) as write:
        write(table)


def _as_arrow_column(column: Any) -> Any:
    import pyarrow

    array = np.asarray(column)
    return pyarrow.array(array.astype(object) if array.dtype.kind == "U" else array)  # else pyarrow ends text at a NUL


def read_arrow(path: Path, columns: list[str] | None = None) -> Any:
    """Return a table, or some of its columns, as a ``pyarrow.Table``."""
    table_format = check_table_file(path)
    with table_errors(path, columns or ()):
        table = table_format.read(path, columns)
    check_distinct_names(path, table.column_names)
    return table


def check_distinct_names(path: Path, names: list[str]) -> None:
    """Check that no two columns of a file have the same name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"the columns of {path} must have distinct names; got {repeated[0]!r} more than once.")
