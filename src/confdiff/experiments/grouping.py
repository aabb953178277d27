"""Rows by what they have in common."""

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Row = TypeVar("Row")


def grouped(rows: Iterable[Row], key: Callable[[Row], Hashable]) -> list[list[Row]]:
    """The rows of each key, in the order in which keys are met first.

    >>> grouped([3, 1, 5, 2], lambda number: number % 2)
    [[3, 1, 5], [2]]
    """
    groups: dict[Hashable, list[Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())
