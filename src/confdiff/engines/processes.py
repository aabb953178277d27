"""The process engine: worker processes of one thread each, by joblib and loky."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class OrphanedWorkerError(RuntimeError):
    """A worker has outlived the process that started it, and declined its next item of work."""


def map_in_processes(
    function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], jobs: int = 2
) -> Iterator[Any]:
    """Yield ``function(*each)`` for each tuple of arguments, as the worker processes finish them.

    A worker whose parent process was killed finishes its current item and declines all others. A restarted command
    therefore does not compete with it.

    Parameters
    ----------
    function : callable
        A function that worker processes can import, or that cloudpickle can send to them.
    arguments : sequence of tuples
        One tuple of positional arguments for each call.
    jobs : int
        Number of worker processes.

    Yields
    ------
    Results in the order in which they are finished.

    Raises
    ------
    OrphanedWorkerError
        If a worker declined an item because this process is not its parent.
    """
    from joblib import Parallel, delayed, parallel_config

    starter = os.getpid()
    with parallel_config(backend="loky", inner_max_num_threads=1):
        workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from workers(delayed(_call_as_child_of)(starter, function, values) for values in arguments)


def _call_as_child_of(starter: int, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Call the function, unless the parent process of this worker has ended.

    The exception marks an item as declined, not finished.
    """
    if os.getppid() != starter:
        raise OrphanedWorkerError(f"the process {starter} that started this worker has ended: the work was not done.")
    return function(*values)
