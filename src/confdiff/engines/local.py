"""The gang of this machine: N new processes with one thread each, which the caller watches through pipes.

Each member gets its instructions by its standard input and answers by its standard output. A member ends when its input
ends, so that none outlives the caller. Members do not import the caller's ``__main__``, so scripts need no guard.
"""

import math
import os
import pickle
import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confdiff.engines.gang import MemberEndedError, MessageHandler, raise_cause
from confdiff.engines.handing_over import dump_shared
from confdiff.interruption import interrupts_held_back
from confdiff.plugins import loaded_plugins

_START = "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); from confdiff.engines import local_member; "
_START += "local_member.run_member()"
_ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
_POLL_SECONDS = 0.1


@dataclass
class _Process:
    """A member, as the caller sees it."""

    rank: int
    process: "subprocess.Popen[bytes]"
    lock: threading.Lock = field(default_factory=threading.Lock)
    reader: threading.Thread | None = None

    def tell(self, *messages: Any) -> None:
        """Send messages; a member that has ended gets none."""
        assert self.process.stdin is not None
        with self.lock, suppress(OSError):
            for message in messages:
                pickle.dump(message, self.process.stdin)
            self.process.stdin.flush()

    def answers(self) -> Iterator[tuple[str, Any]]:
        """Yield the answers of the member, and at its end how it ended."""
        assert self.process.stdout is not None
        try:
            while True:
                yield pickle.load(self.process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            yield "ended", self.process.wait()

    def close(self) -> None:
        """Close the pipes of a process that has ended, after its last answer was read."""
        if self.reader is not None:
            self.reader.join()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            with suppress(OSError):  # the rest of a message to a member that has ended
                stream.close()


def start_locally(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    workers: int,
    *,
    address: str | None = None,
    on_message: MessageHandler | None = None,
) -> Any:
    """Run a gang of processes on this machine; see :class:`confdiff.engines.gang.StartGang`.

    Large arrays among the arguments are written to a temporary folder once, and every member maps them.

    Raises
    ------
    MemberEndedError
        If a member was killed or ended by itself.
    Exception
        The first exception that a member raised.
    """
    if address is not None:
        raise ValueError(f"address={address!r} is for engine='ray'; engine='local' is this machine. Omit it.")
    with tempfile.TemporaryDirectory(prefix="confdiff-gang-") as name:
        folder = Path(name)
        value = dump_shared((function, arguments), folder)
        with _processes(workers) as members, interrupts_held_back() as interrupted:
            for member in members:
                instructions = {"rank": member.rank, "size": workers, "value": value, "folder": folder}
                member.tell(sys.path, instructions | {"plugins": loaded_plugins()})
            return _result(members, on_message, interrupted)


@contextmanager
def _processes(workers: int) -> Iterator[list[_Process]]:
    """Start the processes, and end those that still run at the end of the block."""
    members: list[_Process] = []
    try:
        for rank in range(workers):
            members.append(_Process(rank, _started()))
        yield members
    finally:
        for member in members:
            member.process.kill()
        for member in members:
            member.process.wait()
            member.close()


def _started() -> "subprocess.Popen[bytes]":
    """Start a process in a session of its own, which Ctrl-C in the terminal does not reach."""
    return subprocess.Popen(
        [sys.executable, "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | _ONE_THREAD,
        start_new_session=True,
    )


def _result(members: list[_Process], on_message: MessageHandler | None, interrupted: Callable[[], bool]) -> Any:
    """Wait for all members and return the result of rank 0; raise the first cause if one of them fails."""
    answers: queue.SimpleQueue[tuple[int, str, Any]] = queue.SimpleQueue()
    for member in members:
        member.reader = threading.Thread(target=_forward, args=(member, answers), daemon=True)
        member.reader.start()
    results: dict[int, Any] = {}
    failures: dict[int, BaseException] = {}
    failed_at = math.inf
    is_told = False
    while len(results) < len(members):
        if interrupted() and not is_told:
            members[0].tell("stop")
            is_told = True
        if failures:
            failed_at = min(failed_at, time.monotonic())
            raise_cause(list(failures.values()), waited=time.monotonic() - failed_at)
        try:
            rank, kind, value = answers.get(timeout=_POLL_SECONDS)
        except queue.Empty:
            continue
        if kind == "message" and on_message is not None:
            on_message(value)
        elif kind == "result":
            results[rank] = value
        elif kind == "error":
            failures[rank] = value
        elif kind == "ended" and rank not in results:
            failures.setdefault(rank, _ended(rank, value))
    return results[0]


def _forward(member: _Process, answers: "queue.SimpleQueue[tuple[int, str, Any]]") -> None:
    for kind, value in member.answers():
        answers.put((member.rank, kind, value))


def _ended(rank: int, status: int) -> MemberEndedError:
    how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
    hint = " (out of memory?)" if status == -9 else ""
    return MemberEndedError(f"worker {rank} {how}{hint} before it had a result; the other workers were ended.")
