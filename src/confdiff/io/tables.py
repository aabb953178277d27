"""Read and write tables. Messages count rows from 0, without a header."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.io.atomic import atomic_file
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.table_formats.table_format import TableFormat


def check_table_name(path: Path) -> Path:
    """Check that the ending of a path names a format of tables that can be written, and return the path."""
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
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        text = " ".join(str(error).split())
        if "invalid UTF8" in text:
            raise ValueError(f"{path} is not UTF-8 text: save the file as UTF-8.") from error
        raise ValueError(f"{path} cannot be read as a table: {text[:300]}") from error


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length in the format that the ending of ``path`` names."""
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(np.asarray(column)) for name, column in columns.items()})
    table_format = find_table_format(path)
    with atomic_file(path) as temporary, table_format.open_writer(temporary, table.schema) as write:
        write(table)


def read_arrow(path: Path, columns: list[str] | None = None) -> Any:
    """Return a table, or some of its columns, as a ``pyarrow.Table``."""
    table_format = check_table_file(path)
    with table_errors(path, columns or ()):
        table = table_format.read(path, columns)
    _check_distinct_names(path, table.column_names)
    if not table_format.has_binary_columns:
        _check_text(path, table.schema)
    return table


def _check_distinct_names(path: Path, names: list[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise ValueError(f"the columns of {path} must have distinct names; got {repeated[0]!r} more than once.")


def _check_text(path: Path, schema: Any) -> None:
    import pyarrow

    for field in schema:
        if pyarrow.types.is_binary(field.type):
            raise ValueError(f"{path}, column {field.name!r}, is not UTF-8 text: save the file as UTF-8.")
