"""The serial engine: one call after the other, in this process."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from confdiff.engines.engine import Engine


@contextmanager
def open_serial(jobs: int | None, backend: str, address: str | None) -> Iterator[Engine]:
    """Yield the serial engine. The arguments have no effect."""
    yield Engine(run=_map)


def _map(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    for values in arguments:
        yield function(*values)
