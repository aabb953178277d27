"""The serial engine: one call after the other, in this process."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any


def map_serially(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], jobs: int = 1) -> Iterator[Any]:
    """Yield ``function(*each)`` for each tuple of arguments, in order. ``jobs`` has no effect.

    Examples
    --------
    >>> list(map_serially(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    for values in arguments:
        yield function(*values)
