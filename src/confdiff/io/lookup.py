"""Look up the rows of items by their ids."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


def rows_of(ids: NDArray[Any], wanted: NDArray[Any], what: str, where: Path) -> NDArray[Any]:
    """The places of ``wanted`` among ``ids``, which stand in the file ``where`` and must differ."""
    for name, column in ((f"{where}, column 'id'", ids), (what, wanted)):
        empty = [row for row, value in enumerate(column.tolist()) if value is None or value != value]
        if empty:
            raise ValueError(f"{name}: an id is missing in row {empty[0]}.")
    if (ids.dtype.kind in "iuf") != (wanted.dtype.kind in "iuf"):
        raise ValueError(f"{what} and the ids in {where} must both be numbers or both text.")
    twice = first_repeated(ids)
    if twice is not None:
        raise ValueError(f"{where}: the ids must differ; the id {ids[twice]} stands there more than once.")
    rows = places_of(wanted, ids)
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        row = int(unknown[0])
        raise ValueError(f"{what}: the id {wanted[row]} in row {row} is not among the items.")
    return rows


def first_repeated(ids: NDArray[Any]) -> int | None:
    """The place of an id that stands more than once, if there is one."""
    order = np.argsort(ids, kind="stable")
    twice = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    return int(order[twice[0] + 1]) if len(twice) else None


def places_of(wanted: NDArray[Any], ids: NDArray[Any]) -> NDArray[np.int64]:
    """The places of names among ids that differ; -1 where they are not there.

    >>> places_of(np.array(["b", "z"]), np.array(["c", "b"]))
    array([ 1, -1])
    """
    if not len(ids):
        return np.full(len(wanted), -1)
    order = np.argsort(ids, kind="stable")
    near = order[np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)]
    return np.where(ids[near] == wanted, near, -1)
