"""A table of columns as written, and their values by THE typing decision."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.table_formats.registry import find_table_format
from confdiff.io.tables import read_arrow
from confdiff.io.vectors import as_vectors, check_not_nested, from_matrix

if TYPE_CHECKING:
    from confdiff.io.column_types.lattice import ColumnType, TextParsing


@dataclass(frozen=True, eq=False)
class TypedTable:
    """Columns as written, which are typed as a whole when they are used.

    Attributes
    ----------
    columns
        Name -> column: an Arrow array, a NumPy array, a pandas series or a list.
    parse_text
        Which cells of text may be other values, see :data:`~confdiff.io.column_types.lattice.TextParsing`.
    source
        Beginning of messages about a file, such as ``"items.csv, "``.
    title
        The name of the table in messages, such as ``"the items of jokes.db"``, if it is not a file.

    Examples
    --------
    >>> table = TypedTable({"age": ["30", "NA"], "zip": ["02139", "10001"]}, parse_text="all")
    >>> table.types()
    {'age': 'integer', 'zip': 'text'}
    >>> table.values("age")
    array([30., nan])
    """

    columns: Mapping[str, Any]
    parse_text: "TextParsing" = "none"
    source: str = ""
    title: str = ""
    _types: dict[str, "ColumnType"] = field(default_factory=dict, init=False)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return max(map(len, self.columns.values()), default=0)

    def type(self, name: str) -> "ColumnType":
        """Return the type of a column."""
        from confdiff.io.column_types.deciding import type_of

        if name not in self._types:
            check_not_nested(self.source, name, self.columns[name])
            self._types[name] = type_of(self.columns[name], self.parse_text)
        return self._types[name]

    def types(self, names: Iterable[str] | None = None) -> dict[str, "ColumnType"]:
        """Return the types of some columns, or of all."""
        return {name: self.type(name) for name in (self.columns if names is None else names)}

    def values(self, name: str) -> NDArray[Any]:
        """Return the values of a column as an array of its type, see :func:`~.column_types.converting.as_type`."""
        from confdiff.io.column_types.converting import as_type

        return as_type(self.columns[name], self.type(name), f"column {name!r}, row {{}}".format)

    def ids(self, name: str) -> NDArray[Any]:
        """Return a column as ids, see :func:`id_values`."""
        return id_values(self.columns[name], self.type(name))


def id_values(column: Any, type: "ColumnType") -> NDArray[Any]:
    """Return a column as ids: numbers as they are, otherwise the text as written; None or NaN where one is missing.

    Text is an integer only if all of the column is: the ids 1.1 and 1.10 of a text file differ.

    >>> id_values(["1.1", "1.10", ""], "number")
    array(['1.1', '1.10', None], dtype=object)
    """
    from confdiff.io.column_types.converting import as_type, canonical_text
    from confdiff.io.column_types.physical import as_arrow, is_text

    array = as_arrow(column)
    if type == "vector":
        raise ValueError("ids must be numbers or texts; got a column of vectors. Name another column.")
    if type == "integer" or (type == "number" and not is_text(array)):
        return as_type(array, type, "row {}".format)
    text = canonical_text(array, "text")
    text[text == ""] = None
    return text


def joined_ids(parts: Sequence[Any], parse_text: "TextParsing") -> NDArray[Any]:
    """Return the ids in a column that was read in parts, see :func:`id_values`."""
    type = joined_type(parts, parse_text)
    return np.concatenate([id_values(part, type) for part in parts])


def joined_column(parts: Sequence[Any], type: "ColumnType") -> Any:
    """Return a column that was read in parts as one Arrow array, whose values have a type that all parts can have."""
    import pyarrow

    from confdiff.io.column_types.converting import as_arrow_type

    return pyarrow.chunked_array([as_arrow_type(part, type, "row {}".format) for part in parts])


def joined_type(parts: Iterable[Any], parse_text: "TextParsing") -> "ColumnType":
    """Return the type of a column that was read in parts."""
    from confdiff.io.column_types.deciding import type_of
    from confdiff.io.column_types.lattice import join

    return join(*(type_of(part, parse_text) for part in parts))


def read_typed_table(path: Path, columns: list[str] | None = None) -> TypedTable:
    """Return a file, or some of its columns."""
    table = read_arrow(path, columns)
    return TypedTable(
        columns={name: as_vectors(table[name]) for name in table.column_names},
        parse_text=find_table_format(path).parse_text,
        source=f"{path}, ",
    )


def read_table(path: Path, columns: list[str] | None = None) -> dict[str, NDArray[Any]]:
    """Return the columns of a file as arrays of their types.

    Parameters
    ----------
    path : Path
        The table.
    columns : list of str, optional
        The columns to read; by default all.
    """
    table = read_typed_table(path, columns)
    return {name: table.values(name) for name in table.columns}


def typed_frame(source: Any) -> TypedTable | None:
    """Return a data frame (pandas, polars, pyarrow or another with an Arrow stream) or a mapping; None for others.

    A matrix is a table of vectors whose ids are the numbers of the rows, as in a ``.npy`` file.

    >>> typed_frame({"x": [1, 2]}).types(), typed_frame(np.ones((2, 3))).types()
    ({'x': 'integer'}, {'id': 'integer', 'vector': 'vector'})
    """
    if isinstance(source, TypedTable):
        return source
    if isinstance(source, np.ndarray) and source.ndim == 2 and source.dtype.kind in "iuf":
        return TypedTable({"id": np.arange(len(source)), "vector": from_matrix(source)})
    if hasattr(source, "iloc") and hasattr(source, "columns"):
        names = list(source.columns)
        columns = [source.iloc[:, position] for position in range(len(names))]
    elif isinstance(source, Mapping):
        names = list(source)
        columns = list(source.values())
    elif hasattr(source, "__arrow_c_stream__"):
        import pyarrow

        table = pyarrow.table(source)
        names = table.column_names
        columns = table.columns
    else:
        return None
    _check_distinct([str(name) for name in names])
    table = TypedTable({str(name): _as_column(str(name), column) for name, column in zip(names, columns, strict=True)})
    _check_lengths(table)
    return table


def _as_column(name: str, column: Any) -> Any:
    """Return a column of Arrow, pandas, NumPy or Python as it is, others as an array, and lists as vectors."""
    import pyarrow

    if not isinstance(column, pyarrow.Array | pyarrow.ChunkedArray | list) and not hasattr(column, "array"):
        try:
            column = np.asarray(column)
        except RuntimeError as error:  # of a tensor with a gradient, for example
            raise ValueError(f"column {name!r} cannot be read as an array: {error}") from error
    vectors = as_vectors(column)
    if getattr(vectors, "ndim", 1) != 1:
        raise ValueError(
            f"column {name!r} must hold one value or one vector of numbers per row; got an array of "
            f"{column.dtype} of shape {column.shape}."
        )
    return vectors


def _check_lengths(table: TypedTable) -> None:
    for name, column in table.columns.items():
        if len(column) != table.rows:
            raise ValueError(f"the columns must have one length; {name!r} has {len(column)} rows, others {table.rows}.")


def _check_distinct(names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"the columns must have unique names; {repeated[0]!r} is repeated.")


def is_frame(source: Any) -> bool:
    """Return whether a table is a data frame of pandas, polars, pyarrow or another library with Arrow streams."""
    return hasattr(source, "iloc") or hasattr(source, "__arrow_c_stream__")


def like_frame(source: Any, columns: Mapping[str, NDArray[Any]]) -> Any:
    """Return columns in the kind of data frame that ``source`` is: pandas with its index, polars, else pyarrow."""
    if hasattr(source, "iloc"):
        import pandas as pd

        return pd.DataFrame(dict(columns), index=source.index)
    import pyarrow

    table = pyarrow.table({name: pyarrow.array(column) for name, column in columns.items()})
    if type(source).__module__.split(".")[0] == "polars":
        import polars

        return polars.from_arrow(table)
    return table
