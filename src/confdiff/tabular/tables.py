"""Items and judged pairs as people have them: files or data frames, columns named or recognised.

Rows are counted from 0, as pandas does, without a header.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import first_repeated, places_of
from confdiff.io.tables import read_table
from confdiff.validation import as_array, check_choice

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
"""What a column of pairs can be -> the names, in small letters, by which it is recognised."""

NEEDED = ("left", "right", "difference")
Columns = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class ItemTable:
    """Items: what they are called and what is known about each.

    source: the file, or what it is called in messages. ids: (N,). columns: (N,) each, as they came, without the ids.
    id_name: what the column of the ids is called.
    """

    source: str
    ids: NDArray[Any]
    columns: Columns
    id_name: str = "id"

    def __len__(self) -> int:
        return len(self.ids)

    def with_ids(self) -> "ItemTable":
        """The same with the ids as one column more."""
        return replace(self, columns=self.columns | {self.id_name: self.ids})


@dataclass(frozen=True, eq=False)
class PairTable:
    """Judged pairs as they came: nothing is checked against the items yet, and the scale is whatever it is.

    names: which column was taken for what. left, right: (n,) ids. difference: (n,) numbers, NaN where none was given.
    weight, annotator, time, group: (n,), where there are such columns.
    """

    source: str
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
        """The row numbers of both items of each pair; -1 where an id is not among the items, or missing."""
        left, right = (_same_kind(column, items.ids) for column in (self.left, self.right))
        return places_of(left, items.ids), places_of(right, items.ids)


def read_items(source: Any, *, id: str | None = None, ignore: Iterable[str] = ()) -> ItemTable:
    """Items from a file or a data frame.

    id: the column of the ids; if not given, the index of a data frame, and where that only counts the rows, or in a
        file, a column that is called so. ignore: columns that are left out.
    """
    name, columns = columns_of(source, "items")
    if id is None and _has_names(source, columns):
        index, id_name = np.asarray(source.index), str(source.index.name or "id")
    else:
        id_name = _the_column(name, columns, "id", id, ID)
        index = columns.pop(id_name)
    for left_out in ignore:
        _check_there(name, columns, left_out, "--ignore")
        del columns[left_out]
    if not columns:
        raise ValueError(f"{name} must have at least one column beside the ids.")
    if not len(index):
        raise ValueError(f"{name} must have at least one row below its header.")
    return ItemTable(name, take_ids(name, index), columns, id_name)


def _has_names(source: Any, columns: Columns) -> bool:
    """Whether the index of a data frame are the ids of its rows."""
    if not hasattr(source, "index"):
        return False
    return _recognised(columns, ID) is None or list(source.index) != list(range(len(source)))


def recognised_id(source: Any, names: Iterable[str]) -> str:
    """The column of the ids among these."""
    return _the_column(str(source), dict.fromkeys(names, np.empty(0)), "id", None, ID)


def read_judged(source: Any, **named: str | None) -> PairTable:
    """Judged pairs from a file or a data frame.

    named: which column is what, such as ``left="arg1"``; those not given are recognised by their names.
    """
    for role in named:
        check_choice("role of a column", role, ROLES)
    name, columns = columns_of(source, "pairs")
    used: dict[str, str] = {}
    for role, usual in ROLES.items():
        free = [column for column in columns if column not in used.values()]
        if role in NEEDED or named.get(role) is not None:
            used[role] = _the_column(name, columns, role, named.get(role), usual, free)
        elif (found := _recognised(free, usual)) is not None:
            used[role] = found
    twice = [column for column, count in Counter(used.values()).items() if count > 1]
    if twice:
        roles = " and ".join(f"--{role}" for role, column in used.items() if column == twice[0])
        raise ValueError(f"{name}: the column {twice[0]!r} is named by {roles}; each needs one of its own.")
    if not len(columns[used["left"]]):
        raise ValueError(f"{name} must have at least one row below its header.")
    known = {role: columns[column] for role, column in used.items()}
    known["difference"] = _numbers(name, used["difference"], known["difference"])
    if "weight" in known:
        known["weight"] = _numbers(name, used["weight"], known["weight"])
    return PairTable(name, used, **known)


def columns_of(source: Any, what: str) -> tuple[str, Columns]:
    """What a file, a data frame or a mapping is called in messages, and its columns."""
    if hasattr(source, "columns"):  # a data frame
        if not source.columns.is_unique:
            twice = source.columns[source.columns.duplicated()][0]
            raise ValueError(f"the columns of the {what} must have different names; {twice!r} stands there twice.")
        return f"the {what}", {str(name): source[name].to_numpy() for name in source.columns}
    if isinstance(source, Mapping):
        return f"the {what}", {str(name): np.asarray(column) for name, column in source.items()}
    return str(source), read_table(Path(source))


def _the_column(
    source: str, columns: Columns, role: str, named: str | None, usual: tuple[str, ...], free: Iterable[str] = ()
) -> str:
    if named is not None:
        return _check_there(source, columns, named, f"--{role}")
    found = _recognised(free or columns, usual)
    if found is None:
        raise ValueError(
            f"{source} must have a column {role!r}, or one that is named by --{role}; it has {_listed(columns)}."
        )
    return found


def _check_there(source: str, columns: Columns, name: str, flag: str) -> str:
    if name not in columns:
        raise ValueError(f"{source} has no column {name!r}, as {flag} says; it has {_listed(columns)}.")
    return name


def _listed(columns: Columns) -> str:
    return ", ".join(list(columns)[:8]) + (" ..." if len(columns) > 8 else "")


def _recognised(names: Iterable[str], usual: tuple[str, ...]) -> str | None:
    """The first of the usual names that is there, whatever its capitals."""
    there = {name.lower().strip(): name for name in names}
    return next((there[name] for name in usual if name in there), None)


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Where a column holds nothing: None, NaN, NA, not a time, or an empty text."""
    if column.dtype == object:
        return np.array([_is_nothing(value) for value in column.tolist()], dtype=bool)
    missing = np.zeros(len(column), dtype=bool)
    if column.dtype.kind in "fmM":
        missing |= column != column
    if column.dtype.kind == "U":
        missing |= column == ""
    return missing


def _is_nothing(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA compares to NA, which is neither true nor false
        return True


def take_ids(source: str, ids: NDArray[Any]) -> NDArray[Any]:
    """Ids that differ, none missing: numbers, or text."""
    missing = np.flatnonzero(is_missing(ids))
    if len(missing):
        raise ValueError(f"{source}: the id is missing in row {missing[0]} ({len(missing)} such rows).")
    if ids.dtype.kind not in "iufU":
        values = ids.tolist()
        numbers = [isinstance(value, Real) for value in values]
        if any(numbers) and not all(numbers):
            raise ValueError(f"{source}: the ids must be all numbers or all text.")
        ids = np.array(values if any(numbers) else [str(value) for value in values])
    twice = first_repeated(ids)
    if twice is not None:
        raise ValueError(f"{source}: the ids must differ; {ids[twice].item()!r} in row {twice} stands there before.")
    return ids


def _same_kind(names: NDArray[Any], ids: NDArray[Any]) -> NDArray[Any]:
    """Names of items in the form that the ids have, so that both can be sorted together; what cannot be is no id."""
    if ids.dtype.kind in "iuf":
        numeric = names.dtype.kind in "iuf"
        return names if numeric else np.array([_number_or_nan(value) for value in names.tolist()])
    return np.array(
        ["" if missing else _as_text(name) for name, missing in zip(names.tolist(), is_missing(names), strict=True)]
    )


def _as_text(name: Any) -> str:
    """A name as text: a column of whole numbers with a gap is one of broken numbers, and 7.0 is called 7."""
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def _number_or_nan(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _numbers(source: str, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column of numbers, NaN where one is missing."""
    odd = {"m": "times", "M": "times", "b": "true/false: who is higher is not yet by how much"}
    if column.dtype.kind in odd:
        raise ValueError(f"{source}, column {name!r}, must be numeric; got {odd[column.dtype.kind]}.")
    if column.dtype == object:
        column = np.where(is_missing(column), np.nan, column)
    return as_array(f"{source}, column {name!r},", column).astype(np.float64)
