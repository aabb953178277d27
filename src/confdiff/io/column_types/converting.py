"""Read a column as a type: THE conversion of values, from files, data frames and streams alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow
from numpy.typing import NDArray
from pyarrow import compute

from confdiff.io.column_types.lattice import ColumnType
from confdiff.io.column_types.physical import as_arrow, is_floating, is_integer, is_text
from confdiff.io.column_types.text_cells import (
    parse_durations,
    parse_flags,
    parse_integers,
    parse_numbers,
    parse_times,
    trimmed,
    whole_numbers,
)
from confdiff.io.column_types.value_text import EXACT, text_of_value
from confdiff.io.vectors import is_vectors, to_matrix

CellPlace = Callable[[int], str]
"""Where a row of a column is, in words, for messages."""

_EXPECTED: dict[ColumnType, str] = {
    "integer": "an integer",
    "number": "a number",
    "flag": "true or false",
    "time": "a time, such as 2026-01-31 or 2026-01-31T12:30:00Z",
    "duration": "a duration",
    "vector": "a list of numbers",
}
_ARROW_TYPES: dict[ColumnType, Any] = {
    "integer": pyarrow.int64(),
    "number": pyarrow.float64(),
    "flag": pyarrow.bool_(),
    "time": pyarrow.timestamp("us"),
    "duration": pyarrow.duration("us"),
}
_PARSERS: dict[ColumnType, Callable[[Any], tuple[Any, Any]]] = {
    "integer": parse_integers,
    "number": parse_numbers,
    "flag": parse_flags,
    "time": parse_times,
    "duration": parse_durations,
}


def as_type(column: Any, type: ColumnType, where: CellPlace) -> NDArray[Any]:
    """Return the values of a column of any kind as an array of a type.

    Parameters
    ----------
    column : Arrow array, NumPy array, pandas series or list
        N values as written. Text is parsed unless ``type`` is ``"text"``.
    type : ColumnType
        The type, as :func:`~confdiff.io.column_types.deciding.type_of` returns it.
    where : callable
        Place of a row, for messages.

    Returns
    -------
    array of shape (N,)
        ``number``: floats, NaN where missing. ``integer``: integers; floats where some are missing, if these are exact.
        ``time``, ``duration``: datetime64 and timedelta64 in microseconds. ``flag``: bool. Other values, and flags and
        large integers of which some are missing, are objects, None where missing. ``vector``: a matrix (N, d) of 32-bit
        floats, with NaN where a vector is missing; of shape (N, 0) if all are.

    Raises
    ------
    ValueError
        If a cell has no value of the type; the message names the first one.

    Examples
    --------
    >>> as_type(["1", "", "2.5"], "number", str), as_type([7.0, "x"], "text", str)
    (array([1. , nan, 2.5]), array(['7', 'x'], dtype=object))
    """
    return _as_numpy(as_arrow_type(column, type, where), type)


def as_arrow_type(column: Any, type: ColumnType, where: CellPlace) -> Any:
    """Return the values of a column of any kind as an Arrow array of a type, null where missing. See :func:`as_type`.

    Arrays of one type can be joined.
    """
    array = as_arrow(column)
    if type == "vector":
        return _as_vectors(array, where)
    if type == "text":
        return _own_text(array)
    if type == "empty":
        return pyarrow.nulls(len(array))
    values, bad = _converted(array, type)
    if bad is not None and compute.any(bad).as_py():
        row = compute.index(bad, True).as_py()
        raise ValueError(f"{where(row)}: must be {_EXPECTED[type]}; got {array[row].as_py()!r:.80}.")
    return values


def _as_vectors(array: Any, where: CellPlace) -> Any:
    """Return an array of vectors as it is, and one of missing values as nulls."""
    if is_vectors(array):
        return array
    cells = trimmed(array) if is_text(array) else array
    if cells.null_count == len(cells):
        return pyarrow.nulls(len(cells))
    row = compute.index(cells.is_valid(), True).as_py()
    raise ValueError(f"{where(row)}: must be {_EXPECTED['vector']}; got {array[row].as_py()!r:.80}.")


def canonical_text(column: Any, type: ColumnType) -> NDArray[Any]:
    """Return the canonical text of each value of a column that is read as a type; empty where a value is missing.

    A cell that has no value of the type keeps its own text.

    >>> canonical_text(["1", "1.50", "NA", "x"], "number"), canonical_text(["1.50", "NA"], "text")
    (array(['1', '1.5', '', 'x'], dtype=object), array(['1.50', 'NA'], dtype=object))
    """
    array = as_arrow(column)
    own = _own_text(array)
    if type in _ARROW_TYPES and not (is_text(array) and array.null_count == len(array)):
        values, bad = _converted(array, type)
        canonical = _own_text(values)
        own = canonical if bad is None else compute.if_else(bad, own.cast(canonical.type), canonical)
    text = np.empty(len(own), dtype=object)
    text[:] = ["" if value is None or not value.strip() else value for value in own.to_pylist()]
    return text


def _converted(array: Any, type: ColumnType) -> tuple[Any, Any]:
    """Return an array as the Arrow type of a type, and a mask of the cells that cannot be (None if all can)."""
    arrow_type = _ARROW_TYPES[type]
    if array.type == arrow_type:
        return array, None
    if is_text(array):
        return _parsed(array, type)
    if array.null_count == len(array):
        return pyarrow.nulls(len(array), arrow_type), None
    numeric = is_integer(array) or is_floating(array)
    if type == "number" and (numeric or pyarrow.types.is_boolean(array.type)):
        return array.cast(pyarrow.float64(), safe=False), None
    if type == "integer" and is_integer(array):
        return array.cast(pyarrow.int64()), None
    if type == "integer" and is_floating(array):
        return whole_numbers(array.cast(pyarrow.float64()))
    if type == "flag" and numeric:
        return array.cast(pyarrow.bool_()), compute.invert(compute.is_in(array, pyarrow.array([0, 1], array.type)))
    return pyarrow.nulls(len(array), arrow_type), compute.is_valid(array)


def _parsed(text: Any, type: ColumnType) -> tuple[Any, Any]:
    if type == "number":
        try:
            return text.cast(pyarrow.float64()), None
        except pyarrow.ArrowInvalid:
            pass  # blanks, spellings of missing values, or cells that are not numbers
    cells = trimmed(text)
    values, bad = _PARSERS[type](cells)
    return values, compute.and_(compute.is_valid(cells), compute.fill_null(bad, False))


def _own_text(array: Any) -> Any:
    """Return the canonical text of each value of an array of :func:`as_arrow`, null where it is missing."""
    if is_text(array):
        return array
    if is_vectors(array):
        words = f"a vector of {array.type.list_size:,} numbers"
        return pyarrow.array([words if present else None for present in array.is_valid().to_pylist()], pyarrow.string())
    if is_floating(array):
        array = compute.if_else(compute.is_nan(array), pyarrow.scalar(None, array.type), array)
    coded = array.dictionary_encode()
    if pyarrow.types.is_timestamp(array.type):
        names = [_iso(text) for text in np.datetime_as_string(coded.dictionary.to_numpy(zero_copy_only=False))]
    else:
        names = [text_of_value(value) for value in coded.dictionary.to_pylist()]
    return pyarrow.array(names, pyarrow.string()).take(coded.indices)


def _iso(microseconds: str) -> str:
    """Return an ISO 8601 time without parts that are zero."""
    return str(microseconds).removesuffix(".000000").removesuffix("T00:00:00")


def _as_numpy(values: Any, type: ColumnType) -> NDArray[Any]:
    array: NDArray[Any]
    if type == "vector":
        return to_matrix(values) if is_vectors(values) else np.full((len(values), 0), np.nan, dtype=np.float32)
    if type == "integer" and values.null_count:
        least = compute.min(values).as_py() or 0
        greatest = compute.max(values).as_py() or 0
        exact = least > -EXACT and greatest < EXACT
        array = values.cast(pyarrow.float64()).to_numpy(zero_copy_only=False) if exact else _objects(values)
    elif type in ("text", "empty") or (type == "flag" and values.null_count):
        array = _objects(values)
    else:
        array = values.to_numpy(zero_copy_only=False)
    return array


def _objects(values: Any) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values.to_pylist()
    return array
