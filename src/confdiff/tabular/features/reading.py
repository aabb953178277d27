"""Read the columns of items by the types that a model has learned."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.column_types.converting import as_type, canonical_text
from confdiff.io.column_types.lattice import ColumnType
from confdiff.io.vectors import check_not_nested, holds_vectors
from confdiff.tabular.features.computing.vector_function import VectorFunction
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
    if kind in ("vector", "encoded"):
        return "vector" if kind == "vector" else "text"
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
    functions
        Column -> the function that returns the vectors of its cells.
    """

    table: ItemTable
    types: Mapping[str, ColumnType]
    rows: NDArray[np.int64] | None = None
    functions: Mapping[str, VectorFunction] = field(default_factory=dict)

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
        column = self.table.columns[name]
        check_not_nested(f"{self.source}, ", name, column, self.source.first_row)
        if self.types[name] != "vector" and holds_vectors(column):
            raise ValueError(f"{self.source}, column {name!r}: must hold texts or numbers; got vectors.")
        return self._chosen(canonical_text(column, self.types[name]))

    def vectors(self, name: str, length: int | None = None) -> NDArray[np.float32]:
        """Return a column of vectors as a matrix (N, d), with a row of NaN where a vector is missing.

        Parameters
        ----------
        name : str
            The column. Its vectors are in the table, or those that its function returns for the cells.
        length : int, optional
            The number of dimensions in training.
        """
        if name in self.functions:
            vectors = self.functions[name].vectors(self.text(name), self._place(name))
        else:
            check_not_nested(f"{self.source}, ", name, self.table.columns[name], self.source.first_row)
            vectors = as_type(self.table.columns[name], "vector", self.source.cell(name))
            vectors = self._chosen(_checked(vectors, self.source, name))
        if length is not None and not vectors.shape[1]:
            return np.full((len(vectors), length), np.nan, dtype=np.float32)  # all are missing
        if length not in (None, vectors.shape[1]):
            raise ValueError(
                f"{self.source}, column {name!r}: must hold vectors of {length:,} numbers, as in training; "
                f"got {vectors.shape[1]:,}."
            )
        return vectors

    def _place(self, name: str) -> Callable[[int], str]:
        """Return the place in the table of a row that was chosen."""
        place = self.source.cell(name)
        rows = self.rows
        return place if rows is None else lambda row: place(int(rows[row]))

    def _chosen(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.rows is None else values[self.rows]


def _checked(vectors: NDArray[np.float32], source: TableSource, name: str) -> NDArray[np.float32]:
    """Check that vectors are finite; a vector of which all numbers are NaN is a missing one."""
    with np.errstate(over="ignore", invalid="ignore"):
        suspects = np.flatnonzero(~np.isfinite(vectors.sum(axis=1)))
    for row in suspects.tolist():
        bad = np.flatnonzero(~np.isfinite(vectors[row]))
        if len(bad) and not np.isnan(vectors[row]).all():
            raise ValueError(
                f"{source.cell(name)(row)}: the numbers of a vector must be finite; got {vectors[row, bad[0]]} at "
                f"position {bad[0]}. Leave the cell empty if the vector is missing."
            )
    return vectors


def _as_floats(values: NDArray[Any]) -> NDArray[np.float64]:
    if values.dtype.kind == "M":
        values = values - np.datetime64(0, "D")
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / _DAY)
    if values.dtype == object:
        values = np.array([np.nan if value is None else value for value in values.tolist()])
    return values.astype(np.float64, copy=False)
