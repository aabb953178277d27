"""Reading and writing tables. Messages count rows from 0, without a header."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.atomic import atomic_file

TABLES = (".parquet", ".csv", ".tsv", ".jsonl")
DELIMITERS = {".csv": ",", ".tsv": "\t"}


def check_table_name(path: Path) -> Path:
    """A path whose ending says how the table in it is written."""
    if path.suffix.lower() not in TABLES:
        raise ValueError(f"the name of a table must end in {', '.join(TABLES)}; got {path.name!r}.")
    return path


def check_table_file(path: Path) -> Path:
    """A path of a table that is there."""
    check_table_name(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a table.")
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    return path


def write_table(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns of one length."""
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


def read_arrow(path: Path, columns: list[str] | None = None) -> Any:
    """The table in a file as pyarrow has it, or those of its columns that are named."""
    import pyarrow

    ending = check_table_file(path).suffix.lower()
    try:
        table = _READERS[ending](path, columns)
    except KeyError as error:
        raise ValueError(f"{path} must have the columns {', '.join(columns or [])}; {error.args[0]}.") from error
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise unreadable(path, error) from error
    _check_columns(path, table)
    return table


def unreadable(path: Path, error: Exception) -> ValueError:
    """The error for a file that is not what its name says."""
    return ValueError(f"{path} cannot be read as a table: {' '.join(str(error).split())[:300]}")


def read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """The columns of a table as arrays, or those that are named."""
    table = read_arrow(path, columns)
    return {name: table[name].to_numpy() for name in table.column_names}


def _read_parquet(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import parquet

    return parquet.read_table(path, columns=columns)


def _read_delimited(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import csv

    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(use_threads=False),  # so that messages know the row
        parse_options=csv.ParseOptions(delimiter=DELIMITERS[path.suffix.lower()], newlines_in_values=True),
        convert_options=csv.ConvertOptions(include_columns=columns),
    )


def _read_lines(path: Path, columns: list[str] | None) -> Any:
    from pyarrow import json as lines

    if path.stat().st_size == 0:
        raise ValueError(f"{path} cannot be read as a table: it is empty.")
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

    twice = [name for name, count in Counter(table.column_names).items() if count > 1]
    if twice:
        raise ValueError(f"the columns of {path} must have different names; {twice[0]!r} stands there more than once.")
    for field in table.schema:
        if pyarrow.types.is_binary(field.type) and path.suffix.lower() != ".parquet":
            raise ValueError(f"{path}, column {field.name!r}, is not UTF-8 text: save the file as UTF-8.")
