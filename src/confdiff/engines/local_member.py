"""A member of a local gang: the program of a new process. See :mod:`confdiff.engines.local`."""

import os
import pickle
import signal
import sys
import threading
import traceback
from typing import Any

import cloudpickle

from confdiff.engines.gang import Member
from confdiff.engines.handing_over import load_shared
from confdiff.plugins import load_sent_plugins

_LOOPBACK = "127.0.0.1"


class _Caller:
    """The process that started the gang: it speaks by standard input, and is answered by standard output."""

    def __init__(self) -> None:
        self._input = sys.stdin.buffer
        self._output = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the function prints must not mix with answers
        self._lock = threading.Lock()
        self._is_stopping = threading.Event()

    def instructions(self) -> dict[str, Any]:
        """Return the first message, and listen for more in a thread."""
        first: dict[str, Any] = pickle.load(self._input)
        threading.Thread(target=self._listen, name="caller", daemon=True).start()
        return first

    def is_stopping(self) -> bool:
        """Return whether the caller has asked the gang to stop."""
        return self._is_stopping.is_set()

    def answer(self, kind: str, value: Any) -> None:
        """Send an answer; an exception that cannot be pickled becomes a RuntimeError with its text."""
        content = cloudpickle.dumps((kind, value))
        with self._lock:
            self._output.write(content)
            self._output.flush()

    def _listen(self) -> None:
        """Note a request to stop, and end this process as soon as the caller has ended."""
        try:
            while pickle.load(self._input) == "stop":
                self._is_stopping.set()
        except (EOFError, OSError, pickle.UnpicklingError):
            pass
        os._exit(1)


def run_member() -> None:
    """Run the function of the gang, and answer with its result or with the exception that it raised."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    caller = _Caller()
    given = caller.instructions()
    rank = given["rank"]
    member = Member(
        rank=rank,
        size=given["size"],
        store=f"file:{given['folder'] / 'store'}",
        host=_LOOPBACK,
        shares_disk=True,
        folder=given["folder"],
        send=lambda message: caller.answer("message", message) if rank == 0 else None,
        is_stopping=caller.is_stopping,
    )
    try:
        load_sent_plugins(given["plugins"])  # before the arguments, which may be objects of their classes
        function, arguments = load_shared(given["value"])
        result = function(member, *arguments)
        caller.answer("result", result if rank == 0 else None)
    except BaseException as error:
        _answer_error(caller, error)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # threads of libraries must not delay the end


def _answer_error(caller: _Caller, error: BaseException) -> None:
    """Send an exception with its traceback as a note, which programs that do not catch it show."""
    error.add_note("in a worker:\n" + "".join(traceback.format_exception(error)).rstrip())
    error.__traceback__ = None
    try:
        content = cloudpickle.dumps(error)
        pickle.loads(content)
    except Exception:
        caller.answer("error", RuntimeError(f"{type(error).__name__}: {error}"))
        return
    caller.answer("error", error)
