"""Search three columns that hold the same ids: one of the items and two of the pairs."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.io.lookup import distinct_ids, exact_ids, find_rows
from confdiff.tabular.id_candidates import ItemColumns
from confdiff.tabular.roles import ID, LOSER, OF_WINNERS, ROLES, recognised
from confdiff.tabular.row_numbers import TableSource

_MOST = 0.5  # a column that holds this fraction of the ids is probably meant, though some ids are wrong
_REPEATED = 0.5  # a column that repeats more of the ids is a category, not a column of ids with repeated rows
_SIDES = (("left", "right"), ("a", "b"), ("first", "second"), ("1", "2"), ("i", "j"), ("one", "two"), ("0", "1"))
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]+|\d+")
_Couple = Callable[[str, float], tuple[str, str] | None]


@dataclass(frozen=True)
class Reading:
    """Three columns that may hold ids, and the fraction of the ids of the pairs that the items have."""

    id: str
    left: str
    right: str
    held: float


class IdSearch:
    """The search for three columns that hold the same ids.

    Parameters
    ----------
    items
        The columns of the items.
    pairs
        The columns of the pairs as ids.
    pairs_source
        The table of the pairs, for messages.
    named
        Role -> the column of the pairs that the user named.
    id
        The column of the items that the user named, or None.
    first
        A column of the items that is tried before all others, or None.
    """

    def __init__(
        self,
        items: ItemColumns,
        pairs: Mapping[str, NDArray[Any]],
        pairs_source: TableSource,
        named: Mapping[str, str],
        id: str | None,
        first: str | None,
    ) -> None:
        self.items = items
        self.pairs = pairs
        self.pairs_source = pairs_source
        self.named = named
        self.problem: str | None = None
        self.first = None if first is None or id is not None else recognised(items.names, (first,))
        self.usual = [id] if id is not None else self._usual()
        counter = None if items.has_labels else items.index
        self.others = [name for name in items.names if id is None and name not in (*self.usual, counter)]
        self.counter = [] if id is not None or counter is None or counter in self.usual else [counter]

    def _usual(self) -> list[str]:
        """Return the columns of the items with a usual name for ids, and an index that is more than a counter."""
        names = [name for name in self.items.names if name.lower().strip() in ID and name != self.items.index]
        if self.first is not None and self.first not in names:
            names.insert(0, self.first)
        return [*names, self.items.index] if self.items.index is not None and self.items.has_labels else names

    def by_name(self) -> Reading | None:
        """Return the columns that hold ids, if those of the pairs have usual names."""
        taken = self.named.values()
        sides = [
            self.named.get(role) or recognised([name for name in self.pairs if name not in taken], ROLES[role])
            for role in ("left", "right")
        ]
        left, right = sides
        if left is None or right is None:
            return None
        return self._decide(lambda name, least: (left, right))

    def by_values(self) -> Reading | None:
        """Return the columns that hold ids, where those of the pairs are found by their values."""
        return self._decide(self._couple)

    def _decide(self, couple: _Couple) -> Reading | None:
        """Choose among the columns of the items, given the columns of the pairs whose ids each of them may hold."""
        usual = self._readings(self.usual, couple)
        complete = [reading for reading in usual if reading.held == 1]
        if complete:
            return self._only([reading for reading in complete if reading.id == self.first] or complete)
        others = self._readings(self.others, couple)
        rivals = [reading for reading in others if reading.held == 1]
        partial = _best(usual)
        if partial is not None:
            return self._only([partial, *rivals])
        columns = rivals or [reading for reading in [_best(others)] if reading is not None]
        counter = [reading for reading in self._readings(self.counter, couple) if reading.held == 1 or not columns]
        candidates = [*columns, *counter]
        return self._only(candidates) if candidates else None

    def _readings(self, names: Sequence[str], couple: _Couple) -> list[Reading]:
        """Return the readings of these columns of the items that hold at least half of the ids."""
        self._count(names)
        readings = []
        for name in names:
            sides = couple(name, 1.0) or couple(name, _MOST)
            held = 0.0 if sides is None else min(self._held(name, side) for side in sides)
            if sides is not None and held >= _MOST:
                readings.append(Reading(id=name, left=sides[0], right=sides[1], held=held))
        return readings

    def _only(self, readings: Sequence[Reading]) -> Reading:
        """Return the first reading; the others must have the same ids."""
        names = [reading.id for reading in readings]
        if len(names) > 1 and not self._are_equal(names):
            shown = [_percent(reading, self.items) for reading in readings]
            raise ValueError(
                f"several columns of {self.items.source} may hold the ids of the pairs: {listed(shown)}. "
                "Name the right one with id='...'."
            )
        return readings[0]

    def _are_equal(self, names: Sequence[str]) -> bool:
        for batch in self.items.read(names):
            columns = [exact_ids(batch[name]) for name in names]
            if not all(np.array_equal(columns[0], column) for column in columns[1:]):
                return False
        return True

    def _couple(self, name: str, least: float) -> tuple[str, str] | None:
        """Return the left and the right column of the pairs whose ids a column of the items holds."""
        holders = [column for column in self._ids if self._held(name, column) >= least]
        couples = self._couples(holders)
        if len(couples) == 1:
            return couples[0]
        if len(holders) >= 2 and least == 1:
            self.problem = (
                f"the columns {listed(map(repr, holders))} of {self.pairs_source} hold ids of {self.items.source}: "
                "name the first and the second item of a pair with left='...' and right='...'. The difference is that "
                "of the second minus the first."
            )
            if name in self.usual:
                raise ValueError(self.problem)
        return None

    def _couples(self, holders: Sequence[str]) -> list[tuple[str, str]]:
        """Return the possible left and right columns; names such as a and b decide where several are possible."""
        left = self.named.get("left")
        right = self.named.get("right")
        if left is None and right is None and len(holders) == 2:
            left = recognised(holders, ROLES["left"])
            right = None if left is not None else recognised(holders, ROLES["right"])
        if left is not None:
            couples = [(left, right)] if right is not None else [(left, name) for name in holders if name != left]
        elif right is not None:
            couples = [(name, right) for name in holders if name != right]
        else:
            return [couple for couple in map(ordered_sides, combinations(holders, 2)) if couple is not None]
        return couples if len(couples) == 1 else [couple for couple in couples if ordered_sides(couple) == couple]

    @cached_property
    def _ids(self) -> dict[str, NDArray[Any]]:
        """The distinct ids in each column of the pairs that may hold ids."""
        taken = [column for role, column in self.named.items() if role not in ("left", "right")]
        free = [name for name in self.pairs if name not in taken]
        for role in self._roles_by_name():
            taken.append(recognised([name for name in free if name not in self.named.values()], ROLES[role]) or "")
        columns = {name: _distinct(self.pairs[name]) for name in free if name not in taken}
        return {name: ids for name, ids in columns.items() if len(ids)}

    def _roles_by_name(self) -> list[str]:
        """Return the roles, other than those of ids, whose columns are recognised by name.

        A column of winners has a role only if there is neither a difference nor a column of losers.
        """
        has_difference = "difference" in self.named or recognised(self.pairs, ROLES["difference"]) is not None
        excluded = {"left", "right", *self.named}
        if has_difference or recognised(self.pairs, LOSER) is not None:
            excluded |= set(OF_WINNERS)
        return [role for role in ROLES if role not in excluded]

    @cached_property
    def _wanted(self) -> NDArray[Any]:
        return distinct_ids(*self._ids.values()) if self._ids else np.empty(0, dtype=np.int64)

    @cached_property
    def _positions(self) -> dict[str, NDArray[np.int64]]:
        """The position of the ids of each column of the pairs among all ids that are looked for."""
        return {name: find_rows(self._wanted, ids) for name, ids in self._ids.items()}

    @cached_property
    def _counts(self) -> dict[str, NDArray[np.int64]]:
        """How often each id that is looked for occurs in a column of the items; filled by :meth:`_count`."""
        return {}

    def _count(self, names: Sequence[str]) -> None:
        new = [name for name in names if name not in self._counts]
        self._counts.update({name: np.zeros(len(self._wanted), dtype=np.int64) for name in new})
        for batch in self.items.read(new) if new else ():
            for name in new:
                self._counts[name] += _occurrences(self._wanted, batch[name])

    def _held(self, name: str, side: str) -> float:
        """Return the fraction of the ids in a column of the pairs that a column of the items holds."""
        if side not in self._positions:
            return 0.0
        counts = self._counts[name][self._positions[side]]
        if name not in self.usual and np.mean(counts > 1) > _REPEATED:
            return 0.0
        return float(np.mean(counts > 0))


def ordered_sides(names: tuple[str, str]) -> tuple[str, str] | None:
    """Return the left and the right of two columns whose names differ in one word, such as a and b; else None.

    >>> ordered_sides(("patient_b", "patient_a")), ordered_sides(("home", "away"))
    (('patient_a', 'patient_b'), None)
    """
    words = [_WORD.findall(_CAMEL.sub(" ", name).lower()) for name in names]
    if len(words[0]) != len(words[1]):
        return None
    different = [pair for pair in zip(*words, strict=True) if pair[0] != pair[1]]
    if len(different) != 1:
        return None
    if different[0] in _SIDES:
        return names
    return (names[1], names[0]) if different[0][::-1] in _SIDES else None


def _best(readings: Sequence[Reading]) -> Reading | None:
    return max(readings, key=lambda reading: reading.held, default=None)


def _percent(reading: Reading, items: ItemColumns) -> str:
    name = repr(reading.id) + (" (the index)" if reading.id == items.index else "")
    return f"{name} ({'all' if reading.held == 1 else f'{100 * reading.held:.3g} %'} of them)"


def _distinct(column: NDArray[Any]) -> NDArray[Any]:
    """Return the distinct ids of a column; none if they are not exact."""
    try:
        return distinct_ids(column)
    except ValueError:
        return column[:0]


def _occurrences(wanted: NDArray[Any], column: NDArray[Any]) -> NDArray[np.int64]:
    """Count how often each wanted id occurs in a column; never, if its ids are not exact."""
    try:
        rows = find_rows(wanted, column)
    except ValueError:
        return np.zeros(len(wanted), dtype=np.int64)
    return np.bincount(rows[rows >= 0], minlength=len(wanted))
