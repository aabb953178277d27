"""Turn a column of any kind (NumPy, pandas, Arrow, a list) into an Arrow array of a plain type."""

from typing import Any

import numpy as np
import pyarrow
from pyarrow import compute

from confdiff.io.column_types.objects import INT64, from_objects
from confdiff.io.vectors import as_vectors, is_vectors

_MOST_BYTES = 2**31 - 1  # of the text in one Arrow array of type string


def as_arrow(column: Any) -> Any:
    """Return a column as an Arrow array of null, bool, integers, floats, text, timestamps, durations or vectors.

    Dictionaries are decoded, decimals become numbers, times of day become durations, and values of several types
    become text. Missing values (None, NaN, NA, NaT) of objects are null.

    >>> as_arrow(np.array([1, "a", 2.5, None], dtype=object)).to_pylist()
    ['1', 'a', '2.5', None]
    """
    column = as_vectors(column)
    if isinstance(column, pyarrow.ChunkedArray):
        column = _combined(column)
    return _plain(column if isinstance(column, pyarrow.Array) else _from_values(column))


def is_text(array: Any) -> bool:
    """Return whether an array of :func:`as_arrow` holds text."""
    return bool(pyarrow.types.is_string(array.type) or pyarrow.types.is_large_string(array.type))


def is_integer(array: Any) -> bool:
    """Return whether an array holds integers."""
    return bool(pyarrow.types.is_integer(array.type))


def is_floating(array: Any) -> bool:
    """Return whether an array holds floats."""
    return bool(pyarrow.types.is_floating(array.type))


def _combined(column: Any) -> Any:
    if column.nbytes > _MOST_BYTES and pyarrow.types.is_string(column.type):
        column = column.cast(pyarrow.large_string())
    return column.combine_chunks()


def _plain(array: Any) -> Any:
    """Return an array of any Arrow type as one of the types that :func:`as_arrow` lists."""
    kind = pyarrow.types
    if is_vectors(array):
        return array
    if kind.is_dictionary(array.type):
        return _plain(array.dictionary).take(array.indices)
    if kind.is_run_end_encoded(array.type):
        return _plain(compute.run_end_decode(array))
    if isinstance(array, pyarrow.ExtensionArray) or kind.is_nested(array.type):
        return from_objects(array.to_pylist())
    if kind.is_decimal(array.type):
        return _from_decimals(array)
    if kind.is_uint64(array.type):
        return _from_unsigned(array)
    if kind.is_float16(array.type):
        return array.cast(pyarrow.float64())
    if kind.is_time(array.type):
        return array.cast(pyarrow.time64("us"), safe=False).cast(pyarrow.int64()).cast(pyarrow.duration("us"))
    if kind.is_date(array.type):
        return array.cast(pyarrow.timestamp("us"))
    if kind.is_timestamp(array.type):
        return _in_microseconds(array)
    if kind.is_duration(array.type):
        return array.cast(pyarrow.duration("us"), safe=False)
    if kind.is_null(array.type) or kind.is_boolean(array.type) or kind.is_integer(array.type):
        return array
    if is_floating(array) or is_text(array):
        return array
    return _from_other(array)


def _from_other(array: Any) -> Any:
    """Return views of text, bytes and rare types as text; bytes that are not UTF-8 are escaped."""
    try:
        return array.cast(pyarrow.string())
    except (pyarrow.ArrowInvalid, pyarrow.ArrowNotImplementedError):
        return from_objects(array.to_pylist())


def _in_microseconds(array: Any) -> Any:
    """Return timestamps of any unit and zone as microseconds of UTC, without a zone."""
    zone = array.type.tz
    array = array.cast(pyarrow.timestamp("us", tz=zone), safe=False)
    return array if zone is None else array.cast(pyarrow.timestamp("us", tz="UTC")).cast(pyarrow.timestamp("us"))


def _from_decimals(array: Any) -> Any:
    if array.type.scale <= 0:
        try:
            return array.cast(pyarrow.int64())
        except pyarrow.ArrowInvalid:
            return array.cast(pyarrow.string())
    return array.cast(pyarrow.string()).cast(pyarrow.float64())  # the cast without text is off by the last digit


def _from_unsigned(array: Any) -> Any:
    largest = compute.max(array).as_py()
    return array.cast(pyarrow.int64() if largest is None or largest <= INT64.max else pyarrow.string())


def _from_values(column: Any) -> Any:
    """Return the values of a pandas, NumPy or other sequence as an Arrow array."""
    dtype = getattr(column, "dtype", None)
    if dtype is None or (dtype.kind == "O" and isinstance(dtype, np.dtype)):
        text = _as_text(column)
        return from_objects(list(column)) if text is None else text
    if isinstance(dtype, np.dtype) and dtype.kind in "mM":
        column = np.asarray(column)
        column = column.astype(f"{dtype.kind}8[us]")
    try:
        array = pyarrow.array(column, from_pandas=True)
    except (pyarrow.ArrowException, TypeError, ValueError):
        return from_objects(np.asarray(column, dtype=object).tolist())
    if isinstance(array, pyarrow.ChunkedArray):
        array = _combined(array)
    if isinstance(array, pyarrow.ExtensionArray):
        return from_objects(np.asarray(column, dtype=object).tolist())
    return array


def _as_text(column: Any) -> Any:
    """Return objects that are all text or missing as an Arrow array, which is quick; None for others."""
    try:
        array = pyarrow.array(np.asarray(column, dtype=object), from_pandas=True)
    except (pyarrow.ArrowException, OverflowError, TypeError, ValueError):
        return None
    if isinstance(array, pyarrow.ChunkedArray):
        array = _combined(array)
    return array if pyarrow.types.is_string(array.type) or pyarrow.types.is_large_string(array.type) else None
