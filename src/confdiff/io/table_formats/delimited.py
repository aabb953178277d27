"""Text files with a header and a delimiter: CSV and TSV. Every column is read as text; an empty cell is null."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.table_format import TableFormat, slices


@dataclass(frozen=True)
class _Delimited(TableFormat):
    delimiter: str = ","

    def read(self, path: Path, columns: list[str] | None) -> Any:
        from pyarrow import csv

        return csv.read_csv(
            path,
            read_options=csv.ReadOptions(use_threads=False),  # with threads, messages of pyarrow lack the row
            parse_options=self._parse_options(),
            convert_options=self._convert_options(path, columns),
        )

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        from pyarrow import csv

        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=self.block_bytes),
            parse_options=self._parse_options(),
            convert_options=self._convert_options(path, columns),
        ) as reader:
            for batch in reader:
                yield from slices(batch, rows)

    def read_column_names(self, path: Path) -> list[str]:
        from pyarrow import csv

        with csv.open_csv(path, parse_options=self._parse_options()) as reader:
            return list(reader.schema.names)

    @contextmanager
    def open_writer(self, path: Path, schema: Any) -> Iterator[Callable[[Any], None]]:
        from pyarrow import csv

        with csv.CSVWriter(path, schema, write_options=csv.WriteOptions(delimiter=self.delimiter)) as writer:
            yield writer.write

    def _parse_options(self) -> Any:
        from pyarrow import csv

        return csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True)

    def _convert_options(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow
        from pyarrow import csv

        return csv.ConvertOptions(
            include_columns=columns,
            column_types=dict.fromkeys(self.read_column_names(path), pyarrow.string()),
            null_values=[""],
            strings_can_be_null=True,
        )


CSV = _Delimited(
    ending=".csv",
    first_row=2,
    row_note="the header is row 1",
    parse_text="all",
    delimiter=",",
)
TSV = _Delimited(
    ending=".tsv",
    first_row=2,
    row_note="the header is row 1",
    parse_text="all",
    delimiter="\t",
)
