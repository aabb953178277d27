"""The Ray engine: tasks of plain Ray, on the processors of a cluster or of this machine."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from confdiff.engines.engine import Engine, LostCall
from confdiff.engines.ray_cluster import cause_of, check_versions, own_versions, ray_cluster
from confdiff.interruption import interrupts_held_back

ATTEMPTS = 3
"""How often a call is tried while its workers die."""
_POLL_SECONDS = 0.5
_PAUSE_SECONDS = 1.0
"""Seconds to wait before a lost call is tried again: the death of a node is noticed a little later."""


@contextmanager
def open_ray(jobs: int | None, backend: str, address: str | None) -> Iterator[Engine]:
    """Yield the Ray engine, connected to a cluster until the end of the block.

    Workers share no files with this process: results are returned, and :attr:`Engine.send` uses the object store of
    Ray. A call whose worker or node dies is made again, up to :data:`ATTEMPTS` times in all.

    Parameters
    ----------
    jobs : int, optional
        Number of calls at a time, with one processor each; by default all processors of the cluster.
    backend : str
        Not used.
    address : str, optional
        Address of a cluster; see :func:`confdiff.engines.ray_cluster.ray_cluster`.
    """
    with ray_cluster(jobs, address) as ray:
        yield Engine(run=partial(_map, ray, jobs), shares_files=False, send=partial(_send, ray))


@dataclass(frozen=True)
class _Stored:
    """A value in the object store."""

    reference: Any

    def __call__(self) -> Any:
        import ray

        return ray.get(self.reference)


def _send(ray: Any, value: Any) -> _Stored:
    return _Stored(ray.put(value))


@dataclass(frozen=True)
class _Attempt:
    """A call under way: its arguments, and how often it was started."""

    values: tuple[Any, ...]
    number: int = 1


def _map(
    ray: Any, jobs: int | None, function: Callable[..., Any], arguments: Iterable[tuple[Any, ...]]
) -> Iterator[Any]:
    remote = ray.remote(num_cpus=1, max_retries=0)(_call)
    constant = ray.put((function, own_versions()))
    waiting = (_Attempt(values) for values in arguments)
    running: dict[Any, _Attempt] = {}
    try:
        while True:
            with interrupts_held_back():  # Ray would replace SIGTERM by Ctrl-C, and lose results under way
                for attempt in islice(waiting, max(0, _places(ray, jobs) - len(running))):
                    running[remote.remote(constant, attempt.values)] = attempt
                if not running:
                    return
                finished, _ = ray.wait(list(running), timeout=_POLL_SECONDS)
                for reference in finished:
                    attempt = running.pop(reference)
                    outcome = _outcome(ray, reference, attempt)
                    if isinstance(outcome, _Attempt):
                        running[remote.remote(constant, outcome.values)] = outcome
                    else:
                        yield outcome
    finally:
        for reference in running:
            ray.cancel(reference, force=True)


def _places(ray: Any, jobs: int | None) -> int:
    """Return the number of calls at a time: a cluster may grow or shrink while it works."""
    return jobs or max(1, int(ray.cluster_resources().get("CPU", 1)))


def _outcome(ray: Any, reference: Any, attempt: _Attempt) -> Any:
    """Return the result of a call that ended; or the next attempt, or a lost call, if its worker died."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        raise cause_of(error) from None
    except ray.exceptions.RayError as error:
        if attempt.number == ATTEMPTS:
            reason = f"{_reason(error)} This happened {ATTEMPTS} times."
            return LostCall(arguments=attempt.values, reason=reason)
        time.sleep(_PAUSE_SECONDS)
        return _Attempt(attempt.values, attempt.number + 1)


def _reason(error: Exception) -> str:
    """Return the first sentence of a message of Ray, which may go on for a page."""
    first = str(error).strip().splitlines()[0] if str(error).strip() else ""
    return f"{type(error).__name__}: {first.split('. ')[0].rstrip('.')}."


def _call(constant: tuple[Callable[..., Any], dict[str, str]], values: tuple[Any, ...]) -> Any:
    """Call a function in a worker, after a check that its packages are those of the caller."""
    function, versions = constant
    check_versions(versions)
    return function(*values)
