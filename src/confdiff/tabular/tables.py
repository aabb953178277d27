"""Read items and judged pairs from files or data frames, and recognise their columns."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.io.lookup import find_rows
from confdiff.io.typed_table import TypedTable, read_typed_table, typed_frame
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import without_fractions
from confdiff.tabular.values import as_floats, check_ids
from confdiff.validation import check_choice

if TYPE_CHECKING:
    from confdiff.io.column_types.lattice import ColumnType

ID = ("id", "item", "item_id", "name", "key")
ROLES = {
    "left": ("left", "first", "a", "item_a", "item1", "item_1", "id1", "x"),
    "right": ("right", "second", "b", "item_b", "item2", "item_2", "id2", "x_prime"),
    "difference": ("difference", "c", "diff", "rating", "judgement", "judgment", "strength", "preference"),
    "weight": ("weight", "w"),
    "annotator": ("annotator", "annotator_id", "rater", "judge", "worker", "assessor"),
    "time": ("time", "timestamp", "date"),
    "group": ("group", "topic", "query", "prompt", "session"),
}
"""The roles of columns of pairs, each with the lower-case names by which its column is recognised."""

NEEDED = ("left", "right", "difference")
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ItemTable:
    """N items with their ids and columns.

    Attributes
    ----------
    source
        The name of the table in messages.
    ids
        (N,) unique ids.
    columns
        The columns, (N,) each, without the ids: values of their types, or as written.
    id_name
        The name of the column of ids.
    types
        Column -> its type, for the columns whose type is decided. The ids have one too.
    """

    source: TableSource
    ids: NDArray[Any]
    columns: Columns
    id_name: str = "id"
    types: dict[str, "ColumnType"] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def with_ids(self) -> "ItemTable":
        """Return the same table with the ids as a further column."""
        return replace(self, columns=self.columns | {self.id_name: self.ids})


@dataclass(frozen=True, eq=False)
class PairTable:
    """n judged pairs as read, neither checked against the items nor rescaled.

    Attributes
    ----------
    source
        The name of the table in messages.
    names
        Role -> the column that has it.
    left, right
        (n,) ids of the two items.
    difference
        (n,) judgements, NaN where one is missing.
    weight, annotator, time, group
        (n,), or None without such a column.
    """

    source: TableSource
    names: dict[str, str]
    left: NDArray[Any]
    right: NDArray[Any]
    difference: NDArray[np.float64]
    weight: NDArray[Any] | None = None
    annotator: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    group: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.left)

    def rows(self, items: ItemTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of the left and the right items, (n,) each; -1 where an id is missing or unknown."""
        return self._rows("left", items.ids), self._rows("right", items.ids)

    def _rows(self, role: str, ids: NDArray[Any]) -> NDArray[np.int64]:
        return find_rows(ids, getattr(self, role), name=f"{self.source}, column {self.names[role]!r}")


def read_items(source: Any, *, id: str | None = None, ignore: Iterable[str] = ()) -> ItemTable:
    """Read items from a file or a data frame.

    Parameters
    ----------
    source
        A path, a data frame, or a mapping from names to columns.
    id
        The column of ids. In a file, the default is a column with one of the names in :data:`ID`. In a data frame, it
        is the index, unless this only counts the rows and such a column exists.
    ignore
        Columns to leave out.

    Raises
    ------
    ValueError
        A column is missing, ids are missing or repeated, or the table is empty.
    """
    name, table = table_columns(source, "items")
    names = list(table.columns)
    if id is None and _index_holds_ids(source, names):
        id_name = str(source.index.name or "id")
        ids = TypedTable({id_name: source.index}).ids(id_name)
    else:
        id_name = _find_column(name, names, "id", id, ID)
        ids = table.ids(id_name)
        names.remove(id_name)
    for column in ignore:
        names.remove(check_column(name, names, column, "ignore"))
    if not names:
        raise ValueError(f"{name} must have at least one column besides the ids.")
    _check_not_empty(name, ids)
    ids = check_ids(name, ids)
    return ItemTable(
        source=name,
        ids=ids,
        columns={column: table.values(column) for column in names},
        id_name=id_name,
        types={id_name: "integer" if ids.dtype.kind == "i" else "text", **table.types(names)},
    )


def _index_holds_ids(source: Any, columns: list[str]) -> bool:
    """Return whether the index of a data frame holds the ids of its rows."""
    if not hasattr(source, "iloc"):  # only data frames of pandas have an index
        return False
    return _recognised(columns, ID) is None or list(source.index) != list(range(len(source)))


def choose_columns(
    source: TableSource, names: Iterable[str], id: str | None, ignore: Iterable[str]
) -> tuple[str, list[str]]:
    """Return the column of ids of a table of items, and the other columns that are not ignored."""
    columns = list(names)
    id_name = _find_column(source, columns, "id", id, ID)
    columns.remove(id_name)
    for column in ignore:
        columns.remove(check_column(source, columns, column, "ignore"))
    return id_name, columns


def read_judged(source: Any, **columns: str | None) -> PairTable:
    """Read judged pairs from a file or a data frame.

    Parameters
    ----------
    source
        A path, a data frame, or a mapping from names to columns.
    columns
        Role -> name of its column, such as ``left="arg1"``. Other columns are recognised by their names, see
        :data:`ROLES`.

    Raises
    ------
    ValueError
        A column is missing, has two roles or is not numeric where it must be, or the table is empty.
    """
    for role in columns:
        check_choice("role of a column", role, ROLES)
    name, table = table_columns(source, "pairs")
    names = _roles(name, table.columns, columns)
    values = {
        role: table.ids(column) if role in ("left", "right") else table.values(column) for role, column in names.items()
    }
    _check_not_empty(name, values["left"])
    values["difference"] = without_fractions(values["difference"])
    for role in ("difference", "weight"):
        if role in values:
            values[role] = as_floats(name, names[role], values[role])
    return PairTable(source=name, names=names, **values)


def _roles(source: TableSource, table: Iterable[str], chosen: Mapping[str, str | None]) -> dict[str, str]:
    """Return role -> column, for the roles that are needed, chosen or recognised."""
    names: dict[str, str] = {}
    for role, usual in ROLES.items():
        free = [column for column in table if column not in names.values()]
        if role in NEEDED or chosen.get(role) is not None:
            names[role] = _find_column(source, table, role, chosen.get(role), usual, free)
        else:
            column = _recognised(free, usual)
            if column is not None:
                names[role] = column
    repeated = [column for column, count in Counter(names.values()).items() if count > 1]
    if repeated:
        roles = " and ".join(f"{role}={column!r}" for role, column in names.items() if column == repeated[0])
        raise ValueError(f"{source}: one column cannot have two roles; got {roles}.")
    return names


def table_columns(source: Any, what: str) -> tuple[TableSource, TypedTable]:
    """Return the source of a table, for messages, and its columns.

    Parameters
    ----------
    source
        A path, a data frame (pandas, polars, pyarrow or another with an Arrow stream), or a mapping from names to
        columns.
    what
        Noun for the rows, such as ``"items"``.
    """
    if isinstance(source, str | PathLike):
        return TableSource.of_file(source), read_typed_table(Path(source))
    try:
        table = typed_frame(source)
    except ValueError as error:
        raise ValueError(f"the {what}: {error}") from error
    if table is None:
        hint = " Call its method collect() first." if hasattr(source, "collect") else ""
        raise ValueError(
            f"the {what} must be a path, a data frame or a mapping from names to columns; "
            f"got {type(source).__name__}.{hint}"
        )
    return TableSource(f"the {what}"), table


def _find_column(
    source: TableSource,
    columns: Iterable[str],
    role: str,
    chosen: str | None,
    usual: tuple[str, ...],
    free: Iterable[str] = (),
) -> str:
    """Return the column of a role: the chosen one, else the one with a usual name among the free columns."""
    if chosen is not None:
        return check_column(source, columns, chosen, role)
    column = _recognised(free or columns, usual)
    if column is None:
        raise ValueError(
            f"no column of {source} is named {role!r}; the columns are {listed(columns)}. "
            f"Name the right one with {role}='...'."
        )
    return column


def check_column(source: TableSource | Path, columns: Iterable[str], name: str, argument: str) -> str:
    """Check that a table has the column that an argument names, and return its name."""
    if name not in columns:
        raise ValueError(
            f"no column of {source} is named {name!r} ({argument}={name!r}); the columns are {listed(columns)}."
        )
    return name


def _check_not_empty(source: TableSource, column: NDArray[Any]) -> None:
    if not len(column):
        raise ValueError(f"{source} must have at least one row of data; got none.")


def _recognised(names: Iterable[str], usual: tuple[str, ...]) -> str | None:
    """Return the first usual name among the names, ignoring case and blanks around them."""
    by_name = {name.lower().strip(): name for name in names}
    return next((by_name[name] for name in usual if name in by_name), None)
