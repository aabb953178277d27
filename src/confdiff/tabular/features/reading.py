"""Read the columns of items by the types that a model has learned."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.column_types.converting import as_type, canonical_text
from confdiff.io.column_types.lattice import ColumnType
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import ItemTable
from confdiff.validation import check_finite, check_size

NUMERIC_KINDS = ("number", "flag", "time")
"""Kinds of columns that are encoded as numbers."""

_DAY = np.timedelta64(1, "D")
_DECLARED: dict[str, ColumnType] = {"number": "number", "flag": "flag", "time": "time"}


def type_to_read(kind: str, type: ColumnType) -> ColumnType:
    """Return the type by which a column of a kind is read, if its values have a type.

    Numbers may become decimals after training, and a column of text may be declared to be of another kind.

    >>> type_to_read("number", "integer"), type_to_read("time", "text"), type_to_read("category", "integer")
    ('number', 'time', 'integer')
    """
    if kind not in NUMERIC_KINDS:
        return "text" if type == "empty" else type
    if type in ("empty", "text"):
        return _DECLARED[kind]
    return "number" if type == "integer" else type


@dataclass(frozen=True, eq=False)
class FeatureColumns:
    """The columns of N items, read by the types of a model.

    Attributes
    ----------
    table
        The items, whose columns may be of any kind.
    types
        Column -> the type by which it is read.
    rows
        The rows to return; all if None. Other rows are checked too.
    """

    table: ItemTable
    types: Mapping[str, ColumnType]
    rows: NDArray[np.int64] | None = None

    @property
    def source(self) -> TableSource:
        """The name of the table in messages."""
        return self.table.source

    def __len__(self) -> int:
        return len(self.table) if self.rows is None else len(self.rows)

    def numbers(self, name: str) -> NDArray[np.float64]:
        """Return a column as floats, NaN where a value is missing. Times are days since 1970, durations are days."""
        values = as_type(self.table.columns[name], self.types[name], self.source.cell(name))
        numbers = _as_floats(values)
        present = np.where(np.isnan(numbers), 0, numbers)
        check_finite(self.source.column(name), present, start=self.source.first_row)
        check_size(self.source.column(name), present, start=self.source.first_row)
        return self._chosen(numbers)

    def text(self, name: str) -> NDArray[Any]:
        """Return the canonical text of a column, empty where a value is missing."""
        return self._chosen(canonical_text(self.table.columns[name], self.types[name]))

    def _chosen(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.rows is None else values[self.rows]


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind == "M":
        values = values - np.datetime64(0, "D")
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / _DAY)
    if values.dtype == object:
        values = np.array([np.nan if value is None else value for value in values.tolist()])
    return values.astype(np.float64, copy=False)
