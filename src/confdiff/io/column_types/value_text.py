"""THE canonical text of a value, by which categories, texts and ids are compared."""

import datetime
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np

EXACT = 2**53
"""Floats of this size and more do not hold every integer."""


def text_of_value(value: Any) -> str:
    """Return the canonical text of a value that is not missing.

    Integers and whole floats are written alike, other floats by their shortest digits, flags as ``true`` and
    ``false``, times as ISO 8601 without a zone, and text as it is.

    >>> [text_of_value(value) for value in (7, 7.0, 0.1, 1e300, True, "07")]
    ['7', '7', '0.1', '1e+300', 'true', '07']
    >>> text_of_value(datetime.datetime(2026, 1, 31)), text_of_value(datetime.datetime(2026, 1, 31, 5, 30))
    ('2026-01-31', '2026-01-31T05:30:00')
    """
    match value:
        case str():
            return value
        case bytes():
            return value.decode("utf-8", "backslashreplace")
        case bool() | np.bool_():
            return "true" if value else "false"
        case Integral():
            return str(int(value))
        case Real() | Decimal():
            return _text_of_float(float(value))
        case np.datetime64():
            return text_of_value(value.astype("M8[us]").item())
        case datetime.datetime():
            return _text_of_time(value)
        case datetime.date():
            return value.isoformat()
        case _:
            return str(value)


def _text_of_float(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < EXACT else repr(value)


def _text_of_time(value: datetime.datetime) -> str:
    if value.tzinfo is not None:
        value = value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value.date().isoformat() if value.time() == datetime.time() else value.isoformat()
