"""Parquet files."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.table_format import TableFormat, check_has_columns


class _Parquet(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        from pyarrow import parquet

        with parquet.ParquetFile(path) as file, _naming_dictionary(path, file):
            check_has_columns(file.schema_arrow.names, columns or [])
            table = file.read(columns=columns)
        return _plain(table, path)

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        from pyarrow import parquet

        start = 0
        # buffered row groups would stay in memory to the end
        with parquet.ParquetFile(path, pre_buffer=False) as file, _naming_dictionary(path, file):
            check_has_columns(file.schema_arrow.names, columns)
            for batch in file.iter_batches(batch_size=rows, columns=columns):
                yield _plain(batch, path, start)
                start += batch.num_rows

    def read_column_names(self, path: Path) -> list[str]:
        from pyarrow import parquet

        return list(parquet.read_schema(path).names)

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        from pyarrow import parquet

        with parquet.ParquetWriter(path, schema) as writer:
            yield writer.write

    def count_rows(self, path: Path) -> int | None:
        from pyarrow import parquet

        return int(parquet.read_metadata(path).num_rows)


def _plain(table: Any, path: Path, start: int = 0) -> Any:
    """Return a table or batch without dictionaries, after a check that its texts are UTF-8.

    ``start`` is the row of the file at which it begins.
    """
    import pyarrow

    for index, field in enumerate(table.schema):
        if pyarrow.types.is_dictionary(field.type):
            plain = pyarrow.field(field.name, field.type.value_type)
            table = table.set_column(index, plain, table.column(index).cast(field.type.value_type))
        if _holds_text(table.column(index).type):
            _check_utf8(table.column(index), f"{path}, column {field.name!r}", start)
    return table


@contextmanager
def _naming_dictionary(path: Path, file: Any) -> Iterator[None]:
    """Name the column if pyarrow refuses a dictionary whose texts are not UTF-8: its message does not."""
    import pyarrow

    try:
        yield
    except pyarrow.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        for field in file.schema_arrow:
            if pyarrow.types.is_dictionary(field.type) and not _is_readable(file, field.name):
                raise _not_utf8(f"{path}, column {field.name!r}") from error
        raise


def _is_readable(file: Any, name: str) -> bool:
    import pyarrow

    try:
        file.read(columns=[name])
    except pyarrow.ArrowInvalid:
        return False
    return True


def _holds_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _check_utf8(column: Any, position: str, start: int) -> None:
    """Check that each text of a column is UTF-8: Parquet files claim it, and pyarrow believes them."""
    import pyarrow

    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid as error:
        row = next(row for row in range(len(column)) if not _is_valid(column.slice(row, 1)))
        raise _not_utf8(f"{position}, row {start + row} ({PARQUET.row_note})") from error


def _not_utf8(position: str) -> ValueError:
    return ValueError(f"{position}: the text is not UTF-8. Write the column as UTF-8.")


def _is_valid(column: Any) -> bool:
    import pyarrow

    try:
        column.validate(full=True)
    except pyarrow.ArrowInvalid:
        return False
    return True


PARQUET = _Parquet(
    ending=".parquet",
    first_row=0,
    row_note="the first row is row 0",
)
