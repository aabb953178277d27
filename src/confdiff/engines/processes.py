"""The process engine: worker processes of one thread each, by joblib and loky."""

import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

from confdiff.engines.engine import Engine

DEFAULT_JOBS = 2
"""Number of worker processes where none is given."""
_WATCH_SECONDS = 0.1


class OrphanedWorkerError(RuntimeError):
    """A worker has outlived the process that started it, and declined its next item of work."""


@contextmanager
def open_processes(jobs: int | None, backend: str, address: str | None) -> Iterator[Engine]:
    """Yield the process engine, which calls ``jobs`` functions at a time, by default two.

    A worker whose parent process was killed ends at once, and starts no other item. A restarted command therefore
    does not compete with it, and nothing is done twice. A worker that declines an item for this reason raises
    :class:`OrphanedWorkerError`.
    """
    yield Engine(run=partial(_map, DEFAULT_JOBS if jobs is None else jobs))


def _map(jobs: int, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    from joblib import Parallel, delayed, parallel_config

    starter = os.getpid()
    with parallel_config(backend="loky", inner_max_num_threads=1):
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from workers(delayed(_call_as_child_of)(starter, function, values) for values in arguments)


def _call_as_child_of(starter: int, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Call the function, unless the parent process of this worker has ended.

    The exception marks an item as declined, not finished. With one job, joblib starts no worker: this is the starter.
    """
    if os.getpid() == starter:
        return function(*values)
    if os.getppid() != starter:
        raise OrphanedWorkerError(f"the process {starter} that started this worker has ended: the work was not done.")
    _end_together_with(starter)
    return function(*values)


@cache
def _end_together_with(starter: int) -> None:
    """Start a thread that ends this worker as soon as the process that started it has ended."""

    def watch() -> None:
        while os.getppid() == starter:
            time.sleep(_WATCH_SECONDS)
        os._exit(1)

    threading.Thread(target=watch, name="watch-parent", daemon=True).start()
