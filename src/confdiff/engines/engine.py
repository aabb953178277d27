"""The interface of engines."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

Fetch = Callable[[], Any]
"""Called in a worker, it returns a value that :attr:`Engine.send` took."""


def _held(value: Any) -> Fetch:
    return _Held(value)


@dataclass(frozen=True)
class _Held:
    """A value that travels with each call."""

    value: Any

    def __call__(self) -> Any:
        return self.value


@dataclass(frozen=True)
class Engine:
    """An open engine: a map over work.

    Attributes
    ----------
    run : callable
        ``run(function, arguments)`` calls ``function(*each)`` for each tuple of arguments and yields the results as
        they come, in any order. An exception of a call is raised to the caller. If the workers of a call die
        repeatedly, its result is a :class:`LostCall`.
    shares_files : bool
        Whether the workers read and write the files of this machine. If not, files are sent, and results come back.
    send : callable
        Sends a value to the workers once, and returns what calls use to fetch it.
    """

    run: Callable[[Callable[..., Any], Iterable[tuple[Any, ...]]], Iterator[Any]]
    shares_files: bool = True
    send: Callable[[Any], Fetch] = _held


@dataclass(frozen=True)
class LostCall:
    """A call that has no result, because its workers died.

    Attributes
    ----------
    arguments : tuple
        The arguments of the call.
    reason : str
        What happened, and how often it was tried.
    """

    arguments: tuple[Any, ...]
    reason: str
