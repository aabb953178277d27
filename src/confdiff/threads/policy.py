"""Decide how many threads a piece of work gets."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from confdiff.threads.cpus import available_cpus
from confdiff.threads.pools import Pool, limited_pools

F = TypeVar("F", bound=Callable[..., Any])

LARGE_PRODUCT = 4 * 10**9
"""Multiply-adds of a matrix product from which several threads compute it (about 100 ms on one core).

Measured by ``benchmarks/threads.py`` on two cores. Below this size, a step with two threads took up to 30 times as long
as with one if other programs kept the cores busy; from this size, at most 1.6 times. On idle cores, two threads are 1.9
times as fast.
"""

_MULTIPLY_ADDS_PER_VALUE = 30  # one pass over values in memory takes as long per value as these

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
_chosen: ContextVar[int | None] = ContextVar("chosen", default=None)


def threads_for(multiply_adds: float) -> int:
    """Return the number of threads for work of some size; a library with its own option for threads takes this number.

    Parameters
    ----------
    multiply_adds : float
        Multiply-adds of the largest matrix product, or :func:`pass_over` of the values that are read.

    Returns
    -------
    int
        The number that was set by :func:`use_threads`, ``OMP_NUM_THREADS`` or ``MKL_NUM_THREADS``. Otherwise 1 below
        :data:`LARGE_PRODUCT`, and the number of available processors above it.

    Examples
    --------
    >>> with use_threads(3):
    ...     threads_for(100)
    3
    """
    explicit = explicit_threads()
    if explicit is not None:
        return explicit
    return 1 if multiply_adds < LARGE_PRODUCT else available_cpus()


def pass_over(n_values: int) -> float:
    """Return the size of a pass over values in memory, such as a matrix-vector product, in multiply-adds.

    >>> pass_over(1000) < LARGE_PRODUCT < pass_over(1_000_000_000)
    True
    """
    return _MULTIPLY_ADDS_PER_VALUE * float(n_values)


def explicit_threads() -> int | None:
    """Return the number of threads that the user has set, by a block or the environment, or None."""
    chosen = _chosen.get()
    return _threads_of_environment() if chosen is None else chosen


def _threads_of_environment() -> int | None:
    for name in _VARIABLES:
        first = os.environ.get(name, "").split(",")[0].strip()  # a list has one number per level of nested regions
        if first.isdecimal() and int(first) > 0:
            return int(first)
    return None


@contextmanager
def computing(multiply_adds: float) -> Iterator[None]:
    """Compute a piece of work with as many threads as its size deserves, and restore their number after it.

    A number that the program set itself, by ``torch.set_num_threads`` or threadpoolctl, is never exceeded.

    Parameters
    ----------
    multiply_adds : float
        As in :func:`threads_for`.
    """
    chosen = _chosen.get()
    if chosen is not None:  # again for libraries that were loaded since
        with limited_pools(lambda pool, original: chosen):
            yield
        return
    threads = threads_for(multiply_adds)
    most = explicit_threads() or available_cpus()

    def limit(pool: Pool, original: int) -> int:
        return min(original, threads if pool.busy_waiting else most)

    with limited_pools(limit):
        yield


def follow_policy(function: F) -> F:
    """Decorate a function that users call: it computes with one thread, except for pieces of large work inside it.

    Checks and conversions of arrays would otherwise start the threads of PyTorch, which then wait in busy loops.
    """
    decorated: F = computing(0)(function)
    return decorated


@contextmanager
def use_threads(threads: int) -> Iterator[None]:
    """Compute everything inside the block with this number of threads, whatever the size of the work.

    Parameters
    ----------
    threads : int
        The number of threads, at least 1. It wins over the environment.

    Examples
    --------
    >>> import torch
    >>> with use_threads(1):
    ...     torch.get_num_threads()
    1
    """
    from confdiff.validation import check_count  # here, because it imports PyTorch

    check_count("threads", threads)
    token = _chosen.set(threads)
    try:
        with limited_pools(lambda pool, original: threads):
            yield
    finally:
        _chosen.reset(token)


def one_thread() -> AbstractContextManager[None]:
    """Compute with one thread inside the block, and restore the numbers of threads after it.

    Several threads add numbers in another order, so the last digits of a result depend on the number of threads.
    """
    return use_threads(1)
