"""Engines of others: any backend of joblib by its name, and Dask's by the address of its cluster."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from importlib import import_module
from typing import Any

from confdiff.engines.engine import Engine
from confdiff.engines.processes import DEFAULT_JOBS

_CONNECT_SECONDS = 5


def open_joblib(jobs: int | None, backend: str, address: str | None) -> AbstractContextManager[Engine]:
    """Return the engine of a joblib backend; its workers may be on other machines.

    Parameters
    ----------
    jobs : int, optional
        Number of calls at a time; by default two, and all processors of a Dask cluster.
    backend : str
        The name that the backend is registered under, such as ``"dask"``. Register a backend of your own before.
    address : str, optional
        The address of the scheduler of a Dask cluster, such as ``"10.0.0.1:8786"``. By default, the client that the
        program has opened is used.
    """
    if not backend:
        raise ValueError("engine='joblib' must name a backend after a colon, such as joblib:dask.")
    if backend == "dask":
        return _opened_dask(jobs, address)
    if address is not None:
        raise ValueError(f"address={address!r} would not be used by engine='joblib:{backend}'. Omit it.")
    return _opened(DEFAULT_JOBS if jobs is None else jobs, backend)


@contextmanager
def _opened(jobs: int | None, backend: str, options: Mapping[str, Any] | None = None) -> Iterator[Engine]:
    from joblib import parallel_config

    n_jobs = -1 if jobs is None else jobs
    with parallel_config(backend=backend, n_jobs=n_jobs, **(options or {})):  # it refuses an unknown name
        yield Engine(run=partial(_map, jobs), shares_files=False)


@contextmanager
def _opened_dask(jobs: int | None, address: str | None) -> Iterator[Engine]:
    """Connect to a Dask cluster for a block."""
    distributed = _import_distributed()
    if address is None:
        with _opened(jobs, "dask", {"client": _current_client(distributed)}) as engine:
            yield engine
        return
    with _connected(distributed, address) as client, _opened(jobs, "dask", {"client": client}) as engine:
        yield engine


def _import_distributed() -> Any:
    try:
        return import_module("distributed")
    except ImportError as error:
        raise ValueError(
            "engine='joblib:dask' needs the package distributed: install it with `pip install distributed`."
        ) from error


def _current_client(distributed: Any) -> Any:
    try:
        return distributed.get_client()
    except ValueError as error:
        raise ValueError(
            "engine='joblib:dask' needs a Dask cluster: pass address='...', the host and port of its scheduler."
        ) from error


def _connected(distributed: Any, address: str) -> Any:
    """Return a client, which disconnects at the end of its block."""
    try:
        return distributed.Client(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConnectionError(
            f"no Dask scheduler answers at {address}. Is it running, and do versions of Dask agree?"
        ) from error


def _map(jobs: int | None, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]) -> Iterator[Any]:
    """Yield results; calls are handed over as others end, because a backend may have its own number of workers."""
    from joblib import Parallel, delayed

    at_a_time = "n_jobs" if jobs is None else jobs
    workers = Parallel(return_as="generator_unordered", batch_size=1, pre_dispatch=at_a_time)
    yield from workers(delayed(function)(*values) for values in arguments)
