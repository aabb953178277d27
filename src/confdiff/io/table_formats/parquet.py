"""Parquet files."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.table_format import TableFormat, check_has_columns


class _Parquet(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        from pyarrow import parquet

        return parquet.read_table(path, columns=columns)

    def read_batches(self, path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
        from pyarrow import parquet

        with parquet.ParquetFile(path, pre_buffer=False) as file:  # buffered row groups would stay in memory to the end
            check_has_columns(file.schema_arrow.names, types)
            yield from file.iter_batches(batch_size=rows, columns=list(types))

    def read_column_names(self, path: Path) -> list[str]:
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)

    @contextmanager
    def open_writer(self, path: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
        from pyarrow import parquet

        with parquet.ParquetWriter(path, schema) as writer:
            yield writer.write

    def count_rows(self, path: Path) -> int | None:
        from pyarrow import parquet

        return int(parquet.read_metadata(path).num_rows)


PARQUET = _Parquet(
    ending=".parquet",
    first_row=0,
    row_note="the first row is row 0",
    has_binary_columns=True,
)
