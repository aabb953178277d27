"""Engines of others: any backend of joblib, such as Dask's, by its name."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

from confdiff.engines.engine import Engine
from confdiff.engines.processes import DEFAULT_JOBS


def open_joblib(jobs: int | None, backend: str | None) -> AbstractContextManager[Engine]:
    """Return the engine of a joblib backend; its workers may be on other machines.

    Parameters
    ----------
    jobs : int, optional
        Number of calls at a time, by default two.
    backend : str
        The name that the backend is registered under, such as ``"dask"``. Register it, and connect to its cluster,
        before.
    """
    if not backend:
        raise ValueError("engine='joblib' must name a backend after a colon, such as joblib:dask.")
    return _opened(DEFAULT_JOBS if jobs is None else jobs, backend)


@contextmanager
def _opened(jobs: int, backend: str) -> Iterator[Engine]:
    from joblib import parallel_config

    with parallel_config(backend=backend, n_jobs=jobs):  # it refuses an unknown name with the names that it knows
        yield Engine(run=partial(_map, jobs), shares_files=False)


def _map(jobs: int, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    from joblib import Parallel, delayed

    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
    yield from workers(delayed(function)(*values) for values in arguments)
