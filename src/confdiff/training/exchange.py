"""How the workers of a training run add their numbers: by memory that they share, or over the network.

An exchange is a function that adds the values of all workers to a contiguous tensor, in place. All workers call it in
the same order with tensors of the same size and type, and all get the same result to the last bit.
"""

import os
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, distributed

from confdiff.engines import GangBrokenError, Member, open_store
from confdiff.io.atomic import naming_full_disk

Exchange = Callable[[Tensor], None]
"""Adds the values of all workers, in place."""

_LONGEST = timedelta(days=30)  # an evaluation of rank 0 may take long; the engine notices a member that ends
_CHUNK_BYTES = 2**21
"""Larger tensors are added in parts, so that the shared file stays small."""
_SCATTERED_BYTES = 2**16
"""From this size on, each of three or more workers adds a part only, and all copy the sums of the others."""
_ATTEMPTS = 50
"""How often a worker looks for the others, about a microsecond each, before it sleeps until they come."""
_groups: list[Any] = []
"""All process groups, to the end of the process: the end of one before the others have ended breaks their exchange."""


def open_exchange(member: Member) -> Exchange:
    """Return the exchange of a gang: shared memory if its members are processes of one machine."""
    if member.folder is not None and hasattr(os, "mkfifo"):
        return _SharedMemory(member, member.folder).add
    with naming_lost_workers():
        return _Network(member).add


@contextmanager
def naming_lost_workers() -> Iterator[None]:
    """Convert an error of the exchange, which is the consequence of another one."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise GangBrokenError(f"lost the connection to another worker: {error}") from error


class _Network:
    """Sums by torch.distributed with gloo; its global process group is left to other programs."""

    def __init__(self, member: Member) -> None:
        torch_distributed: Any = distributed  # its names are not declared
        options = torch_distributed.ProcessGroupGloo._Options()
        options._devices = [torch_distributed.ProcessGroupGloo.create_device(hostname=member.host)]
        options._timeout = _LONGEST
        store = torch_distributed.PrefixStore("training", open_store(member))
        self._group = torch_distributed.ProcessGroupGloo(store, member.rank, member.size, options)
        _groups.append(self._group)

    def add(self, values: Tensor) -> None:
        with naming_lost_workers():
            self._group.allreduce([values]).wait()


class _SharedMemory:
    """Sums in a file that all workers map: for small tensors several times as fast as by sockets.

    Each worker writes its values to a slot of its own. The workers meet, and each adds all slots in the order of the
    ranks. Two areas of slots take turns: a worker that writes to an area has met the others after they read it last.
    """

    def __init__(self, member: Member, folder: Path) -> None:
        self.rank = member.rank
        self.size = member.size
        file = folder / "sums"
        n_bytes = 2 * member.size * _CHUNK_BYTES
        _reserve(file, n_bytes)
        self._areas = torch.from_file(str(file), shared=True, size=n_bytes, dtype=torch.uint8).view(2, member.size, -1)
        self._turn = 0
        self._meeting = _Meeting(member, folder)

    def add(self, values: Tensor) -> None:
        with naming_lost_workers():
            for chunk in torch.split(values.view(-1), _CHUNK_BYTES // values.element_size()):
                self._add(chunk)

    def _add(self, values: Tensor) -> None:
        self._turn = 1 - self._turn
        n_bytes = len(values) * values.element_size()
        slots = list(self._areas[self._turn][:, :n_bytes].view(values.dtype))
        slots[self.rank].copy_(values)
        self._meeting.wait()
        if self.size == 2 or n_bytes < _SCATTERED_BYTES:
            _add_up(slots, out=values)
            return
        parts = [slot.tensor_split(self.size)[self.rank] for slot in slots]
        _add_up(parts, out=parts[0])
        self._meeting.wait()
        values.copy_(slots[0])


def _reserve(file: Path, n_bytes: int) -> None:
    """Reserve the room of a file: a process that writes to a mapped file on a full disk is killed without a word."""
    file.touch()
    with naming_full_disk(file), file.open("r+b") as handle:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(handle.fileno(), 0, n_bytes)


def _add_up(slots: list[Tensor], out: Tensor) -> None:
    """Add tensors one after the other; the result may be the first of them."""
    first, second, *others = slots
    torch.add(first, second, out=out)
    for slot in others:
        out.add_(slot)


class _Meeting:
    """A point that no worker passes before all others have come, by a named pipe for each ordered pair of workers.

    What a worker has written to shared memory before it comes is seen by the others after the meeting, on every
    processor, because the system orders both around its pipes. A pipe also ends with its writer.
    """

    def __init__(self, member: Member, folder: Path) -> None:
        others = [rank for rank in range(member.size) if rank != member.rank]
        store = open_store(member)
        for other in others:
            os.mkfifo(folder / f"signals-{other}-{member.rank}")
        self._incoming = [
            os.open(folder / f"signals-{other}-{member.rank}", os.O_RDONLY | os.O_NONBLOCK) for other in others
        ]
        _wait_for_all(store, "reading", member)  # a pipe without a reader cannot be opened for writing
        self._outgoing = [os.open(folder / f"signals-{member.rank}-{other}", os.O_WRONLY) for other in others]
        _wait_for_all(store, "writing", member)  # a pipe without a writer seems to have ended
        self._waiting = select.poll()

    def wait(self) -> None:
        """Wait for all other workers."""
        for pipe in self._outgoing:
            os.write(pipe, b"!")
        for pipe in self._incoming:
            if not self._read(pipe):
                raise ConnectionError("it has ended")

    def _read(self, pipe: int) -> bytes:
        """Return the signal of another worker, or nothing if it has ended."""
        for _ in range(_ATTEMPTS):
            try:
                return os.read(pipe, 1)
            except BlockingIOError:
                continue
        self._waiting.register(pipe, select.POLLIN)
        self._waiting.poll()
        self._waiting.unregister(pipe)
        return os.read(pipe, 1)


def _wait_for_all(store: Any, step: str, member: Member) -> None:
    """Wait until all members have come to a step of the connection."""
    store.set(f"{step}-{member.rank}", "1")
    store.wait([f"{step}-{rank}" for rank in range(member.size)], _LONGEST)
