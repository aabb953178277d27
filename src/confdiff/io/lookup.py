"""Look up rows by id: the one place where ids are compared."""

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation.arrays import count_suffix


def find_rows(ids: NDArray[Any], wanted: NDArray[Any]) -> NDArray[np.int64]:
    """Return the row of each wanted id among ``ids``, and -1 where it is missing.

    Ids of one kind (numbers, text, times) are compared as they are. Otherwise ``wanted`` is converted to the kind of
    ``ids``. As numbers, text that is not a number matches nothing. As text, the float 7.0 is written 7, because a
    column of whole numbers with a gap is read as floats. A missing value (None, NaN) matches nothing.

    Parameters
    ----------
    ids : array of shape (N,)
        The ids of the rows; they must differ.
    wanted : array of shape (n,)
        The ids to look up, in any order and as often as needed.

    Returns
    -------
    array of int64, shape (n,)

    Examples
    --------
    >>> find_rows(np.array(["c", "b"]), np.array(["b", "z"]))
    array([ 1, -1])
    >>> find_rows(np.array([10, 20]), np.array(["20", "ten"]))
    array([ 1, -1])
    >>> find_rows(np.array(["10", "20"]), np.array([20.0, np.nan]))
    array([ 1, -1])
    """
    if not len(ids):
        return np.full(len(wanted), -1)
    missing = _is_missing(wanted)
    ids, wanted = _in_one_form(ids, wanted)
    order = np.argsort(ids, kind="stable")
    nearest = order[np.searchsorted(ids[order], wanted).clip(max=len(ids) - 1)]
    return np.where((ids[nearest] == wanted) & ~missing, nearest, -1)


def rows_of_ids(ids: NDArray[Any], wanted: NDArray[Any], *, name: str, among: str = "the items") -> NDArray[np.int64]:
    """Return the row of each wanted id among ``ids``, all of which must exist.

    Parameters
    ----------
    ids, wanted : arrays
        As in :func:`find_rows`.
    name : str
        Name of ``wanted`` in messages, such as ``"pairs.csv, column 'left'"``.
    among : str
        Name of ``ids`` in messages.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    ValueError
        If an id is missing; the message names the first one and its row.

    Examples
    --------
    >>> rows_of_ids(np.array([10, 20]), np.array([20, 20]), name="left")
    array([1, 1])
    """
    rows = find_rows(ids, wanted)
    _check_all_found(rows, wanted, name, among)
    return rows


def rows_of_labels(index: Any, wanted: NDArray[Any], *, name: str) -> NDArray[np.int64]:
    """Return the row of each label in the index of a pandas data frame, which keeps the types of its labels."""
    rows: NDArray[np.int64] = index.get_indexer(wanted).astype(np.int64)
    _check_all_found(rows, wanted, name, "the labels of the index")
    return rows


def first_repeated(ids: NDArray[Any]) -> int | None:
    """Return the row of an id that an earlier row has too, or None if all ids differ.

    >>> first_repeated(np.array(["a", "b", "a"]))
    2
    """
    order = np.argsort(ids, kind="stable")
    repeated = np.flatnonzero(ids[order][1:] == ids[order][:-1])
    return int(order[repeated[0] + 1]) if len(repeated) else None


def holds_numbers(ids: NDArray[Any]) -> bool:
    """Return whether ids are numbers and not text."""
    if ids.dtype == object:
        return all(isinstance(value, Real) for value in ids.tolist())
    return ids.dtype.kind in "iuf"


def _check_all_found(rows: NDArray[np.int64], wanted: NDArray[Any], name: str, among: str) -> None:
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        row = int(missing[0])
        first = wanted[row : row + 1].tolist()[0]
        raise ValueError(f"{name}, row {row}: the id {first!r} is not among {among}{count_suffix(len(missing))}.")


def _in_one_form(ids: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both arrays in a form in which they can be sorted together."""
    if holds_numbers(ids):
        return ids, wanted if holds_numbers(wanted) else np.array([_as_number(value) for value in wanted.tolist()])
    if ids.dtype.kind not in "OU":  # times
        return (ids, wanted) if ids.dtype.kind == wanted.dtype.kind else (ids.astype(str), wanted.astype(str))
    if wanted.dtype.kind == "U":
        return ids, wanted
    text = [_as_text(value) for value in wanted.tolist()]
    return ids, np.array(text, dtype=object if ids.dtype == object else str)


def _as_number(value: Any) -> float:
    """Return a value as a number, NaN where it is not one."""
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _is_missing(ids: NDArray[Any]) -> NDArray[np.bool_]:
    if ids.dtype != object:
        different: NDArray[np.bool_] = ids != ids
        return different
    return np.array([_is_nothing(value) for value in ids.tolist()], dtype=bool)


def _is_nothing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas' NA compares to NA, which is neither true nor false
        return True
