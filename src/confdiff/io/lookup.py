"""Look up rows by id: the one place where ids are compared.

Ids are compared exactly. Whole numbers are compared as integers of 64 bits; all else is compared as text. So 7, 7.0 and
``"7"`` are one id, but ``"007"`` and ``"7.0"`` are others, and no id is rounded.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation.arrays import count_suffix


def find_rows(ids: Any, wanted: Any, *, name: str = "the ids") -> NDArray[np.int64]:
    """Return the row of each wanted id among ``ids``, and -1 where it is missing.

    Integers are compared with integers; otherwise ids are compared as text. A whole float is written like an integer,
    because a column of integers with a gap is read as floats. A missing value (None, NaN) matches nothing.

    Parameters
    ----------
    ids : array of shape (N,)
        The ids of the rows, as an array of NumPy, pandas or pyarrow; they must differ.
    wanted : array of shape (n,)
        The ids to look up, in any order and as often as needed.
    name : str
        Name of ``wanted`` in messages, such as ``"pairs.csv, column 'left'"``.

    Returns
    -------
    array of int64, shape (n,)

    Raises
    ------
    ValueError
        If an id is a float of 2**53 or more, which is not exact.

    Examples
    --------
    >>> find_rows(np.array(["c", "b"]), np.array(["b", "z"]))
    array([ 1, -1])
    >>> find_rows(np.array([10, 20]), np.array(["20", "1_0", "010"]))
    array([ 1, -1, -1])
    >>> find_rows(np.array(["10", "20"]), np.array([20.0, np.nan]))
    array([ 1, -1])
    """
    import pyarrow.compute

    exact_ids, exact_wanted = _in_one_type(_exact(ids, "the ids"), _exact(wanted, name))
    positions = pyarrow.compute.index_in(exact_wanted, value_set=exact_ids, skip_nulls=True)
    rows: NDArray[np.int64] = positions.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
    return rows


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
    rows = find_rows(ids, wanted, name=name)
    _check_all_found(rows, wanted, name, among)
    return rows


def rows_of_labels(index: Any, wanted: NDArray[Any], *, name: str) -> NDArray[np.int64]:
    """Return the row of each label in the index of a pandas data frame, which keeps the types of its labels."""
    rows: NDArray[np.int64] = index.get_indexer(wanted).astype(np.int64)
    _check_all_found(rows, wanted, name, "the labels of the index")
    return rows


def first_repeated(ids: Any, *, name: str = "the ids") -> int | None:
    """Return the first row with an id that an earlier row has too, or None if all ids differ.

    >>> first_repeated(np.array(["a", "b", "a"]))
    2
    >>> first_repeated(np.array([1.0, 2.0, 1.0]))
    2
    """
    codes = _exact(ids, name).dictionary_encode().indices.to_numpy(zero_copy_only=False)
    # Codes are given out in the order of the rows, so a new id has a larger one than all before it.
    repeated = np.flatnonzero(codes[1:] <= np.maximum.accumulate(codes)[:-1])
    return int(repeated[0]) + 1 if len(repeated) else None


def distinct_ids(*columns: Any) -> NDArray[Any]:
    """Return the distinct ids of some columns, without missing ones, in the form in which they are compared.

    >>> distinct_ids(np.array([3, 1]), np.array([1.0, np.nan]))
    array([3, 1])
    """
    import pyarrow

    exact = [_exact(column, "the ids") for column in columns]
    if len({column.type for column in exact}) > 1:
        exact = [column.cast(pyarrow.large_string()) for column in exact]
    distinct: NDArray[Any] = pyarrow.chunked_array(exact).unique().drop_null().to_numpy(zero_copy_only=False)
    return distinct


def exact_ids(ids: Any, *, name: str = "the ids") -> NDArray[Any]:
    """Return ids in the form in which they are compared: integers of 64 bits, otherwise text (None where missing).

    >>> exact_ids(np.array([1.0, 3.0])), exact_ids(np.array([1, "b"], dtype=object))
    (array([1, 3]), array(['1', 'b'], dtype=object))
    """
    import pyarrow

    column = _exact(ids, name)
    if column.null_count and column.type == pyarrow.int64():
        column = column.cast(pyarrow.large_string())
    values: NDArray[Any] = column.to_numpy(zero_copy_only=False)
    return values


def _check_all_found(rows: NDArray[np.int64], wanted: NDArray[Any], name: str, among: str) -> None:
    missing = np.flatnonzero(rows < 0)
    if len(missing):
        row = int(missing[0])
        first = wanted[row : row + 1].tolist()[0]
        raise ValueError(f"{name}, row {row}: the id {first!r} is not among {among}{count_suffix(len(missing))}.")


def _in_one_type(ids: Any, wanted: Any) -> tuple[Any, Any]:
    """Return two columns of integers as they are, and other columns as text."""
    import pyarrow

    if ids.type == wanted.type:
        return ids, wanted
    return ids.cast(pyarrow.large_string()), wanted.cast(pyarrow.large_string())


def _exact(ids: Any, name: str) -> Any:
    """Return ids as a pyarrow array of integers or of text, with nulls for missing ids."""
    import pyarrow

    from confdiff.io.column_types.converting import as_arrow_type
    from confdiff.io.column_types.physical import as_arrow, is_floating, is_integer

    column = as_arrow(ids)
    if is_floating(column):
        column = _as_integers(column, name)
    if is_integer(column):
        return column.cast(pyarrow.int64())
    return as_arrow_type(column, "text", str).cast(pyarrow.large_string())


def _as_integers(floats: Any, name: str) -> Any:
    """Return floats as integers if all are whole."""
    import pyarrow

    stored = floats.to_numpy(zero_copy_only=False)
    digits = np.finfo(stored.dtype).nmant + 1  # 53 for float64, 24 for float32
    values = stored.astype(np.float64)
    present = ~np.isnan(values)
    numbers = values[present]
    inexact = numbers[(np.abs(numbers) >= 2.0**digits) & np.isfinite(numbers)]
    if len(inexact):
        raise ValueError(
            f"{name}: the id {inexact[0]:.0f} is a float, and floats of 2**{digits} or more do not hold every integer, "
            "so the id may already be another. Read the column as integers or as text; a gap in a column of integers "
            "often makes it floats."
        )
    if not np.all(np.isfinite(numbers)) or np.any(numbers % 1):
        return floats
    return pyarrow.array(np.where(present, values, 0).astype(np.int64), mask=~present)
