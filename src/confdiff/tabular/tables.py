"""Read items and judged pairs from files or data frames, and recognise their columns."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.batches import read_column_names
from confdiff.io.lookup import find_rows
from confdiff.io.typed_table import TypedTable, read_typed_table, typed_frame
from confdiff.tabular.answers import read_answers
from confdiff.tabular.faults import Fault, usable_ids
from confdiff.tabular.id_candidates import INDEX, IdValues, columns_of_table
from confdiff.tabular.id_columns import find_id_columns, name_of_ids
from confdiff.tabular.judgements import read_judgements, read_numbers
from confdiff.tabular.notation import Notation
from confdiff.tabular.roles import WINNER, check_column, pair_roles, recognised
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import Scale
from confdiff.tabular.values import check_ids

if TYPE_CHECKING:
    from confdiff.io.column_types.lattice import ColumnType

Columns = dict[str, NDArray[Any]]
_OPTIONAL = ("same", "weight", "annotator", "time", "group", "shown_first", "winner", "tie")  # roles of pairs


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
        The columns, (N,) each, without the ids: values of their types, or as written. Vectors are (N, d).
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

    def with_ids(self, name: str | None = None) -> "ItemTable":
        """Return the same table with the ids as a further column, of their own name if none is given."""
        return replace(self, columns=self.columns | {name or self.id_name: self.ids})


def id_type(ids: NDArray[Any]) -> "ColumnType":
    """Return the type of checked ids: integers or text."""
    return "integer" if ids.dtype.kind == "i" else "text"


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
        (n,) judgements, NaN where one is missing; positions of words, if the scale has words.
    notation
        How the judgements are written.
    written
        (n,) the cells that were read as judgements, unless they are plain numbers.
    same
        (n,) answers whether both items are of the same class, NaN where this was not asked; None
        without such a column.
    weight, annotator, time, group, shown_first, winner, tie
        (n,), or None without such a column.
    unused_winner
        A column with the usual name of winners that is not used, because there are differences; or None.
    """

    source: TableSource
    names: dict[str, str]
    left: NDArray[Any]
    right: NDArray[Any]
    difference: NDArray[np.float64]
    same: NDArray[np.float64] | None = None
    weight: NDArray[Any] | None = None
    annotator: NDArray[Any] | None = None
    time: NDArray[Any] | None = None
    group: NDArray[Any] | None = None
    shown_first: NDArray[Any] | None = None
    winner: NDArray[Any] | None = None
    tie: NDArray[Any] | None = None
    notation: Notation = "number"
    written: NDArray[Any] | None = None
    unused_winner: str | None = None

    def __len__(self) -> int:
        return len(self.left)

    def column(self, role: str) -> str:
        """Return the column of a role, for messages; without a difference, that of the winner or of the answer."""
        if role == "difference" and role not in self.names:
            return self.names.get("winner", self.names.get("same", self.names["right"]))
        return self.names[role]

    @property
    def winner_hint(self) -> str:
        """A sentence about a column of winners that is not used; empty without one."""
        if self.unused_winner is None:
            return ""
        name = repr(self.unused_winner)
        return f" The column {name} is not used. If it gives the signs of the differences, pass winner={name}."

    @property
    def names_winners(self) -> bool:
        """Whether columns say which item won, so that a difference is a size, on a scale around 0."""
        return "winner" in self.names or recognised([self.names["right"]], WINNER) is not None

    def rows(self, items: ItemTable) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the rows of the left and the right items, (n,) each; -1 where an id is missing or unknown."""
        return self._rows("left", items.ids), self._rows("right", items.ids)

    def _rows(self, role: str, ids: NDArray[Any]) -> NDArray[np.int64]:
        return find_rows(ids, getattr(self, role), name=f"{self.source}, column {self.names[role]!r}")


def read_comparisons(
    items: Any,
    pairs: Any,
    *,
    id: str | None = None,
    ignore: Iterable[str] = (),
    columns: Mapping[str, str | None] | None = None,
    faults: list[Fault] | None = None,
    first: str | None = None,
    scale: Scale | None = None,
) -> tuple[ItemTable, PairTable]:
    """Read items and judged pairs from files or data frames; the columns of ids are found by their values.

    Parameters
    ----------
    items, pairs
        Paths, data frames, or mappings from names to columns.
    id
        The column of ids of the items, or the name of the index of a data frame (``"index"`` if it has none). By
        default the column that holds the ids of the pairs, see :mod:`confdiff.tabular.id_columns`.
    ignore
        Columns of the items to leave out.
    columns
        Role -> column of the pairs. By default columns are recognised by their names, see
        :data:`~confdiff.tabular.roles.ROLES`, and those of the ids also by their values.
    faults
        A list to which cells that cannot be used are added, instead of an error for the first one.
    first
        The column of ids that a model was fitted with; it is tried before the usual names.
    scale
        The scale of the judgements, if it is given. Words can be read only with theirs.

    Raises
    ------
    ValueError
        A table cannot be used: a column is missing or ambiguous, ids are missing or repeated, or there are no rows.
    """
    item_source, item_columns = table_columns(items, "items")
    pair_source, pair_columns = table_columns(pairs, "pairs")
    left_out = _check_ignored(item_source, item_columns, ignore)
    found = find_id_columns(
        columns_of_table(item_source, item_columns, _index_of(items), left_out),
        IdValues(pair_columns),
        pairs_source=pair_source,
        id=id,
        first=first,
        chosen=columns,
    )
    return (
        _item_table(items, item_source, item_columns, found.id, left_out, faults),
        as_judged(pair_source, pair_columns, found.with_roles(columns), faults, scale=scale),
    )


def read_items(source: Any, *, id: str | None = None, ignore: Iterable[str] = ()) -> ItemTable:
    """Read items from a file or a data frame, without pairs that would show which column holds the ids.

    Parameters
    ----------
    source
        A path, a data frame, or a mapping from names to columns.
    id
        The column of ids. In a file, the default is a column with one of the names in
        :data:`~confdiff.tabular.roles.ID`. In a data frame, it is an index with a name or of text, then such a column,
        then any index.
    ignore
        Columns to leave out.

    Raises
    ------
    ValueError
        A column is missing, ids are missing or repeated, or the table is empty.
    """
    name, table = table_columns(source, "items")
    left_out = _check_ignored(name, table, ignore)
    id_name = name_of_ids(columns_of_table(name, table, _index_of(source), left_out), id=id)
    return _item_table(source, name, table, id_name, left_out)


def _check_ignored(source: TableSource, table: TypedTable, ignore: Iterable[str]) -> list[str]:
    return [check_column(source, table.columns, column, "ignore") for column in ignore]


def _index_of(source: Any) -> Any:
    """Return the index of a pandas data frame, or None for other tables and for an index of several levels."""
    index = getattr(source, "index", None) if hasattr(source, "iloc") else None
    return None if index is None or index.nlevels > 1 else index


def _item_table(
    source: Any,
    name: TableSource,
    table: TypedTable,
    id: str,
    left_out: Sequence[str],
    faults: list[Fault] | None = None,
) -> ItemTable:
    """Return the items with the ids that a column or the index of a data frame holds."""
    features = [column for column in table.columns if column not in (*left_out, id)]
    if not features:
        raise ValueError(
            f"{name} must have at least one column besides the ids. "
            "To score items without features, run `confdiff rank` on the pairs, or call rank_items."
        )
    if id in table.columns:
        check_one_value(name, table, id)
    ids = table.ids(id) if id in table.columns else TypedTable({id: _index_of(source)}).ids(id)
    _check_not_empty(name, ids)
    if faults is not None:
        ids = usable_ids(name, id, ids, faults)
    ids = check_ids(name, ids)
    if id == INDEX and not {"id", INDEX} & set(table.columns):
        id = "id"  # an index without a name
    return ItemTable(
        source=name,
        ids=ids,
        columns={column: table.values(column) for column in features},
        id_name=id,
        types={id: id_type(ids), **table.types(features)},
    )


def read_judged(source: Any, *, scale: Scale | None = None, **columns: str | None) -> PairTable:
    """Read judged pairs from a file or a data frame.

    Parameters
    ----------
    source
        A path, a data frame, or a mapping from names to columns.
    scale
        The scale of the judgements, if it is given. Words can be read only with theirs.
    columns
        Role -> name of its column, such as ``left="arg1"``. Other columns are recognised by their names, see
        :data:`~confdiff.tabular.roles.ROLES`.

    Raises
    ------
    ValueError
        A column is missing, has two roles or is not numeric where it must be, or the table is empty.
    """
    name, table = table_columns(source, "pairs")
    return as_judged(name, table, columns, scale=scale)


def as_judged(
    source: TableSource,
    table: TypedTable,
    columns: Mapping[str, str | None],
    faults: list[Fault] | None = None,
    *,
    scale: Scale | None = None,
) -> PairTable:
    """Return judged pairs from the columns of a table, see :func:`read_judged` and :func:`read_comparisons`."""
    names = pair_roles(source, table.columns, columns)
    for column in names.values():
        check_one_value(source, table, column)
    values = {
        role: table.ids(column) if role in ("left", "right", "shown_first", "winner") else table.values(column)
        for role, column in names.items()
    }
    _check_not_empty(source, values["left"])
    judgements = read_judgements(source, names, values, () if scale is None else scale.words, faults)
    if "same" in values:
        values["same"] = read_answers(source, names["same"], values["same"], faults)
    if "weight" in values:
        values["weight"] = read_numbers(source, names["weight"], values["weight"], faults)
    return PairTable(
        source=source,
        names=names,
        left=values["left"],
        right=values["right"],
        difference=judgements.values,
        notation=judgements.notation,
        written=judgements.written,
        unused_winner=recognised(set(table.columns) - set(names.values()), WINNER),
        **{role: values.get(role) for role in _OPTIONAL},
    )


def check_one_value(source: TableSource, table: TypedTable, column: str) -> None:
    """Check that a column that has a role does not hold vectors."""
    if table.type(column) == "vector":
        raise ValueError(f"{source}, column {column!r}, must hold one value per row; got vectors.")


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
    return TableSource(table.title or f"the {what}"), table


def column_names_of(source: Any) -> list[str]:
    """Return the names of the columns of items: of a file without reading all of it, or of a data frame."""
    if isinstance(source, str | PathLike):
        return read_column_names(Path(source))
    return list(table_columns(source, "items")[1].columns)


def _check_not_empty(source: TableSource, column: NDArray[Any]) -> None:
    if not len(column):
        raise ValueError(f"{source} must have at least one row of data; got none.")
