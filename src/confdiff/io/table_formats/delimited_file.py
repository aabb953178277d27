"""Read a delimited text file in its encoding and dialect."""

import gzip
import io
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.decimal_commas import find_decimal_commas, with_decimal_points
from confdiff.io.table_formats.dialects import START, Dialect, find_dialect
from confdiff.io.table_formats.encodings import check_no_nul, encoding_of, not_decodable
from confdiff.io.table_formats.formulas import unescape_table, unescape_text
from confdiff.io.table_formats.quoting import check_quotes
from confdiff.io.table_formats.table_format import check_has_columns


class DelimitedFile:
    """A CSV or TSV file. Its contents determine its encoding, delimiter and decimal sign.

    Parameters
    ----------
    path : Path
        The file.
    delimiter : str or None
        The delimiter; None to find it.
    compressed : bool
        Whether the file is compressed by gzip.
    block_bytes : int
        The number of bytes to read at a time.
    """

    def __init__(self, path: Path, *, delimiter: str | None, compressed: bool, block_bytes: int) -> None:
        self._path = path
        self._delimiter = delimiter
        self._compressed = compressed
        self._block_bytes = block_bytes

    @cached_property
    def column_names(self) -> list[str]:
        """The names of the columns. Empty names at the end are left out: many programs end each row with a delimiter.

        Raises
        ------
        ValueError
            If a column has no name, or the name of another one.
        """
        names = [unescape_text(name) for name in self._header]
        while names and not names[-1].strip():
            names.pop()
        for number, name in enumerate(names, 1):
            if not name.strip():
                raise ValueError(
                    f"{self._path}: column {number} has no name in the header. Write one, or remove the column "
                    "(pandas writes a column without a name unless it is called with index=False)."
                )
            if name in names[: number - 1]:
                raise ValueError(f"the columns of {self._path} must have distinct names; got {name!r} more than once.")
        return names

    def read_batches(self, columns: list[str]) -> Iterator[Any]:
        """Yield some columns as batches of texts; decimal commas are read as points."""
        check_has_columns(self.column_names, columns)
        _check_quotes_once(self._path, self._path.stat().st_mtime_ns, self._compressed, self._encoding, self._dialect)
        with_commas = self._columns_with_commas
        for batch in self._texts(columns):
            for name in with_commas.intersection(columns):
                index = columns.index(name)
                batch = batch.set_column(index, name, with_decimal_points(batch.column(index)))
            yield batch

    @cached_property
    def _encoding(self) -> str:
        with open_bytes(self._path, self._compressed) as file:
            return encoding_of(self._path, file)

    @cached_property
    def _dialect(self) -> Dialect:
        with (
            self._decoding_errors_named(),
            open_bytes(self._path, self._compressed) as file,
            io.TextIOWrapper(file, encoding=self._encoding, newline="") as text,
        ):
            start = text.read(START)
        check_no_nul(self._path, start)
        return find_dialect(self._path, start, self._delimiter)

    @cached_property
    def _header(self) -> list[str]:
        with self._opened(types={}) as reader:
            return list(reader.schema.names)

    @cached_property
    def _columns_with_commas(self) -> set[str]:
        if self._dialect.delimiter == ",":
            return set()
        return find_decimal_commas(
            self._path,
            self._texts(self.column_names),
            delimiter=self._dialect.delimiter,
        )

    def _texts(self, columns: list[str]) -> Iterator[Any]:
        """Yield some columns as written."""
        import pyarrow

        indices = [self.column_names.index(name) for name in columns]
        has_unnamed = len(self.column_names) < len(self._header)
        needs_all = has_unnamed or not indices
        wanted = None if needs_all else [self._header[index] for index in indices]
        with self._opened(types=dict.fromkeys(self._header, pyarrow.string()), columns=wanted) as reader:
            for batch in reader:
                if has_unnamed:
                    self._check_unnamed_are_empty(batch)
                selected = batch.select(indices) if needs_all else batch
                yield unescape_table(selected.rename_columns(columns))

    @contextmanager
    def _opened(self, *, types: dict[str, Any], columns: list[str] | None = None) -> Iterator[Any]:
        """Open the file, or some of its columns, by pyarrow."""
        import pyarrow
        from pyarrow import csv

        read_options = csv.ReadOptions(
            use_threads=False,  # with threads, messages of pyarrow lack the row
            block_size=self._block_bytes,
            skip_rows=self._dialect.lines_before_header,
            encoding="utf8" if self._encoding in ("utf-8", "utf-8-sig") else self._encoding,
        )
        parse_options = csv.ParseOptions(delimiter=self._dialect.delimiter, newlines_in_values=True)
        convert_options = csv.ConvertOptions(
            include_columns=columns, column_types=types, null_values=[""], strings_can_be_null=True
        )
        with (
            self._decoding_errors_named(),
            pyarrow.input_stream(self._path, compression="gzip" if self._compressed else None) as stream,
            csv.open_csv(stream, read_options, parse_options, convert_options) as reader,
        ):
            yield reader

    @contextmanager
    def _decoding_errors_named(self) -> Iterator[None]:
        import pyarrow

        try:
            yield
        except (UnicodeDecodeError, pyarrow.ArrowInvalid) as error:
            if isinstance(error, pyarrow.ArrowInvalid) and "UTF8" not in str(error):
                raise
            raise self._not_decodable() from error

    def _check_unnamed_are_empty(self, batch: Any) -> None:
        for index in range(len(self.column_names), len(self._header)):
            if batch.column(index).null_count < batch.num_rows:
                raise ValueError(
                    f"{self._path}: column {index + 1} has values but no name in the header. Write a name, or remove "
                    "the column."
                )

    def _not_decodable(self) -> ValueError:
        with open_bytes(self._path, self._compressed) as file:
            return not_decodable(self._path, file, self._encoding)


@contextmanager
def open_bytes(path: Path, compressed: bool) -> Iterator[Any]:
    """Open a file, and decompress it if it is compressed by gzip."""
    try:
        with path.open("rb") as file:
            yield gzip.GzipFile(fileobj=file) if compressed else file
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}.") from error


@lru_cache(maxsize=64)
def _check_quotes_once(path: Path, modified: int, compressed: bool, encoding: str, dialect: Dialect) -> None:
    """Check the quotes of a file, unless this version of it was checked before."""
    with open_bytes(path, compressed) as file:
        check_quotes(path, file, encoding=encoding, delimiter=dialect.delimiter)
