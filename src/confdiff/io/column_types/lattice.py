"""The types of columns, and the type of two parts of a column."""

from functools import reduce
from typing import Literal, get_args

ColumnType = Literal["empty", "integer", "number", "flag", "time", "duration", "text", "vector"]
"""The type of the values of a column: ``integer`` is inside 64 bits, ``flag`` is true or false, ``vector`` a list of
numbers, as many in all rows."""

TYPES: tuple[ColumnType, ...] = get_args(ColumnType)

TextParsing = Literal["all", "times", "none"]
"""Which cells of text a format writes for other values: all (CSV), only times (JSON), or none (Parquet)."""


def check_type(name: object) -> ColumnType:
    """Check that a name is that of a type, and return it."""
    for known in TYPES:
        if name == known:
            return known
    raise ValueError(f"the type of a column must be one of {', '.join(TYPES)}; got {name!r}.")


def join(*types: ColumnType) -> ColumnType:
    """Return the narrowest type that holds the values of all types.

    >>> join("integer", "empty", "number"), join("integer", "flag"), join()
    ('number', 'text', 'empty')
    """
    return reduce(_join_two, types, "empty")


def _join_two(first: ColumnType, second: ColumnType) -> ColumnType:
    if first == second or second == "empty":
        return first
    if first == "empty":
        return second
    return "number" if {first, second} == {"integer", "number"} else "text"
