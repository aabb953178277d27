"""Text files with a header and a delimiter: CSV and TSV. Every column is read as text; an empty cell is null."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.delimited_file import DelimitedFile
from confdiff.io.table_formats.formulas import escape_table
from confdiff.io.table_formats.table_format import TableFormat, slices


@dataclass(frozen=True)
class _Delimited(TableFormat):
    delimiter: str | None = None
    """The delimiter; None if the first rows of a file determine it."""
    compressed: bool = False

    def read(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow

        file = self._open(path)
        names = file.column_names if columns is None else columns
        schema = pyarrow.schema([(name, pyarrow.string()) for name in names])
        return pyarrow.Table.from_batches(file.read_batches(names), schema)

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        for batch in self._open(path).read_batches(columns):
            yield from slices(batch, rows)

    def read_column_names(self, path: Path) -> list[str]:
        return self._open(path).column_names

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        import pyarrow
        from pyarrow import csv

        change = escape_table if escape else lambda batch: batch
        options = csv.WriteOptions(delimiter=self.delimiter or ",")
        compression = "gzip" if self.compressed else None
        with (
            pyarrow.output_stream(path, compression=compression) as stream,
            csv.CSVWriter(stream, change(schema.empty_table()).schema, write_options=options) as writer,
        ):
            yield lambda batch: writer.write(change(batch))

    def _open(self, path: Path) -> DelimitedFile:
        return DelimitedFile(
            path,
            delimiter=self.delimiter,
            compressed=self.compressed,
            block_bytes=self.block_bytes,
        )


def _delimited(ending: str, delimiter: str | None, *, compressed: bool = False) -> _Delimited:
    return _Delimited(
        ending=ending,
        first_row=2,
        row_note="the header is row 1",
        parse_text="all",
        delimiter=delimiter,
        compressed=compressed,
    )


CSV = _delimited(".csv", None)
CSV_GZ = _delimited(".csv.gz", None, compressed=True)
TSV = _delimited(".tsv", "\t")
TSV_GZ = _delimited(".tsv.gz", "\t", compressed=True)
