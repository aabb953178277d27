"""Find the columns that hold ids by their values: a column of the items holds the ids in two columns of the pairs.

Columns that the user names always win. Columns with usual names are tried first, but one that does not hold the ids
gives way to one that does. If two columns hold the ids and differ, that is an error.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.tabular.id_candidates import ItemColumns
from confdiff.tabular.id_search import IdSearch
from confdiff.tabular.roles import ID, check_column, check_roles, recognised
from confdiff.tabular.row_numbers import TableSource


@dataclass(frozen=True)
class IdColumns:
    """The columns that hold ids: one of the items, and two of the pairs (None if these were not found)."""

    id: str
    left: str | None = None
    right: str | None = None

    def with_roles(self, columns: Mapping[str, str | None] | None) -> dict[str, str | None]:
        """Return role -> column of the pairs: those that the user named, and those that were found."""
        return {**(columns or {}), "left": self.left, "right": self.right}


def find_id_columns(
    items: ItemColumns,
    pairs: Mapping[str, NDArray[Any]],
    *,
    pairs_source: TableSource,
    id: str | None = None,
    first: str | None = None,
    chosen: Mapping[str, str | None] | None = None,
) -> IdColumns:
    """Find the column of the items, and the two columns of the pairs, that hold the ids.

    Parameters
    ----------
    items
        The columns of the items.
    pairs
        The columns of the pairs, or of a sample of them, as ids.
    pairs_source
        The table of the pairs, for messages.
    id
        The column that the user named.
    first
        The column of ids that a model was fitted with; it is tried before the usual names.
    chosen
        Role -> the column of the pairs that the user named.

    Raises
    ------
    ValueError
        A column is missing, or several columns may hold the ids.
    """
    named = {role: column for role, column in (chosen or {}).items() if column is not None}
    check_roles(named)
    for role, column in named.items():
        check_column(pairs_source, pairs, column, role)
    if id is not None:
        check_column(items.source, items.names, id, "id")
    search = IdSearch(items, pairs, pairs_source, named, id, first)
    reading = search.by_name() or search.by_values()
    if reading is None and search.problem is not None:
        raise ValueError(search.problem)
    if reading is None:
        return IdColumns(
            name_of_ids(items, id=id, first=first, reason=", and none holds the ids of the pairs"),
            named.get("left"),
            named.get("right"),
        )
    return IdColumns(reading.id, reading.left, reading.right)


def name_of_ids(items: ItemColumns, *, id: str | None = None, first: str | None = None, reason: str = "") -> str:
    """Return the column of ids of the items by its name, without a look at values.

    Parameters
    ----------
    items, id, first
        As in :func:`find_id_columns`.
    reason
        Addition to the message of the error.

    Raises
    ------
    ValueError
        No column has a usual name.
    """
    if id is not None:
        return check_column(items.source, items.names, id, "id")
    name = None if first is None else recognised(items.names, (first,))
    if name is None:
        name = items.index if items.has_labels else recognised(items.names, ID) or items.index
    if name is None:
        raise ValueError(
            f"no column of {items.source} is named 'id'{reason}; the columns are {listed(items.names)}. "
            "Name the right one with id='...'."
        )
    return name
