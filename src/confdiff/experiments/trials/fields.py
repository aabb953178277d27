"""Checks of the fields of a line of a result file, for all kinds of records."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from confdiff.validation import check_number


def take(values: dict[str, Any], name: str) -> Any:
    """Remove a field and return its value; a missing one is an error."""
    if name not in values:
        raise ValueError(f"the field {name!r} is missing")
    return values.pop(name)


def check_fields(kind: type, values: Mapping[str, Any]) -> None:
    """Check that a kind of record has all of these fields."""
    known = {item.name for item in fields(kind)}
    unknown = [name for name in values if name not in known]
    if unknown:
        raise ValueError(f"unknown fields: {', '.join(map(repr, unknown))}")


def check_unit(name: str, value: float) -> None:
    """Check a number from 0 to 1, such as an accuracy or a hit rate."""
    if check_number(name, value, least=0) > 1:
        raise ValueError(f"{name} must be at most 1; got {value!r}.")
