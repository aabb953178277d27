"""Tables that need not fit into memory: read and written a batch of rows at a time."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.atomic import atomic_file
from confdiff.io.tables import DELIMITERS, check_table_file, check_table_name, unreadable

ROWS = 65_536
_BYTES = 1 << 22  # of a text file read at a time; pyarrow reads up to 32 such parts ahead


def read_batches(path: Path, types: Mapping[str, Any], rows: int = ROWS) -> Iterator[Any]:
    """The columns that are named, a pyarrow batch after the other.

    types: column -> the pyarrow type that it has, which text files cannot tell; None leaves it to the file.
    """
    import pyarrow

    try:
        yield from _READERS[check_table_file(path).suffix.lower()](path, types, rows)
    except KeyError as error:
        raise ValueError(f"{path} must have the columns {', '.join(types)}; {error.args[0]}.") from error
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise unreadable(path, error) from error


def column_names(path: Path) -> list[str]:
    """The names of the columns of a table, without reading it whole."""
    import pyarrow
    from pyarrow import csv, parquet

    ending = check_table_file(path).suffix.lower()
    try:
        if ending == ".parquet":
            return list(parquet.read_schema(path).names)
        if ending == ".jsonl":
            return list(next(_lines(path, {})).schema.names)
        with csv.open_csv(path, parse_options=_parsing(ending)) as reader:
            return list(reader.schema.names)
    except StopIteration:
        raise ValueError(f"{path} cannot be read as a table: it is empty.") from None
    except (pyarrow.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise unreadable(path, error) from error


def count_rows(path: Path) -> int | None:
    """How many rows a table has, where that is told without reading it."""
    from pyarrow import parquet

    return parquet.read_metadata(path).num_rows if path.suffix.lower() == ".parquet" else None


def _parquet(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    from pyarrow import parquet

    with parquet.ParquetFile(path, pre_buffer=False) as file:  # what is buffered ahead is kept to the end
        missing = [name for name in types if name not in file.schema_arrow.names]
        if missing:
            raise KeyError(f"{missing[0]!r} is not there")
        yield from file.iter_batches(batch_size=rows, columns=list(types))


def _parsing(ending: str) -> Any:
    from pyarrow import csv

    return csv.ParseOptions(delimiter=DELIMITERS[ending], newlines_in_values=True)


def _delimited(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    from pyarrow import csv

    known = {name: kind for name, kind in types.items() if kind is not None}
    with csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_BYTES),
        parse_options=_parsing(path.suffix.lower()),
        convert_options=csv.ConvertOptions(include_columns=list(types), column_types=known),
    ) as reader:
        for batch in reader:
            yield from (batch.slice(start, rows) for start in range(0, batch.num_rows, rows))


def _json_lines(path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
    for batch in _lines(path, types):
        missing = [name for name in types if name not in batch.schema.names]
        if missing:
            raise KeyError(f"{missing[0]!r} is not there")
        whole = batch.select(list(types))
        yield from (whole.slice(start, rows) for start in range(0, whole.num_rows, rows))


def _lines(path: Path, types: Mapping[str, Any]) -> Iterator[Any]:
    """Parts of a file of JSON lines, each read as a table of its own."""
    import pyarrow
    from pyarrow import json as lines

    known = [(name, kind) for name, kind in types.items() if kind is not None]
    options = lines.ParseOptions(explicit_schema=pyarrow.schema(known)) if known else None
    with path.open("rb") as file:
        while block := file.readlines(_BYTES):
            table = lines.read_json(io.BytesIO(b"".join(block)), parse_options=options)
            yield from table.combine_chunks().to_batches()


_READERS: dict[str, Callable[[Path, Mapping[str, Any], int], Iterator[Any]]] = {
    ".parquet": _parquet,
    ".csv": _delimited,
    ".tsv": _delimited,
    ".jsonl": _json_lines,
}


@contextmanager
def writing_batches(path: Path) -> Iterator[Callable[[Any], None]]:
    """A function that adds a pyarrow batch to a table; the file is there, whole, when the block succeeds."""
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
    """Opened with the first batch, which tells the columns."""

    def __init__(self, path: Path, ending: str) -> None:
        self.path, self.ending = path, ending
        self.open: Any = None

    def write(self, batch: Any) -> None:
        if self.open is None:
            self.open = self._opened(batch.schema)
        self.open.write_batch(batch)

    def _opened(self, schema: Any) -> Any:
        from pyarrow import csv, parquet

        if self.ending == ".parquet":
            return parquet.ParquetWriter(self.path, schema)
        return csv.CSVWriter(self.path, schema, write_options=csv.WriteOptions(delimiter=DELIMITERS[self.ending]))

    def close(self) -> None:
        if self.open is not None:
            self.open.close()
