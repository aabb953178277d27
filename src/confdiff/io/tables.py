"""Read and write tables. Messages count rows from 0, without a header."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.atomic import atomic_file

TABLE_ENDINGS = (".parquet", ".csv", ".tsv", ".jsonl")
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_table_name(path: Path) -> Path:
    """Check that the ending of a path names a format of tables, and return the path."""
    if path.suffix.lower() not in TABLE_ENDINGS:
        raise ValueError(f"the name of a table must end in {', '.join(TABLE_ENDINGS)}; got {path.name!r}.")
    return path


def check_table_file(path: Path) -> Path:
    """Check that a path is an existing table, and return it."""
    check_table_name(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a table.")
    if not path.is_file():
        raise FileNotFoundError(f"the table {path} does not exist.")
    return path


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
        If a column is missing, or the file is not what its ending says.
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
        raise ValueError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:300]}") from error


def empty_table(path: Path) -> ValueError:
    """Return the error for a file without contents."""
    return ValueError(f"{path} cannot be read as a table: it is empty.")


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of equal length in the format that the ending of ``path`` names."""
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(np.asarray(column)) for name, column in columns.items()})
    with atomic_file(check_table_name(path)) as temporary:
        _WRITERS[path.suffix.lower()](table, temporary)


def _write_parquet(table: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path)


def _write_delimited(table: Any, path: Path) -> None:
    from pyarrow import csv

    csv.write_csv(table, path, csv.WriteOptions(delimiter=DELIMITERS[path.suffix.lower()]))


def _write_lines(table: Any, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in table.to_pylist())


_WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".parquet": _write_parquet,
    ".csv": _write_delimited,
    ".tsv": _write_delimited,
    ".jsonl": _write_lines,
}


def read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the columns of a table as arrays.

    Parameters
    ----------
    path : Path
        The table.
    columns : list of str, optional
        The columns to read; by default all.
    """
    table = read_arrow(path, columns)
    return {name: table[name].to_numpy() for name in table.column_names}


def read_arrow(path: Path, columns: list[str] | None = None) -> Any:
    """Return a table, or some of its columns, as a ``pyarrow.Table``."""
    ending = check_table_file(path).suffix.lower()
    with table_errors(path, columns or ()):
        table = _READERS[ending](path, columns)
    _check_columns(path, table)
    return table


def _read_parquet(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path, columns=columns)


def _read_delimited(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(use_threads=False),  # with threads, messages of pyarrow lack the row
        parse_options=csv.ParseOptions(delimiter=DELIMITERS[path.suffix.lower()], newlines_in_values=True),
        convert_options=csv.ConvertOptions(include_columns=columns),
    )


def _read_lines(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import json as lines

    if path.stat().st_size == 0:
        raise empty_table(path)
    table = lines.read_json(path)
    return table if columns is None else table.select([name for name in columns if name in table.column_names])


_READERS: dict[str, Callable[[Path, list[str] | None], Any]] = {
    ".parquet": _read_parquet,
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".jsonl": _read_lines,
}


def _check_columns(path: Path, table: Any) -> None:
    import pyarrow

    repeated = [name for name, count in Counter(table.column_names).items() if count > 1]
    if repeated:
        raise ValueError(f"the columns of {path} must have distinct names; got {repeated[0]!r} more than once.")
    for field in table.schema:
        if pyarrow.types.is_binary(field.type) and path.suffix.lower() != ".parquet":
            raise ValueError(f"{path}, column {field.name!r}, is not UTF-8 text: save the file as UTF-8.")
