"""The gang of a Ray cluster: one actor per member, in a placement group, so that all of them run at the same time.

The members meet in a TCP store on the node of rank 0. They share no disk with the caller: the arguments travel through
the object store, and rank 0 sends what the caller keeps, such as checkpoints, as messages.
"""

import pickle
import queue
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import cloudpickle
import numpy as np

from confdiff.engines.gang import Member, MemberEndedError, MessageHandler, raise_cause
from confdiff.engines.ray_cluster import cause_of, check_versions, own_versions, ray_cluster
from confdiff.interruption import interrupts_held_back
from confdiff.plugins import Plugin, load_sent_plugins, loaded_plugins

_POLL_SECONDS = 0.1
_PLACES_SECONDS = 60.0
"""How long the caller waits for free processors."""
_LAST_SECONDS = 30.0
"""How long the caller waits for the last messages of rank 0, after a member failed."""


def start_on_ray(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    workers: int,
    *,
    address: str | None = None,
    on_message: MessageHandler | None = None,
) -> Any:
    """Run a gang on a Ray cluster; see :class:`confdiff.engines.gang.StartGang`.

    Parameters
    ----------
    function, arguments, workers, on_message
        As for any engine of gangs. Each member takes one processor.
    address : str, optional
        Address of the cluster, see :func:`confdiff.engines.ray_cluster.ray_cluster`.

    Raises
    ------
    ValueError
        The cluster has too few processors, or other versions of packages.
    MemberEndedError
        A member, or its node, died.
    """
    content = np.frombuffer(cloudpickle.dumps((function, arguments)), dtype=np.uint8)
    with (
        ray_cluster(workers, address) as ray,
        interrupts_held_back() as interrupted,
        _actors(ray, workers) as actors,
    ):
        store = ray.get(actors[0].open_store.remote())
        value = ray.put(content)
        runs = {
            actor.run.remote(rank, workers, store, value, sys.path, own_versions(), loaded_plugins()): rank
            for rank, actor in enumerate(actors)
        }
        return _Caller(ray, actors[0], runs, on_message, interrupted).result()


@contextmanager
def _actors(ray: Any, workers: int) -> Iterator[list[Any]]:
    """Start an actor per member, each with a processor of its own, and end them after the block."""
    from ray.util import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    available = int(ray.cluster_resources().get("CPU", 0))
    if available < workers:
        raise ValueError(
            f"workers={workers} needs as many processors at the same time, and the Ray cluster has {available}."
        )
    group = placement_group([{"CPU": 1}] * workers, strategy="PACK")
    actors: list[Any] = []
    try:
        if not group.wait(_PLACES_SECONDS):
            raise ConnectionError(
                f"the Ray cluster has no {workers} free processors after {_PLACES_SECONDS:.0f} s: others use them."
            )
        strategy = PlacementGroupSchedulingStrategy(group)
        remote = ray.remote(num_cpus=1, max_concurrency=3, scheduling_strategy=strategy)(_Actor)
        actors += [remote.remote() for _ in range(workers)]
        yield actors
    finally:
        for actor in actors:
            ray.kill(actor)
        remove_placement_group(group)


@dataclass
class _Caller:
    """The process that waits for a gang.

    Attributes
    ----------
    ray : module
        Ray.
    first : actor
        The actor of rank 0.
    runs : dict
        Reference of the result of a member that still runs -> its rank.
    on_message : callable or None
        Called with the messages of rank 0.
    interrupted : callable
        Returns whether a signal came.
    """

    ray: Any
    first: Any
    runs: dict[Any, int]
    on_message: MessageHandler | None
    interrupted: Callable[[], bool]
    _results: dict[int, Any] = field(default_factory=dict)
    _failures: list[BaseException] = field(default_factory=list)
    _messages: Any = None

    def result(self) -> Any:
        """Wait for all members and return the result of rank 0; raise the first cause if one of them fails."""
        failed_at = 0.0
        was_stopped = False
        self._messages = self.first.take_messages.remote()
        while self.runs:
            if self.interrupted() and not was_stopped:
                self.first.stop.remote()
                was_stopped = True
            finished, _ = self.ray.wait([self._messages, *self.runs], timeout=_POLL_SECONDS)
            for reference in finished:
                if reference == self._messages:
                    self._receive()
                else:
                    self._finish(reference)
            if self._failures:
                failed_at = failed_at or time.monotonic()
                self._receive_rest(_LAST_SECONDS)
                raise_cause(self._failures, waited=time.monotonic() - failed_at)
        self._receive_rest()
        return self._results[0]

    def _receive(self, timeout: float | None = None) -> None:
        """Pass messages on and ask for more; those of an actor that has died are lost, and its run reports the death.

        A message may be a checkpoint, with which the next run continues.
        """
        try:
            contents = self.ray.get(self._messages, timeout=timeout)
        except self.ray.exceptions.RayError:
            time.sleep(_POLL_SECONDS)
            contents = []
        for message in contents:
            if self.on_message is not None:
                self.on_message(pickle.loads(message))
        self._messages = self.first.take_messages.remote()

    def _receive_rest(self, timeout: float | None = None) -> None:
        """Pass on what was asked for already, and what rank 0 has sent since."""
        self._receive(timeout)
        self._receive(timeout)

    def _finish(self, reference: Any) -> None:
        rank = self.runs.pop(reference)
        try:
            self._results[rank] = self.ray.get(reference)
        except self.ray.exceptions.RayTaskError as error:
            self._failures.append(cause_of(error))
        except self.ray.exceptions.RayError as error:
            self._failures.append(
                MemberEndedError(
                    f"worker {rank} ended before it had a result ({type(error).__name__}): it or its node died. The "
                    "other workers were ended."
                )
            )


class _Actor:
    """A member, in a process of the cluster. Ray calls its methods in threads."""

    def __init__(self) -> None:
        self._is_stopping = threading.Event()
        self._messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._has_ended = threading.Event()
        self._store: Any = None

    def open_store(self) -> str:
        """Open the store in which the members meet, and return its address."""
        from torch import distributed

        host = _own_host()
        listener = socket.create_server((host, 0))
        port = listener.getsockname()[1]
        self._store = distributed.TCPStore(  # type: ignore[attr-defined]
            host, port, is_master=True, wait_for_workers=False, master_listen_fd=listener.detach()
        )
        return f"tcp:{host}:{port}"

    def run(
        self,
        rank: int,
        size: int,
        store: str,
        value: Any,
        path: list[str],
        versions: dict[str, str],
        plugins: Sequence[Plugin],
    ) -> Any:
        """Run the function of the gang; only the result of rank 0 is returned."""
        check_versions(versions)
        sys.path += [place for place in path if place not in sys.path]
        member = Member(
            rank=rank,
            size=size,
            store=store,
            host=_own_host(),
            shares_disk=False,
            folder=None,
            send=self._send if rank == 0 else _drop,
            is_stopping=self._is_stopping.is_set,
        )
        try:
            load_sent_plugins(plugins)
            function, arguments = pickle.loads(memoryview(value))
            result = function(member, *arguments)
        finally:
            self._has_ended.set()
        return result if rank == 0 else None

    def stop(self) -> None:
        """Ask the member to stop."""
        self._is_stopping.set()

    def take_messages(self) -> list[bytes]:
        """Return the messages since the last call, after a short wait for the first one."""
        messages: list[bytes] = []
        deadline = time.monotonic() + _POLL_SECONDS
        while not messages and time.monotonic() < deadline:
            if self._has_ended.is_set():
                deadline = 0.0
            while not self._messages.empty():
                messages.append(self._messages.get())
            time.sleep(0 if messages else 0.02)
        return messages

    def _send(self, message: Any) -> None:
        self._messages.put(cloudpickle.dumps(message))


def _drop(message: Any) -> None:
    pass


def _own_host() -> str:
    """Return the address of this node at which the others reach it."""
    from ray.util import get_node_ip_address

    return str(get_node_ip_address())  # type: ignore[no-untyped-call]
