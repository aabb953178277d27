"""Read and write tables in batches of rows, for tables that do not fit into memory."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.atomic import atomic_file
from confdiff.io.tables import DELIMITERS, check_table_file, check_table_name, empty_table, table_errors

_ROWS = 65_536
_BYTES = 1 << 22  # of a text file read at a time; pyarrow reads up to 32 such blocks ahead


def read_batches(path: Path, types: Mapping[str, Any], rows: int = _ROWS) -> Iterator[Any]:
    """Yield some columns of a table as batches of pyarrow.

    Parameters
    ----------
    path : Path
        The table.
    types : mapping
        Column -> its pyarrow type, which text files do not determine; None to infer it.
    rows : int
        The number of rows in a batch, at most.
    """
    ending = check_table_file(path).suffix.lower()
    with table_errors(path, types):
        yield from _READERS[ending](path, types, rows)


def read_column_names(path: Path) -> list[str]:
    """Return the names of the columns of a table without reading all of it."""
    from pyarrow import csv, parquet

    ending = check_table_file(path).suffix.lower()
    with table_errors(path):
        if ending == ".parquet":
            return list(parquet.read_schema(path).names)
        if ending == ".jsonl":
            first = next(_blocks_of_lines(path, {}), None)
            if first is None:
                raise empty_table(path)
            return list(first.schema.names)
        with csv.open_csv(path, parse_options=_parse_options(ending)) as reader:
            return list(reader.schema.names)


def count_rows(path: Path) -> int | None:
    """Return the number of rows of a table if the file records it (Parquet), otherwise None."""
    from pyarrow import parquet

    return parquet.read_metadata(path).num_rows if path.suffix.lower() == ".parquet" else None


def _read_parquet(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False) as file:  # buffered row groups would stay in memory to the end
        _check_has(file.schema_arrow.names, types)
        yield from file.iter_batches(batch_size=rows, columns=list(types))


def _check_has(names: list[str], types: Mapping[str, Any]) -> None:
    missing = [name for name in types if name not in names]
    if missing:
        raise KeyError(f"{missing[0]!r} is missing")


def _parse_options(ending: str) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=DELIMITERS[ending], newlines_in_values=True)


def _read_delimited(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    from pyarrow import csv

    with csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_BYTES),
        parse_options=_parse_options(path.suffix.lower()),
        convert_options=csv.ConvertOptions(include_columns=list(types), column_types=_determined(types)),
    ) as reader:
        for batch in reader:
            yield from _slices(batch, rows)


def _read_lines(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    for batch in _blocks_of_lines(path, types):
        _check_has(batch.schema.names, types)
        yield from _slices(batch.select(list(types)), rows)


def _blocks_of_lines(path: Path, types: Mapping[str, Any]) -> Iterator[Any]:
    """Yield blocks of a file of JSON lines, each of which is parsed as a table."""
    import pyarrow
    from pyarrow import json as lines

    schema = list(_determined(types).items())
    options = lines.ParseOptions(explicit_schema=pyarrow.schema(schema)) if schema else None
    with path.open("rb") as file:
        while block := file.readlines(_BYTES):
            table = lines.read_json(io.BytesIO(b"".join(block)), parse_options=options)
            yield from table.combine_chunks().to_batches()


def _determined(types: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns whose types are not inferred."""
    return {name: kind for name, kind in types.items() if kind is not None}


def _slices(batch: Any, rows: int) -> Iterator[Any]:
    for start in range(0, batch.num_rows, rows):
        yield batch.slice(start, rows)


_READERS: dict[str, Callable[[Path, Mapping[str, Any], int], Iterator[Any]]] = {
    ".parquet": _read_parquet,
    ".csv": _read_delimited,
    ".tsv": _read_delimited,
    ".jsonl": _read_lines,
}


@contextmanager
def writing_batches(path: Path) -> Iterator[Callable[[Any], None]]:
    """Yield a function that appends a pyarrow batch to a table; the file is written if the block succeeds."""
    ending = check_table_name(path).suffix.lower()
    with atomic_file(path) as temporary:
        if ending == ".jsonl":
            with temporary.open("w", encoding="utf-8") as file:
                yield lambda batch: file.writelines(
                    json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist()
                )
            return
        writer = _Writer(temporary, ending)
        try:
            yield writer.write
        finally:
            writer.close()


class _Writer:
    """Write batches; the first batch determines the columns."""

    def __init__(self, path: Path, ending: str) -> None:
        self._path = path
        self._ending = ending
        self._writer: Any = None

    def write(self, batch: Any) -> None:
        """Append a batch."""
        if self._writer is None:
            self._writer = self._open(batch.schema)
        self._writer.write_batch(batch)

    def _open(self, schema: Any) -> Any:
        from pyarrow import csv, parquet

        if self._ending == ".parquet":
            return parquet.ParquetWriter(self._path, schema)
        options = csv.WriteOptions(delimiter=DELIMITERS[self._ending])
        return csv.CSVWriter(self._path, schema, write_options=options)

    def close(self) -> None:
        """Close the file, if there was a batch."""
        if self._writer is not None:
            self._writer.close()
