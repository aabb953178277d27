"""Collect the judgements of a file as columns of items and of pairs, with each item once."""

import hashlib
import json
from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.formats.judgement import PROMPT, TEXT, Item, Judgement, Skipped
from confdiff.tabular.roles import ID, ROLES
from confdiff.tabular.tables import Columns

_SAME = "pairs of an item with itself"
_EMPTY = "pairs with an empty answer"
_OWN = ("annotator", "shown_first", "time", "seconds", "weight")  # columns with the meaning of their names
_GROUP = "group"  # has it, too, unless prompts are the groups
_PREFIX = "other_"  # of names that would give a column a role
_UNNAMED = "unnamed"
_LAST = (_GROUP, PROMPT)
_USUAL = frozenset(name for names in ROLES.values() for name in names) | set(ID)


class CollectedJudgements:
    """The judgements of a file, one after the other.

    Parameters
    ----------
    prompt_is_group, prompt_is_feature
        The uses of a prompt.

    Attributes
    ----------
    values
        The judgements as the format gives them.
    positions
        Their positions in the file.
    skipped
        What was skipped -> how often.
    left_out
        Keys of lists and objects, which columns cannot hold.
    """

    def __init__(self, *, prompt_is_group: bool, prompt_is_feature: bool) -> None:
        self.values: list[Any] = []
        self.positions: list[str] = []
        self.skipped: Counter[str] = Counter()
        self.left_out: dict[str, None] = {}
        self._prompt_is_group = prompt_is_group
        self._prompt_is_feature = prompt_is_feature
        self._items: dict[Any, dict[str, Any]] = {}
        self._ends: list[tuple[Any, Any]] = []
        self._columns: dict[str, list[Any]] = {}

    def add(self, part: Judgement | Skipped, position: str) -> None:
        """Add a judgement, or count what was skipped."""
        if isinstance(part, Skipped):
            self.skipped[part.what] += 1
            return
        left, left_values = self._item(part.left, part.prompt)
        right, right_values = self._item(part.right, part.prompt)
        if _is_empty(left_values) or _is_empty(right_values):
            self.skipped[_EMPTY] += 1
            return
        if left == right:
            self.skipped[_SAME] += 1
            return
        self._add_item(left, left_values, position)
        self._add_item(right, right_values, position)
        self._add_columns(part, left, right)
        self._ends.append((left, right))
        self.values.append(part.value)
        self.positions.append(position)

    def _item(self, item: Item, prompt: str) -> tuple[Any, dict[str, Any]]:
        """Return the id and the features of an item."""
        values = dict(item.values)
        if self._prompt_is_feature and values:
            values[PROMPT] = prompt
        return (_id_of(values) if item.id is None else item.id), values

    def _add_item(self, id: Any, values: dict[str, Any], position: str) -> None:
        if self._items.setdefault(id, values) != values:
            raise ValueError(f"{position}: the item {id!r} has other contents than in a record before.")

    def _add_columns(self, judgement: Judgement, left: Any, right: Any) -> None:
        is_grouped = self._prompt_is_group and bool(judgement.prompt)
        columns = {_column_name(name, is_grouped): value for name, value in judgement.columns.items()}
        if "shown_first" in columns:
            side = columns["shown_first"]
            columns["shown_first"] = {"left": left, "right": right}.get(str(side))
            if columns["shown_first"] is None:
                columns[f"{_PREFIX}shown_first"] = side
        if is_grouped:
            columns[_GROUP] = digest_of_prompt(judgement.prompt)
            columns[PROMPT] = judgement.prompt
        for name, value in columns.items():
            if isinstance(value, list | dict):
                self.left_out[name] = None
            elif value is not None:
                column = self._columns.setdefault(name, [])
                column.extend([None] * (len(self.values) - len(column)))
                column.append(value)

    def items(self) -> Columns:
        """Return the columns of the items: ids, and features if the file has them."""
        names = dict.fromkeys(name for values in self._items.values() for name in values)
        ids = _as_ids(list(self._items), self._ids_are_numbers())
        columns = {name: [values.get(name) for values in self._items.values()] for name in names}
        return {"id": ids} | {name: _as_column(cells) for name, cells in columns.items()}

    def pairs(self, differences: NDArray[np.float64]) -> Columns:
        """Return the columns of the pairs."""
        are_numbers = self._ids_are_numbers()
        pairs: Columns = {
            "left": _as_ids([left for left, _ in self._ends], are_numbers),
            "right": _as_ids([right for _, right in self._ends], are_numbers),
            "difference": differences,
        }
        for name in sorted(self._columns, key=_order):
            cells = self._columns[name] + [None] * (len(self.values) - len(self._columns[name]))
            pairs[name] = _as_ids(cells, are_numbers) if name == "shown_first" else _as_column(cells)
        return pairs

    def _ids_are_numbers(self) -> bool:
        """Return whether all ids are integers of 64 bits; otherwise all are texts."""
        return all(type(id) is int and -(2**63) <= id < 2**63 for id in self._items)


def _is_empty(values: dict[str, Any]) -> bool:
    """Return whether an item is a text without letters, which is a missing value in tables."""
    return TEXT in values and not str(values[TEXT]).strip()


def _id_of(values: dict[str, Any]) -> str:
    """Return an id for the contents of an item; that of a text is the same in all files."""
    if set(values) == {TEXT}:
        return _digest("t", values[TEXT])
    return _digest("t", json.dumps(values, sort_keys=True, default=str))


def _digest(letter: str, text: str) -> str:
    """Return a digest that begins with a letter, so that it is never read as a number."""
    return letter + hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def digest_of_prompt(prompt: str) -> str:
    """Return the group of the pairs of a prompt."""
    return _digest("p", prompt)


def _column_name(name: str, is_grouped: bool) -> str:
    """Return the name of a column of the pairs; a name with a meaning for confdiff gets a prefix.

    >>> _column_name("source", False), _column_name("rating", False), _column_name("group", True)
    ('source', 'other_rating', 'other_group')
    """
    if not name.strip():
        return _UNNAMED
    has_role = name.lower().strip() in _USUAL
    is_meant = name in _OWN or (name == _GROUP and not is_grouped)
    return f"{_PREFIX}{name}" if has_role and not is_meant else name


def source_name(name: str) -> str:
    """Return the name of a column in the file that it comes from.

    >>> source_name("other_rating"), source_name("other_end")
    ('rating', 'other_end')
    """
    plain = name.removeprefix(_PREFIX)
    return plain if plain.lower().strip() in _USUAL else name


def _order(name: str) -> int:
    """Return the place of a column: those with a role first, then others in their order, then the prompt."""
    if name in _LAST:
        return len(_OWN) + 1 + _LAST.index(name)
    return _OWN.index(name) if name in _OWN else len(_OWN)


def _as_ids(ids: list[Any], are_numbers: bool) -> NDArray[Any]:
    if are_numbers and None not in ids:
        return np.array(ids, dtype=np.int64)
    return _as_objects([id if id is None or are_numbers else str(id) for id in ids])


def _as_column(cells: list[Any]) -> NDArray[Any]:
    """Return cells as they are if all are numbers or all are flags, else as texts; a missing text is empty."""
    kinds = {type(cell) for cell in cells if cell is not None}
    if kinds in ({bool}, {int}):
        return _as_objects(cells)
    if kinds <= {int, float}:
        return np.array([np.nan if cell is None else cell for cell in cells], dtype=np.float64)
    return _as_objects(["" if cell is None else str(cell) for cell in cells])


def _as_objects(values: list[Any]) -> NDArray[Any]:
    """Return values as objects: an array of text would give each of them the length of the longest."""
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column
