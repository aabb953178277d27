"""JSON lines: one JSON object per row."""

import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.table_format import TableFormat, check_has_columns, fixed_types, slices


class _JsonLines(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        from pyarrow import json as lines

        if path.stat().st_size == 0:
            raise _empty_file(path)
        table = lines.read_json(path)
        return table if columns is None else table.select([name for name in columns if name in table.column_names])

    def read_batches(self, path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
        for batch in self._blocks(path, types):
            check_has_columns(batch.schema.names, types)
            yield from slices(batch.select(list(types)), rows)

    def read_column_names(self, path: Path) -> list[str]:
        first = next(self._blocks(path, {}), None)
        if first is None:
            raise _empty_file(path)
        return list(first.schema.names)

    @contextmanager
    def open_writer(self, path: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
        with path.open("w", encoding="utf-8") as file:
            yield lambda rows: file.writelines(_as_line(row) for row in rows.to_pylist())

    def _blocks(self, path: Path, types: Mapping[str, Any]) -> Iterator[Any]:
        """Yield blocks of a file, each of which is parsed as a table."""
        import pyarrow
        from pyarrow import json as lines

        schema = list(fixed_types(types).items())
        options = lines.ParseOptions(explicit_schema=pyarrow.schema(schema)) if schema else None
        with path.open("rb") as file:
            while block := file.readlines(self.block_bytes):
                table = lines.read_json(io.BytesIO(b"".join(block)), parse_options=options)
                yield from table.combine_chunks().to_batches()


def _as_line(row: dict[str, Any]) -> str:
    return json.dumps(row, ensure_ascii=False, default=str) + "\n"


def _empty_file(path: Path) -> ValueError:
    return ValueError(f"{path} cannot be read as a table: it is empty.")


JSON_LINES = _JsonLines(
    ending=".jsonl",
    first_row=1,
    row_note="the first line is row 1",
)
