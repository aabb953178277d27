"""Engines: maps over work, chosen by name. The work does not depend on the engine.

An engine is a function ``(function, arguments, jobs) -> iterator of results``. It calls ``function(*arguments[i])`` for
every i, with at most ``jobs`` calls at a time, and yields results as they come, in any order. An exception of a call is
raised to the caller. A new engine is one module and one row of :data:`ENGINES`.

A gang is N processes that run one function together, see :mod:`confdiff.engines.gang`. Its engines are the rows of
:data:`GANGS`.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from confdiff.engines.gang import GangBrokenError, Member, MemberEndedError, MessageHandler, StartGang, open_store
from confdiff.engines.local import start_locally
from confdiff.engines.processes import OrphanedWorkerError, map_in_processes
from confdiff.engines.serial import map_serially
from confdiff.validation import check_choice

Engine = Callable[[Callable[..., Any], Sequence[tuple[Any, ...]], int], Iterator[Any]]

ENGINES: dict[str, Engine] = {
    "serial": map_serially,
    "processes": map_in_processes,
}
"""Name -> engine."""

GANGS: dict[str, StartGang] = {
    "local": start_locally,
}
"""Name -> engine of gangs."""


def find_engine(name: str | None, jobs: int = 1) -> Engine:
    """Return the engine of a name; without a name, ``serial`` for one job and ``processes`` for more.

    Parameters
    ----------
    name : str or None
        A name in :data:`ENGINES`.
    jobs : int
        Number of calls at a time, which decides where no name is given.

    Examples
    --------
    >>> find_engine(None, jobs=1) is ENGINES["serial"]
    True
    """
    if name is None:
        name = "serial" if jobs == 1 else "processes"
    return ENGINES[check_choice("engine", name, ENGINES)]


def start_gang(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    workers: int,
    *,
    engine: str = "local",
    address: str | None = None,
    on_message: MessageHandler | None = None,
) -> Any:
    """Call ``function(member, *arguments)`` in ``workers`` processes that run together, and return rank 0's result.

    Parameters
    ----------
    function, arguments, workers, address, on_message
        As in :class:`confdiff.engines.gang.StartGang`.
    engine : str
        A name in :data:`GANGS`.

    Examples
    --------
    >>> start_gang(lambda member, base: base ** member.size, (3,), 2)
    9
    """
    start = GANGS[check_choice("engine", engine, GANGS)]
    return start(function, arguments, workers, address=address, on_message=on_message)


__all__ = [
    "ENGINES",
    "GANGS",
    "Engine",
    "GangBrokenError",
    "Member",
    "MemberEndedError",
    "MessageHandler",
    "OrphanedWorkerError",
    "StartGang",
    "find_engine",
    "map_in_processes",
    "map_serially",
    "open_store",
    "start_gang",
]
