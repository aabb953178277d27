"""JSON lines: one JSON object per row."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.encodings import open_text
from confdiff.io.table_formats.json_values import JsonRow, as_batch, as_json, check_is_object, names_of, parse_json
from confdiff.io.table_formats.table_format import TableFormat, check_has_columns, slices


class _JsonLines(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow

        rows = [row for block in self._blocks(path) for row in block]
        names = names_of(rows)
        if columns is not None:
            check_has_columns(names, columns)
        return pyarrow.Table.from_batches([as_batch(path, rows, names if columns is None else columns)])

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        names: set[str] = set()
        for block in self._blocks(path):
            names.update(names_of(block))
            yield from slices(as_batch(path, block, columns), rows)
        check_has_columns(list(names), columns)

    def read_column_names(self, path: Path) -> list[str]:
        """Return the keys of all lines: any line may have a key that the lines before it lack."""
        return names_of(row for block in self._blocks(path) for row in block)

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        with path.open("w", encoding="utf-8") as file:
            yield lambda rows: file.writelines(as_json(row) + "\n" for row in rows.to_pylist())

    def _blocks(self, path: Path) -> Iterator[list[JsonRow]]:
        """Yield the rows of the file, those of some megabytes at a time; blank lines are skipped."""
        line_number = 0
        count = 0
        with open_text(path) as file:
            while lines := file.readlines(self.block_bytes):
                block = list(_rows(path, lines, line_number))
                line_number += len(lines)
                count += len(block)
                if block:
                    yield block
        if not count:
            raise ValueError(f"{path} cannot be read as a table: it is empty.")


def _rows(path: Path, lines: list[str], start: int) -> Iterator[JsonRow]:
    for number, line in enumerate(lines, start + 1):
        if not line.isspace():
            position = f"{path}, line {number},"
            yield check_is_object(parse_json(line, position), position)


JSON_LINES = _JsonLines(
    ending=".jsonl",
    first_row=1,
    row_note="the first line is row 1",
    parse_text="times",
)
