"""Keep a report of a study current without slowing its annotators down.

The report is computed in a process of its own with a low priority, at most every few seconds, and only while somebody
looks at it.
"""

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

_INTERVAL = 5.0  # seconds between two reports, at least
_REST = 3.0  # times the duration of a report, before the next one
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class LatestReport:
    """The latest report and its state.

    Attributes
    ----------
    content : dict or None
        The report as JSON values; None before the first one.
    is_current : bool
        Whether no newer one is being computed.
    problem : str or None
        Why the latest attempt failed.
    """

    content: dict[str, Any] | None
    is_current: bool
    problem: str | None


class LiveReport:
    """A report that is computed in the background when it is asked for and too old.

    Parameters
    ----------
    compute : callable
        Returns the report as JSON values; see :class:`ReportProcess`.
    interval : float
        Seconds between two reports, at least.

    Examples
    --------
    >>> live = LiveReport(lambda: {"answers": 3})
    >>> live.wait(seconds=10).content
    {'answers': 3}
    """

    def __init__(self, compute: Callable[[], dict[str, Any]], *, interval: float = _INTERVAL) -> None:
        self._compute = compute
        self._interval = interval
        self._lock = threading.Lock()
        self._is_running = False
        self._content: dict[str, Any] | None = None
        self._problem: str | None = None
        self._next_at = 0.0

    def latest(self) -> LatestReport:
        """Return the latest report at once; start a newer one in the background if it is due."""
        with self._lock:
            if not self._is_running and time.monotonic() >= self._next_at:
                self._is_running = True
                threading.Thread(target=self._refresh, name="report", daemon=True).start()
            return LatestReport(content=self._content, is_current=not self._is_running, problem=self._problem)

    def wait(self, *, seconds: float) -> LatestReport:
        """Return a report, waiting for the first one for some seconds."""
        ends_at = time.monotonic() + seconds
        latest = self.latest()
        while latest.content is None and latest.problem is None and time.monotonic() < ends_at:
            time.sleep(0.02)
            latest = self.latest()
        return latest

    def _refresh(self) -> None:
        began = time.monotonic()
        content, problem = self._attempt()
        now = time.monotonic()
        with self._lock:
            self._content = content or self._content
            self._problem = problem
            self._next_at = now + max(self._interval, _REST * (now - began))
            self._is_running = False

    def _attempt(self) -> tuple[dict[str, Any] | None, str | None]:
        try:
            return self._compute(), None
        except Exception as error:  # whatever it is, the page says so, and the next attempt follows
            _LOG.warning("the report failed: %s", error)
            return None, str(error)


class ReportProcess:
    """A process that computes reports of a study, one after the other, and ends with this one.

    Parameters
    ----------
    study : Study
        The study, which the process opens by its address.
    """

    def __init__(self, study: "Study") -> None:
        self._study = study
        self._process: subprocess.Popen[str] | None = None

    def __call__(self) -> dict[str, Any]:
        """Return a new report as JSON values."""
        if self._process is None or self._process.poll() is not None:
            self._process = self._start()
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        line = process.stdout.readline()
        if not line:
            raise OSError("the process that computes the report has ended.")
        answer = json.loads(line)
        if "problem" in answer:
            raise ValueError(answer["problem"])
        content: dict[str, Any] = answer["report"]
        return content

    def _start(self) -> "subprocess.Popen[str]":
        """Start the process, and send the address through its input, where other users cannot read a password."""
        process = subprocess.Popen(
            [sys.executable, "-m", "confdiff.labelling.live_report"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        weakref.finalize(self, _end, process)
        assert process.stdin is not None
        process.stdin.write(json.dumps(self._study.private_address()) + "\n")
        return process


def _end(process: "subprocess.Popen[str]") -> None:
    """End the process by the end of its input."""
    if process.stdin is not None:
        with suppress(OSError):  # the process has ended before it read everything
            process.stdin.close()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


def serve_reports(requests: IO[str], answers: IO[str]) -> None:
    """Write one report as a line of JSON for each line of requests, after a first line with the address.

    Parameters
    ----------
    requests, answers : text files
        Input and output.
    """
    from confdiff.labelling.report import owner_report
    from confdiff.labelling.study import open_study

    study = open_study(json.loads(requests.readline()))
    for _ in requests:
        answer: dict[str, Any]
        try:
            answer = {"report": owner_report(study).as_dict()}
        except (OSError, ValueError) as error:
            answer = {"problem": str(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()
    study.close_connections()


if __name__ == "__main__":
    os.nice(10)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then closes the input
    serve_reports(sys.stdin, sys.stdout)
