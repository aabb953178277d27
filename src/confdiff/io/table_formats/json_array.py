"""JSON files that hold an array of objects, one per row."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.encodings import open_text
from confdiff.io.table_formats.json_values import JsonRow, as_batch, as_json, check_is_object, names_of, parse_json
from confdiff.io.table_formats.table_format import TableFormat, check_has_columns, slices


class _JsonArray(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow

        rows = read_objects(path)
        names = names_of(rows)
        if columns is not None:
            check_has_columns(names, columns)
        return pyarrow.Table.from_batches([as_batch(path, rows, names if columns is None else columns)])

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        yield from slices(self.read(path, columns).combine_chunks().to_batches()[0], rows)

    def read_column_names(self, path: Path) -> list[str]:
        return names_of(read_objects(path))

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        with path.open("w", encoding="utf-8") as file:
            separator = "[\n"

            def write(rows: Any) -> None:
                nonlocal separator
                for row in rows.to_pylist():
                    file.write(separator + as_json(row))
                    separator = ",\n"

            yield write
            file.write("[]\n" if separator == "[\n" else "\n]\n")


def read_objects(path: Path) -> list[JsonRow]:
    """Return the objects of the array; the file is parsed as a whole."""
    with open_text(path) as file:
        text = file.read().strip()
    if not text:
        raise ValueError(f"{path} cannot be read as a table: it is empty.")
    if text.startswith("{"):
        raise ValueError(
            f"{path} must be a JSON array of objects, one per row; got an object. "
            "If each line is an object, let the name of the file end in .jsonl."
        )
    values = parse_json(text, str(path))
    if not isinstance(values, list):
        raise ValueError(f"{path} must be a JSON array of objects, one per row; got {values!r:.60}.")
    if not values:
        raise ValueError(f"{path} cannot be read as a table: its array is empty.")
    return [check_is_object(value, f"{path}, object {number},") for number, value in enumerate(values, 1)]


JSON_ARRAY = _JsonArray(
    ending=".json",
    first_row=1,
    row_note="the first object is row 1",
    parse_text="times",
)
