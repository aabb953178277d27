"""Interactions of users with items and their strength: tables of the user's own, KuaiRec and Jester."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.sources import Form, LocatedFiles, SourceFile
from confdiff.display.text import listed
from confdiff.io.batches import read_column_names
from confdiff.io.lookup import exact_ids
from confdiff.io.table_formats.encodings import takes_encoding
from confdiff.io.typed_table import read_typed_table
from confdiff.validation import as_array

_WITH_TIME = "small_matrix.csv"  # KuaiRec as published; the subset has no time
_JESTER_MISSING = 99


@dataclass(frozen=True, eq=False)
class Interactions:
    """n interactions of users with items, both numbered from 0.

    Parameters
    ----------
    users, items : arrays of shape (n,)
        The numbers of the user and of the item.
    strength : array of shape (n,)
        Strength of each interaction, on any scale.
    time : array of shape (n,) or None
        Time of each interaction, if known.
    user_ids, item_ids : arrays
        The id of each user and of each item.
    missing, repeated : int
        Rows that were dropped for a missing value, and for a later row of the same user and item.
    """

    users: NDArray[np.int64]
    items: NDArray[np.int64]
    strength: NDArray[np.float32]
    time: NDArray[np.float64] | None
    user_ids: NDArray[Any]
    item_ids: NDArray[Any]
    missing: int = 0
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.users)

    def __str__(self) -> str:
        counts = f"{len(self):,} interactions of {len(self.user_ids):,} users with {len(self.item_ids):,} items"
        time = "with time" if self.time is not None else "without time"
        dropped = f"; dropped: {self.missing:,} with a missing value, {self.repeated:,} repeated"
        return f"{counts}, {time}" + (dropped if self.missing or self.repeated else "")

    def of_users(self, users: NDArray[np.int64]) -> "Interactions":
        """Return the interactions of some users, who are renumbered from 0."""
        rows = np.isin(self.users, users)
        numbers, renumbered = np.unique(self.users[rows], return_inverse=True)
        return Interactions(
            users=renumbered.astype(np.int64),
            items=self.items[rows],
            strength=self.strength[rows],
            time=None if self.time is None else self.time[rows],
            user_ids=self.user_ids[numbers],
            item_ids=self.item_ids,
        )

    def of_most_active(self, n_users: int, seed: int = 0) -> "Interactions":
        """Return the interactions of the ``n_users`` users who have the most; ties are broken at random."""
        counts = np.bincount(self.users)
        order = np.lexsort((np.random.default_rng(seed).random(len(counts)), -counts))
        return self.of_users(order[:n_users])


def from_columns(users: Any, items: Any, strength: Any, time: Any = None) -> Interactions:
    """Make interactions of columns; drop rows with a missing value, and all but the last of repeated rows.

    The last row is the latest one if there is a time, otherwise the one furthest down.

    Parameters
    ----------
    users, items : array-like of shape (n,)
        The ids of the user and of the item of each row.
    strength : array-like of shape (n,)
        Numbers on any scale.
    time : array-like of shape (n,), optional
        Numbers that grow with time.

    Examples
    --------
    >>> print(from_columns(["a", "a", "b"], [1, 1, 2], [0.5, 0.7, None]))
    1 interactions of 1 users with 1 items, without time; dropped: 1 with a missing value, 1 repeated
    """
    ids = [_column("user", users), _column("item", items)]
    numbers = [_numeric("strength", strength)]
    if time is not None:
        numbers.append(_numeric("time", time))
    lengths = {len(column) for column in (*ids, *numbers)}
    if len(lengths) > 1:
        raise ValueError(f"the columns must have one length; got {sorted(lengths)}.")
    missing = np.logical_or.reduce([_is_missing(column) for column in ids] + [~np.isfinite(n) for n in numbers])
    if missing.all():
        raise ValueError("there must be at least one interaction without a missing value; got none.")
    user_ids, user = np.unique(exact_ids(ids[0][~missing], name="the users"), return_inverse=True)
    item_ids, item = np.unique(exact_ids(ids[1][~missing], name="the items"), return_inverse=True)
    numbers = [column[~missing] for column in numbers]
    rows = _last_of_each(user, item, numbers[1] if time is not None else np.arange(len(user)))
    return Interactions(
        users=user[rows].astype(np.int64),
        items=item[rows].astype(np.int64),
        strength=numbers[0][rows].astype(np.float32),
        time=None if time is None else numbers[1][rows],
        user_ids=user_ids,
        item_ids=item_ids,
        missing=int(missing.sum()),
        repeated=len(user) - len(rows),
    )


def _last_of_each(user: NDArray[np.intp], item: NDArray[np.intp], time: NDArray[Any]) -> NDArray[np.intp]:
    """Return the rows, in order, of the last interaction of each user with each item."""
    order = np.lexsort((time, item, user))
    last = np.append((np.diff(user[order]) != 0) | (np.diff(item[order]) != 0), True)
    return np.sort(order[last])


def _column(name: str, values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"the column of {name}s must have one entry per row; got shape {array.shape}.")
    return array


def _numeric(name: str, values: Any) -> NDArray[np.float64]:
    column = _column(name, values)
    if column.dtype.kind == "M":
        seconds = column.astype("datetime64[ms]").astype(np.float64) / 1000
        return np.where(np.isnat(column), np.nan, seconds)
    if column.dtype == object:
        column = np.array([np.nan if value is None else value for value in column.tolist()])
    return as_array(f"the column of {name}", column).astype(np.float64)


def _is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype == object:
        return np.array([value is None or value != value for value in column.tolist()])
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


@takes_encoding
def read_interactions(
    path: Path,
    *,
    user: str = "user_id",
    item: str = "video_id",
    strength: str = "watch_ratio",
    time: str | None = None,
    encoding: str | None = None,
) -> Interactions:
    """Read interactions from a table.

    Parameters
    ----------
    path : Path
        The table; only the columns named here are read.
    user, item, strength : str
        The columns of the users, the items and the strengths.
    time : str, optional
        The column of the times.
    encoding : str, optional
        The encoding of a text file, such as ``"cp1252"``; by default UTF-8, or what a byte order mark states.
    """
    columns = [user, item, strength]
    if time is not None:
        columns.append(time)
    names = read_column_names(path)
    if not set(columns) <= set(names):
        raise ValueError(
            f"{path} must have the columns {', '.join(columns)}; its columns are {listed(names)}. "
            "Name the right ones with user='...', item='...' and strength='...'."
        )
    table = read_typed_table(path, columns)
    times = None if time is None else table.values(time)
    return from_columns(table.ids(user), table.ids(item), table.values(strength), times)


def _read_kuairec(files: LocatedFiles) -> Interactions:
    ((source, path),) = files
    return read_interactions(path, time="timestamp" if source.name == _WITH_TIME else None)


def _read_jester(files: LocatedFiles) -> Interactions:
    ((_, path),) = files
    with np.load(path) as arrays:
        ratings = arrays["ratings"]
    users, items = np.nonzero(ratings != _JESTER_MISSING)
    return from_columns(users, items, ratings[users, items])


def _unpacked(name: str, folder: str) -> tuple[SourceFile, ...]:
    """Return the only file of a form, which is read in place and must not be compressed."""
    return (SourceFile(name, (folder, ""), md5=None, url="", endings=("",)),)


KUAIREC = (
    Form(_unpacked(_WITH_TIME, "kuairec"), _read_kuairec),
    Form(_unpacked("small_matrix_subset.csv", "kuairec"), _read_kuairec),
)
JESTER = (Form(_unpacked("jester1.npz", "jester"), _read_jester),)
