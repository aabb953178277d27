"""The grammar of cells of text: integers, decimals, true and false, ISO 8601 times, and spellings of missing values.

A leading zero, or an integer outside 64 bits, is text: postal codes and long ids keep all of their digits.
"""

import datetime
import re
from typing import Any

import pyarrow
from pyarrow import compute

from confdiff.io.column_types.lattice import ColumnType, TextParsing
from confdiff.io.column_types.objects import INT64
from confdiff.io.column_types.value_text import EXACT

_INTEGER = r"^-?(0|[1-9][0-9]{0,18})$"
_DIGITS = r"^-?[0-9]+$"
_NUMBER = r"^-?((0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^(?i:[+-]?inf(inity)?)$"
_ANY_NUMBER = r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?$|^(?i:[+-]?inf(inity)?)$"
_DURATION = r"(?:([+-]?\d+) days?,? ?)?(?:([+-]?)(\d+):(\d\d)(?::(\d\d(?:\.\d+)?))?)?"
_FLAG = r"^(?i:true|false)$"
_TIME = (
    r"^[0-9]{4}-[0-9]{2}-[0-9]{2}"
    r"([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]+)?)? ?(Z|z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
_ZONE = r"([Zz]|[T ][0-9:.]+[+-][0-9]{2}(:?[0-9]{2})?)$"
_PATTERNS: tuple[tuple[ColumnType, str], ...] = (
    ("integer", _INTEGER),
    ("number", _NUMBER),
    ("flag", _FLAG),
    ("time", _TIME),
)
_MISSING = (
    *("", "na", "n/a", "#n/a", "#n/a n/a", "#na", "<na>", "nan", "-nan", "nat", "null", "none"),
    *("1.#ind", "-1.#ind", "1.#qnan", "-1.#qnan"),
)
"""Spellings of missing values, in lower case."""


def trimmed(text: Any) -> Any:
    """Return cells without the blanks around them; blank cells and spellings of missing values are null."""
    cells = compute.utf8_trim_whitespace(text)
    missing = compute.is_in(compute.ascii_lower(cells), value_set=pyarrow.array(_MISSING, cells.type))
    return compute.if_else(missing, pyarrow.scalar(None, cells.type), cells)


def is_blank(text: Any) -> Any:
    """Return a mask of the cells that are null or blank."""
    return compute.fill_null(compute.equal(compute.binary_length(compute.utf8_trim_whitespace(text)), 0), True)


def type_of_text(text: Any, parse_text: TextParsing) -> ColumnType:
    """Return the type of cells of text, by the grammar of this module.

    >>> type_of_text(pyarrow.array(["1", "2.5", "NA"]), "all"), type_of_text(pyarrow.array(["02139"]), "all")
    ('number', 'text')
    """
    if compute.all(is_blank(text)).as_py() is not False:
        return "empty"
    if parse_text == "none":
        return "text"
    if parse_text == "times":
        cells = compute.utf8_trim_whitespace(text.filter(compute.invert(is_blank(text))))
        return "time" if _are_times(cells) else "text"
    cells = trimmed(text).drop_null()
    return _parsed_type(cells) if len(cells) else "empty"


def _parsed_type(cells: Any) -> ColumnType:
    """Return the type of trimmed cells, none of which is missing. The first cell determines the candidates."""
    first = cells[0].as_py()
    candidate = next((name for name, pattern in _PATTERNS if re.search(pattern, first)), "text")
    if candidate in ("integer", "number"):
        if not compute.all(is_number(cells)).as_py():
            return "text"
        return "integer" if _all_match(cells, _INTEGER) else "number"
    if candidate == "flag":
        return "flag" if _all_match(cells, _FLAG) else "text"
    return "time" if candidate == "time" and _are_times(cells) else "text"


def _all_match(cells: Any, pattern: str) -> bool:
    return bool(compute.all(compute.match_substring_regex(cells, pattern)).as_py())


def is_number(cells: Any) -> Any:
    """Return a mask of the trimmed cells that are integers inside 64 bits or other numbers."""
    numbers = compute.match_substring_regex(cells, _NUMBER)
    long = compute.and_(is_digits(cells), compute.greater(compute.binary_length(cells), 18))
    if not compute.any(long).as_py():
        return numbers
    pairs = zip(long.to_pylist(), cells.to_pylist(), strict=True)
    fits = pyarrow.array([not is_long or _fits_integer(cell) for is_long, cell in pairs])
    return compute.and_(numbers, fits)


def is_digits(cells: Any) -> Any:
    """Return a mask of the cells that are all digits, possibly with leading zeros or too many for an integer."""
    return compute.match_substring_regex(cells, _DIGITS)


def _fits_integer(digits: str) -> bool:
    """Return whether digits, with a sign or not, are an integer inside 64 bits."""
    return len(digits) <= 20 and INT64.min <= int(digits) <= INT64.max


def parse_integers(cells: Any) -> tuple[Any, Any]:
    """Return trimmed cells as 64-bit integers, and a mask of the other cells. A whole number, 7.0, is an integer."""
    valid = compute.and_(compute.match_substring_regex(cells, _INTEGER), is_number(cells))
    decimals, _ = parse_numbers(_only(cells, compute.invert(is_digits(cells))))
    integers = compute.coalesce(_only(cells, valid).cast(pyarrow.int64()), whole_numbers(decimals)[0])
    return integers, compute.and_(compute.is_valid(cells), compute.is_null(integers))


def whole_numbers(floats: Any) -> tuple[Any, Any]:
    """Return 64-bit floats as integers, and a mask of those that are not whole or not exact."""
    floats = compute.if_else(compute.is_nan(floats), pyarrow.scalar(None, floats.type), floats)
    whole = compute.equal(compute.floor(floats), floats)
    exact = compute.less(compute.abs(floats), float(EXACT))
    valid = compute.and_(whole, exact)
    return _only(floats, valid).cast(pyarrow.int64()), compute.invert(compute.fill_null(valid, True))


def parse_numbers(cells: Any) -> tuple[Any, Any]:
    """Return trimmed cells as floats, and a mask of the cells that are not numbers.

    Where a number is expected, a leading ``+`` and leading zeros are allowed.
    """
    valid = compute.match_substring_regex(cells, _ANY_NUMBER)
    return _only(cells, valid).cast(pyarrow.float64()), compute.invert(valid)


def parse_flags(cells: Any) -> tuple[Any, Any]:
    """Return trimmed cells as truth values, and a mask of the cells that are neither true, false, 1 nor 0."""
    lower = compute.ascii_lower(cells)
    true = compute.is_in(lower, value_set=pyarrow.array(["true", "1"], cells.type))
    false = compute.is_in(lower, value_set=pyarrow.array(["false", "0"], cells.type))
    valid = compute.or_(true, false)
    return _only(true, valid), compute.invert(valid)


def parse_times(cells: Any) -> tuple[Any, Any]:
    """Return trimmed ISO 8601 times as timestamps of UTC, and a mask of the other cells."""
    valid = compute.fill_null(compute.match_substring_regex(cells, _TIME), False)
    text = compute.replace_substring_regex(_only(cells, valid), r"[.,]([0-9]{1,6})[0-9]*", r".\1")
    text = compute.replace_substring_regex(compute.utf8_upper(text), r" ?(Z|[+-][0-9]{2}:?[0-9]{0,2})$", r"\1")
    zoned = compute.fill_null(compute.match_substring_regex(text, _ZONE), False)
    try:
        times = _cast_times(text, zoned)
    except pyarrow.ArrowInvalid:  # such as the 30th of February
        valid = compute.and_(valid, pyarrow.array([_is_time(cell) for cell in text.to_pylist()]))
        times = _cast_times(_only(text, valid), zoned)
    return times, compute.invert(valid)


def _cast_times(text: Any, zoned: Any) -> Any:
    local = _only(text, compute.invert(zoned)).cast(pyarrow.timestamp("us"))
    with_zone = _only(text, zoned).cast(pyarrow.timestamp("us", tz="UTC")).cast(pyarrow.timestamp("us"))
    return compute.coalesce(local, with_zone)


def _is_time(cell: str | None) -> bool:
    try:
        pyarrow.scalar(cell).cast(pyarrow.timestamp("us", tz="UTC" if re.search(_ZONE, cell or "") else None))
    except pyarrow.ArrowInvalid:
        return False
    return True


def _are_times(cells: Any) -> bool:
    return _all_match(cells, _TIME) and not compute.any(parse_times(cells)[1]).as_py()


def parse_durations(cells: Any) -> tuple[Any, Any]:
    """Return trimmed cells such as ``2 days 05:30:00`` as durations, and a mask of the other cells."""
    parsed = [None if cell is None else _duration(cell) for cell in cells.to_pylist()]
    durations = pyarrow.array(parsed, pyarrow.duration("us"))
    return durations, compute.and_(compute.is_valid(cells), compute.is_null(durations))


def _duration(cell: str) -> datetime.timedelta | None:
    match = re.fullmatch(_DURATION, cell)
    if match is None:
        return None
    days, sign, hours, minutes, seconds = match.groups()
    clock = datetime.timedelta(hours=int(hours or 0), minutes=int(minutes or 0), seconds=float(seconds or 0))
    return datetime.timedelta(days=int(days or 0)) + (-clock if sign == "-" else clock)


def _only(values: Any, mask: Any) -> Any:
    """Return the values where a mask is true, and null elsewhere."""
    return compute.if_else(mask, values, pyarrow.scalar(None, values.type))
