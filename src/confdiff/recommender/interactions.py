"""Who had to do with what, and how strongly: interactions of users with items."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.datasets.sources import data_roots
from confdiff.io.tables import read_table
from confdiff.validation import as_array, check_choice, check_count

SOURCES = {"kuairec": ("small_matrix.csv", "small_matrix_subset.csv"), "jester": ("jester1.npz",)}
"""Data set -> the files that it may come from, the best first."""
JESTER_MISSING = 99


@dataclass(frozen=True, eq=False)
class Interactions:
    """n interactions. Users and items are numbered from 0; their names are kept.

    users, items: (n,) who, and what. strength: (n,) how strongly, on any scale. time: (n,) when, where that is known.
    user_ids, item_ids: the names of the users and items, by their numbers.
    missing, repeated: how many rows were left out for a missing value, and for a later row of the same user and item.
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
        left_out = f"; left out: {self.missing:,} with a missing value, {self.repeated:,} repeated"
        when = "with time" if self.time is not None else "without time"
        return (
            f"{len(self):,} interactions of {len(self.user_ids):,} users with {len(self.item_ids):,} items, {when}"
            + (left_out if self.missing or self.repeated else "")
        )

    def of_users(self, users: NDArray[np.int64]) -> "Interactions":
        """Only those of some users, who are numbered anew."""
        kept = np.isin(self.users, users)
        names, codes = np.unique(self.users[kept], return_inverse=True)
        time = None if self.time is None else self.time[kept]
        return Interactions(
            codes.astype(np.int64), self.items[kept], self.strength[kept], time, self.user_ids[names], self.item_ids
        )


def from_columns(users: Any, items: Any, strength: Any, time: Any = None) -> Interactions:
    """Interactions from columns. Rows with a missing value are left out; of repeated ones the last is kept.

    The last is the latest where there is a time, else the one that stands last.

    >>> print(from_columns(["a", "a", "b"], [1, 1, 2], [0.5, 0.7, None]))
    1 interactions of 1 users with 1 items, without time; left out: 1 with a missing value, 1 repeated
    """
    names = [_column("user", users), _column("item", items)]
    numbers = [_numbers("strength", strength)] + ([] if time is None else [_numbers("time", time)])
    lengths = {len(column) for column in (*names, *numbers)}
    if len(lengths) > 1:
        raise ValueError(f"the columns must have one length; got {sorted(lengths)}.")
    whole = ~np.logical_or.reduce([_is_missing(column) for column in names] + [~np.isfinite(n) for n in numbers])
    if not whole.any():
        raise ValueError("there must be at least one interaction without a missing value; got none.")
    user_ids, user = np.unique(names[0][whole], return_inverse=True)
    item_ids, item = np.unique(names[1][whole], return_inverse=True)
    numbers = [column[whole] for column in numbers]
    place = np.lexsort((numbers[1] if time is not None else np.arange(len(user)), item, user))
    last = np.append((np.diff(user[place]) != 0) | (np.diff(item[place]) != 0), True)
    kept = np.sort(place[last])
    return Interactions(
        user[kept].astype(np.int64),
        item[kept].astype(np.int64),
        numbers[0][kept].astype(np.float32),
        None if time is None else numbers[1][kept],
        user_ids,
        item_ids,
        missing=int((~whole).sum()),
        repeated=len(place) - len(kept),
    )


def _column(what: str, values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"the column of {what}s must be one name a row; got shape {array.shape}.")
    return array


def _numbers(what: str, values: Any) -> NDArray[np.float64]:
    column = _column(what, values)
    if column.dtype == object:
        column = np.array([np.nan if value is None else value for value in column.tolist()])
    return as_array(f"the column of {what}", column).astype(np.float64)


def _is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    if column.dtype == object:
        return np.array([value is None or value != value for value in column.tolist()])
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def read_interactions(
    path: Path, *, user: str = "user_id", item: str = "video_id", strength: str = "watch_ratio", time: str | None = None
) -> Interactions:
    """Interactions from a table (CSV, TSV or Parquet) with these columns; only they are read."""
    wanted = [user, item, strength] + ([] if time is None else [time])
    table = read_table(path, wanted)
    missing = [name for name in wanted if name not in table]
    if missing:
        raise ValueError(f"{path} must have a column {missing[0]!r}; name the columns if they are called otherwise.")
    return from_columns(table[user], table[item], table[strength], None if time is None else table[time])


def load_interactions(
    name: str, *, folder: Path | None = None, n_users: int | None = None, seed: int = 0
) -> Interactions:
    """KuaiRec's small matrix (whole, with time, where its file is there; else the subset) or Jester.

    folder: where to look first; then in the folder that CONFDIFF_DATA names, then in the cache.
    n_users: so many of the users who have the most interactions; chance decides between equals.
    """
    path = find_interactions(name, folder)
    found = _kuairec(path) if name == "kuairec" else _jester(path)
    if n_users is None:
        return found
    counts = np.bincount(found.users)
    order = np.lexsort((np.random.default_rng(seed).random(len(counts)), -counts))
    return found.of_users(order[: check_count("n_users", n_users)])


def find_interactions(name: str, folder: Path | None = None) -> Path:
    """The file that a data set of interactions would be read from; see :func:`load_interactions`."""
    files = SOURCES[check_choice("data set of interactions", name, SOURCES)]
    roots = ([folder] if folder is not None else []) + [root / name for root in data_roots(None)]
    for file in files:
        for root in roots:
            if (root / file).is_file():
                return root / file
    places = ", ".join(map(str, roots))
    raise FileNotFoundError(f"{name} is not here: put {' or '.join(files)} into one of {places}.")


def _kuairec(path: Path) -> Interactions:
    return read_interactions(path, time="timestamp" if path.name == SOURCES["kuairec"][0] else None)


def _jester(path: Path) -> Interactions:
    with np.load(path) as file:
        ratings = file["ratings"]
    users, items = np.nonzero(ratings != JESTER_MISSING)
    return from_columns(users, items, ratings[users, items])
