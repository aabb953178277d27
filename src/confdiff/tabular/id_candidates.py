"""The columns of tables that may hold ids, from data frames, files and streams."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.batches import read_batches, read_column_names
from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.typed_table import TypedTable
from confdiff.tabular.row_numbers import TableSource

INDEX = "index"
"""The name of the index of a data frame that has no name of its own."""

_NO_IDS = np.empty(0, dtype=np.int64)


class IdValues(Mapping[str, NDArray[Any]]):
    """The values of the columns of a table as ids; none for a column that cannot hold ids.

    >>> values = IdValues(TypedTable({"sku": ["a", "b"], "price": [0.5, 1.0]}))
    >>> values["sku"], values["price"]
    (array(['a', 'b'], dtype=object), array([], dtype=int64))
    """

    def __init__(self, table: TypedTable) -> None:
        self.table = table

    def __getitem__(self, name: str) -> NDArray[Any]:
        if self.table.type(name) in ("empty", "flag", "duration", "vector"):
            return _NO_IDS
        if self.table.type(name) == "number" and not _is_whole(self.table.values(name)):
            return _NO_IDS
        return self.table.ids(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.table.columns)

    def __len__(self) -> int:
        return len(self.table.columns)


def _is_whole(numbers: NDArray[Any]) -> bool:
    return bool(np.all((numbers % 1 == 0) | ~np.isfinite(numbers)))


@dataclass(frozen=True, eq=False)
class ItemColumns:
    """The columns of the items that may hold ids.

    Attributes
    ----------
    source
        The table of the items, for messages.
    names
        The columns, with the name of the index of a data frame.
    read
        Function that returns the values of some columns, in batches of rows.
    index
        The name of the index of a data frame, if it may hold ids.
    has_labels
        Whether the index has a name or holds text. Otherwise it may only count the rows.
    """

    source: TableSource
    names: Sequence[str]
    read: Callable[[Sequence[str]], Iterable[Mapping[str, NDArray[Any]]]]
    index: str | None = None
    has_labels: bool = False


def columns_of_file(path: Path, ignore: Iterable[str] = ()) -> ItemColumns:
    """Return the columns of a file, which is read in batches; those to ignore are left out."""
    parse_text = find_table_format(path).parse_text
    names = [name for name in read_column_names(path) if name not in ignore]

    def read(wanted: Sequence[str]) -> Iterator[IdValues]:
        for batch in read_batches(path, wanted):
            yield IdValues(TypedTable({name: batch.column(name) for name in wanted}, parse_text))

    return ItemColumns(source=TableSource.of_file(path), names=names, read=read)


def columns_of_table(source: TableSource, table: TypedTable, index: Any, ignore: Iterable[str] = ()) -> ItemColumns:
    """Return the columns of a table in memory without those to ignore, and the index of its data frame, if any."""
    columns = {name: column for name, column in table.columns.items() if name not in ignore}
    if index is None:
        values = IdValues(TypedTable(columns, table.parse_text))
        return ItemColumns(source=source, names=list(columns), read=lambda names: [values])
    key = index_name(index, table.columns)
    values = IdValues(TypedTable({**columns, key: index}, table.parse_text))
    return ItemColumns(
        source=source,
        names=list(values),
        read=lambda names: [values],
        index=key,
        has_labels=index.name is not None or index.dtype.kind not in "iu",
    )


def index_name(index: Any, columns: Iterable[str]) -> str:
    """Return the name of an index of pandas, which must not be that of a column."""
    names = (str(INDEX if index.name is None else index.name), INDEX, "the index")
    return next(name for name in names if name not in columns)
