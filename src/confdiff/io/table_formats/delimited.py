"""Text files with a header and a delimiter: CSV and TSV."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from confdiff.io.table_formats.table_format import TableFormat, fixed_types, slices


@dataclass(frozen=True)
class _Delimited(TableFormat):
    delimiter: str = ","

    def read(self, path: Path, columns: list[str] | None) -> Any:
        from pyarrow import csv

        return csv.read_csv(
            path,
            read_options=csv.ReadOptions(use_threads=False),  # with threads, messages of pyarrow lack the row
            parse_options=self._parse_options(),
            convert_options=csv.ConvertOptions(include_columns=columns),
        )

    def read_batches(self, path: Path, types: Mapping[str, Any], rows: int) -> Iterator[Any]:
        from pyarrow import csv

        with csv.open_csv(
            path,
            read_options=csv.ReadOptions(block_size=self.block_bytes),
            parse_options=self._parse_options(),
            convert_options=csv.ConvertOptions(include_columns=list(types), column_types=fixed_types(types)),
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


CSV = _Delimited(
    ending=".csv",
    first_row=2,
    row_note="the header is row 1",
    guesses_types=True,
    delimiter=",",
)
TSV = _Delimited(
    ending=".tsv",
    first_row=2,
    row_note="the header is row 1",
    guesses_types=True,
    delimiter="\t",
)
