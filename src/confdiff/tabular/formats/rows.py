"""The rows of a file of another tool, with typed cells; messages name the line or the row."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from confdiff.display.text import listed
from confdiff.io.table_formats.encodings import open_text
from confdiff.io.table_formats.json_array import read_objects
from confdiff.io.table_formats.json_values import check_is_object, parse_json
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.io.tables import check_distinct_names, check_table_file, table_errors

_GREATEST = 1e100
_BATCH = 1024  # rows of a table in memory
_Kind = TypeVar("_Kind")


@dataclass(frozen=True)
class FileRow:
    """One record of a file.

    Attributes
    ----------
    position
        File and line, for messages.
    values
        Key -> value.
    """

    position: str
    values: Mapping[str, Any]

    def __contains__(self, name: str) -> bool:
        return self.values.get(name) not in (None, "")

    def has(self, *names: str) -> bool:
        """Return whether the row has all of these keys, whatever their values."""
        return all(name in self.values for name in names)

    def need(self, name: str) -> Any:
        """Return the value of a key that must exist."""
        if name not in self.values:
            raise self.error(f"must have {name!r}; it has {listed(map(repr, self.values)) or 'nothing'}")
        return self.values[name]

    def text(self, name: str) -> str:
        """Return a text that must exist; it may be empty."""
        value = self.need(name)
        if not isinstance(value, str):
            raise self.error(f"{name!r} must be a text; got {value!r:.60}")
        return self.encodable(name, value)

    def name(self, key: str) -> str:
        """Return a text that must exist and must not be blank, such as an id."""
        value = self.text(key)
        if not value.strip():
            raise self.error(f"{key!r} is empty")
        return value

    def optional_text(self, name: str) -> str:
        """Return a text, or a number as text; empty if it is missing."""
        value = self.values.get(name)
        if isinstance(value, list | dict):
            raise self.error(f"{name!r} must be a text; got {value!r:.60}")
        return "" if value is None else self.encodable(name, str(value))

    def number(self, name: str) -> float | None:
        """Return a number, or None if it is missing; the cells of text files are parsed."""
        value = self.values.get(name)
        if value is None or value == "":
            return None
        try:
            number = float(value) if isinstance(value, str) else value
        except ValueError:
            number = None
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= _GREATEST:
            raise self.error(f"{name!r} must be a number up to {_GREATEST:g}; got {value!r:.60}")
        return float(number)

    def within(self, name: str, low: float, high: float) -> float | None:
        """Return a number between two ends, or None if it is missing."""
        number = self.number(name)
        if number is not None and not low <= number <= high:
            raise self.error(f"{name!r} must be from {low:g} to {high:g}; got {number:g}")
        return number

    def part(self, name: str, value: Any) -> "FileRow":
        """Return an object inside the row as a row, for messages about it."""
        if not isinstance(value, dict):
            raise self.error(f"{name} must be an object; got {value!r:.60}")
        return FileRow(f"{self.position}, {name}", value)

    def list_of(self, name: str, kind: type[_Kind]) -> list[_Kind]:
        """Return a list whose members have a type; empty if it is missing."""
        value = self.values.get(name)
        if value is None:
            return []
        if not isinstance(value, list) or not all(isinstance(member, kind) for member in value):
            raise self.error(f"{name!r} must be a list of {_PLURALS[kind]}; got {value!r:.60}")
        return value

    def encodable(self, name: str, text: str) -> str:
        """Check that a text can be written as UTF-8, and return it."""
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise self.error(f"{name!r} contains a lone surrogate, which cannot be written as UTF-8")
        return text

    def error(self, problem: str, remedy: str = "Correct or drop the row.") -> ValueError:
        """Return the error for this row."""
        separator = " " if problem.startswith("must") else ": "
        return ValueError(f"{self.position}{separator}{problem}. {remedy}")


_PLURALS: dict[type, str] = {dict: "objects", str: "texts"}


def read_rows(path: Path) -> Iterator[FileRow]:
    """Yield the records of a file: JSON lines one at a time, tables in batches, a JSON array after reading all of it.

    Parameters
    ----------
    path : Path
        JSON lines, a JSON array, or a table of any format; Parquet may have lists and objects.

    Raises
    ------
    ValueError
        A line is not a JSON object, or the file is empty.
    """
    table_format = check_table_file(path)
    rows = _READERS.get(table_format.ending, _table_rows)(path, table_format)
    count = 0
    for row in rows:
        count += 1
        yield row
    if not count:
        raise ValueError(f"{path} must have at least one record; got none.")


def _lines(path: Path, _: TableFormat) -> Iterator[FileRow]:
    with open_text(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                yield _parsed(f"{path}, line {number}", line)


def _parsed(position: str, line: str) -> FileRow:
    try:
        return FileRow(position, check_is_object(parse_json(line, position), position))
    except ValueError as error:
        raise ValueError(f"{error} Correct or drop the line.") from error


def _objects(path: Path, _: TableFormat) -> Iterator[FileRow]:
    for number, values in enumerate(read_objects(path), 1):
        yield FileRow(f"{path}, object {number}", values)


def _table_rows(path: Path, table_format: TableFormat) -> Iterator[FileRow]:
    number = table_format.first_row
    with table_errors(path):
        columns = table_format.read_column_names(path)
        check_distinct_names(path, columns)
        for batch in table_format.read_batches(path, columns, _BATCH):
            for values in batch.to_pylist():
                yield FileRow(f"{path}, row {number}", values)
                number += 1


_READERS = {".jsonl": _lines, ".json": _objects}
