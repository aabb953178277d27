"""Read items and judged pairs in order to write them as a file of another tool."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import distinct_ids
from confdiff.io.typed_table import TypedTable
from confdiff.tabular.comparisons import compare
from confdiff.tabular.formats.collecting import digest_of_prompt, source_name
from confdiff.tabular.formats.judgement import PROMPT, Item, Judgement
from confdiff.tabular.roles import OF_WINNERS, ROLES, recognised
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import parse_scale
from confdiff.tabular.sides import shown_sides
from confdiff.tabular.tables import ItemTable, PairTable, as_judged, read_comparisons, table_columns
from confdiff.tabular.values import is_missing

_DIFFERENCE = "difference"
_GROUP = "group"
_DERIVED = ("left", "right", _DIFFERENCE, "shown_first", *OF_WINNERS)  # roles that are not copied
_SIDES = {1: "left", -1: "right", 0: None}


@dataclass(frozen=True, eq=False)
class JudgedTable:
    """Items, and n pairs on the scale from -1 to 1, with all columns of the pairs.

    Attributes
    ----------
    items
        The items; without columns if only ids are known.
    rows
        The rows of the left and the right items, (n,) each.
    difference
        (n,) in [-1, 1]; NaN where there is none.
    needs_differences
        Whether pairs without a difference are left out.
    columns
        Further columns of the pairs, (n,) each; None where a cell is missing.
    """

    items: ItemTable
    rows: tuple[NDArray[np.int64], NDArray[np.int64]]
    difference: NDArray[np.float64]
    needs_differences: bool
    columns: dict[str, list[Any]]

    def __len__(self) -> int:
        return len(self.difference)

    @property
    def n_judged(self) -> int:
        """The number of pairs that are written."""
        return int(np.count_nonzero(~np.isnan(self.difference))) if self.needs_differences else len(self)

    def count_rounded(self, points: int | None) -> int:
        """Return the number of differences that are not on a scale with points from "equal" to either end."""
        if points is None:
            return 0
        distance = np.abs(self.difference * points - np.round(self.difference * points))
        return int(np.count_nonzero(distance > 1e-6))

    def judgements(self) -> Iterator[Judgement]:
        """Yield the pairs."""
        items = {name: _cells(column) for name, column in self.items.columns.items()}
        ids = self.items.ids.tolist()
        for pair, (left, right) in enumerate(zip(*(rows.tolist() for rows in self.rows), strict=True)):
            if self.needs_differences and np.isnan(self.difference[pair]):
                continue
            sides = [Item({name: cells[row] for name, cells in items.items()}, ids[row]) for row in (left, right)]
            columns = {name: cells[pair] for name, cells in self.columns.items() if cells[pair] is not None}
            prompt = str(columns.pop(PROMPT, None) or sides[0].values.get(PROMPT) or "")
            if columns.get(_GROUP) == digest_of_prompt(prompt):
                del columns[_GROUP]  # which is made of the prompt again
            yield Judgement(
                left=sides[0],
                right=sides[1],
                value=float(self.difference[pair]),
                prompt=prompt,
                columns=columns,
            )


def read_judged_table(
    items: Any,
    pairs: Any,
    *,
    needs_differences: bool,
    id: str | None,
    columns: Mapping[str, str | None],
    scale: Any,
) -> JudgedTable:
    """Read items and judged pairs.

    Parameters
    ----------
    items, pairs
        Paths, data frames, or mappings of columns; the items may be None.
    needs_differences
        Whether the pairs must be judged.
    id
        The column of ids of the items; recognised if None.
    columns
        Role -> column of the pairs, or None.
    scale
        The scale of the differences; recognised if None.
    """
    source, table = table_columns(pairs, "pairs")
    if not needs_differences and not _is_judged(table, columns):
        # questions need no answers: those that the reader of judged pairs asks for are not written
        table = TypedTable({**table.columns, _DIFFERENCE: np.zeros(table.rows)}, title=str(source))
        pairs = table
    given = None if scale is None else parse_scale(scale)
    if items is None:
        judged = as_judged(source, table, columns, scale=given)
        ids = distinct_ids(judged.left, judged.right)
        item_table = ItemTable(source=TableSource("the items"), ids=ids, columns={})
    else:
        item_table, judged = read_comparisons(items, pairs, id=id, columns=columns, scale=given)
    compared = compare(item_table, judged, given)
    difference = compared.scale.differences(judged.difference).clip(-1, 1) + 0.0
    return JudgedTable(
        items=item_table,
        rows=judged.rows(item_table),
        difference=difference,
        needs_differences=needs_differences,
        columns=_copied_columns(table, judged),
    )


def _is_judged(table: TypedTable, columns: Mapping[str, str | None]) -> bool:
    roles = (_DIFFERENCE, "same", *OF_WINNERS)
    return columns.get(_DIFFERENCE) is not None or any(recognised(table.columns, ROLES[role]) for role in roles)


def _copied_columns(table: TypedTable, judged: PairTable) -> dict[str, list[Any]]:
    """Return the columns that are copied, those of annotators and sides under the names of their roles."""
    derived = {judged.names[role] for role in _DERIVED if role in judged.names} - {PROMPT}
    roles = {column: role for role, column in judged.names.items()}
    columns = {
        PROMPT if name == PROMPT else roles.get(name, source_name(name)): _typed_cells(table, name)
        for name in table.columns
        if name not in derived
    }
    sides = shown_sides(judged)
    if sides is not None:
        columns["shown_first"] = [_SIDES[side] for side in sides.tolist()]
    return columns


def _typed_cells(table: TypedTable, name: str) -> list[Any]:
    cells = _cells(table.values(name))
    return [None if cell is None else int(cell) for cell in cells] if table.type(name) == "integer" else cells


def _cells(column: NDArray[Any]) -> list[Any]:
    """Return cells that JSON can hold: None where one is missing, and times as text."""
    cells = np.datetime_as_string(column).tolist() if column.dtype.kind == "M" else column.tolist()
    return [None if missing else cell for cell, missing in zip(cells, is_missing(column).tolist(), strict=True)]
