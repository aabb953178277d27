"""Turn a list of Python objects into an Arrow array of their common type."""

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow

from confdiff.io.column_types.lattice import ColumnType, join
from confdiff.io.column_types.value_text import text_of_value

INT64 = np.iinfo(np.int64)
_ALIKE = ({int}, {float}, {str}, {bool})  # types that pyarrow converts without a loss


def from_objects(values: Sequence[Any]) -> Any:
    """Return objects as an Arrow array: of their common type, else of their canonical texts; null where missing.

    Blank text among values of another type is missing too.

    >>> from_objects([1, 2.5, None]).to_pylist(), from_objects([True, 1]).to_pylist()
    ([1.0, 2.5, None], ['true', '1'])
    """
    present = [None if _is_missing(value) else value for value in values]
    classes = {type(value) for value in present if value is not None}
    if classes in _ALIKE:
        try:
            return pyarrow.array(present)
        except (pyarrow.ArrowException, OverflowError, UnicodeEncodeError):
            pass  # an integer outside 64 bits, or a lone surrogate
    common = join(*{_type_of_value(value) for value in present if not _is_blank(value)})
    convert, arrow_type = _CONVERSIONS[common]
    if common != "text":
        present = [None if _is_blank(value) else value for value in present]
    return pyarrow.array([None if value is None else convert(value) for value in present], arrow_type)


def _is_missing(value: Any) -> bool:
    if value is None or isinstance(value, str):
        return value is None
    try:
        return bool(value != value)
    except (TypeError, ValueError):  # pandas' NA compares to NA, which is neither true nor false; an array has many
        return not isinstance(value, np.ndarray | list | tuple)


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def _type_of_value(value: Any) -> ColumnType:
    match value:
        case bool() | np.bool_():
            return "flag"
        case Integral():
            return "integer" if INT64.min <= int(value) <= INT64.max else "text"
        case Real() | Decimal():
            return "number"
        case datetime.date() | np.datetime64():
            return "time"
        case datetime.timedelta() | datetime.time() | np.timedelta64():
            return "duration"
        case _:
            return "text"


def _as_datetime(value: Any) -> datetime.datetime:
    """Return a date or time as a time of UTC without a zone."""
    if isinstance(value, np.datetime64):
        value = value.astype("M8[us]").item()
    if not isinstance(value, datetime.datetime):
        return datetime.datetime.combine(value, datetime.time())
    return value if value.tzinfo is None else value.astimezone(datetime.UTC).replace(tzinfo=None)


def _as_timedelta(value: Any) -> datetime.timedelta:
    """Return a duration, or a time of day as the duration since midnight."""
    if isinstance(value, np.timedelta64):
        value = value.astype("m8[us]").item()
    if not isinstance(value, datetime.time):
        duration: datetime.timedelta = value
        return duration
    return datetime.timedelta(
        hours=value.hour, minutes=value.minute, seconds=value.second, microseconds=value.microsecond
    )


def _as_utf8(value: Any) -> str:
    """Return the text of a value, with an escape sequence for a lone surrogate, which UTF-8 lacks."""
    return text_of_value(value).encode("utf-8", "backslashreplace").decode()


_CONVERSIONS: dict[ColumnType, tuple[Callable[[Any], Any], Any]] = {
    "empty": (lambda value: None, pyarrow.null()),
    "flag": (bool, pyarrow.bool_()),
    "integer": (int, pyarrow.int64()),
    "number": (float, pyarrow.float64()),
    "time": (_as_datetime, pyarrow.timestamp("us")),
    "duration": (_as_timedelta, pyarrow.duration("us")),
    "text": (_as_utf8, pyarrow.string()),
}
