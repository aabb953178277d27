"""Engines: maps over work, chosen by name. The work does not depend on the engine.

An engine is opened for a block of code, because some of them start processes or connect to a cluster. Inside the block
it is an :class:`Engine`. A new engine is one module and one row of :data:`ENGINES`.

A gang is N processes that run one function together, see :mod:`confdiff.engines.gang`. Its engines are the rows of
:data:`GANGS`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from confdiff.engines.engine import Engine, Fetch, LostCall
from confdiff.engines.gang import GangBrokenError, Member, MemberEndedError, MessageHandler, StartGang, open_store
from confdiff.engines.joblib_backends import open_joblib
from confdiff.engines.local import start_locally
from confdiff.engines.processes import OrphanedWorkerError, open_processes
from confdiff.engines.ray import open_ray
from confdiff.engines.ray_gang import start_on_ray
from confdiff.engines.serial import open_serial
from confdiff.plugins import Plugin, load_sent_plugins, loaded_plugins
from confdiff.validation import check_choice, check_count

Opener = Callable[[int | None, str, str | None], AbstractContextManager[Engine]]
"""Number of calls at a time, or None; the part of the name after a colon; the address -> engine for a block."""

ENGINES: dict[str, Opener] = {
    "serial": open_serial,
    "processes": open_processes,
    "joblib": open_joblib,
    "ray": open_ray,
}
"""Name -> how it is opened. The name of a joblib backend follows a colon: ``joblib:dask``."""

GANGS: dict[str, StartGang] = {
    "local": start_locally,
    "ray": start_on_ray,
}
"""Name -> engine of gangs."""


def open_engine(
    name: str | None = None, *, jobs: int | None = None, address: str | None = None
) -> AbstractContextManager[Engine]:
    """Return an engine for the block of a ``with`` statement.

    Parameters
    ----------
    name : str, optional
        A name in :data:`ENGINES`. By default, ``serial`` for one call at a time and ``processes`` for more.
    jobs : int, optional
        Number of calls at a time. By default, one with ``serial``, two with ``processes`` and joblib, and all
        processors of the cluster with ``ray`` and ``joblib:dask``.
    address : str, optional
        The address of a Ray cluster, such as ``"auto"`` or ``"10.0.0.1:6379"``. By default, ``ray`` connects to the
        cluster that ``RAY_ADDRESS`` names, and starts a cluster on this machine if there is none. For ``joblib:dask``,
        the address of the scheduler.

    Examples
    --------
    >>> with open_engine("serial") as engine:
    ...     list(engine.run(pow, [(2, 3), (3, 2)]))
    [8, 9]
    """
    if jobs is not None:
        check_count("jobs", jobs)
    if name is None:
        name = "serial" if jobs in (None, 1) else "processes"
    kind, _, backend = name.partition(":")
    open_chosen = ENGINES[check_choice("engine", kind, ENGINES)]
    if backend and kind != "joblib":
        raise ValueError(f"engine={name!r} must have no name after a colon; only joblib takes one: joblib:{backend}.")
    if address is not None and kind not in ("ray", "joblib"):
        raise ValueError(
            f"address={address!r} would not be used: only engine='ray' and 'joblib:dask' connect to a cluster."
        )
    return _with_plugins(open_chosen(jobs, backend, address))


@contextmanager
def _with_plugins(opened: AbstractContextManager[Engine]) -> Iterator[Engine]:
    """Yield an engine whose workers load the plug-ins of this process before they call a function."""
    with opened as engine:

        def run(function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
            plugins = loaded_plugins()
            return engine.run(partial(_call, plugins, function) if plugins else function, arguments)

        yield replace(engine, run=run)


def _call(plugins: Sequence[Plugin], function: Callable[..., Any], *arguments: Any) -> Any:
    load_sent_plugins(plugins)
    return function(*arguments)


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
    "Fetch",
    "GangBrokenError",
    "LostCall",
    "Member",
    "MemberEndedError",
    "MessageHandler",
    "Opener",
    "OrphanedWorkerError",
    "StartGang",
    "open_engine",
    "open_store",
    "start_gang",
]
