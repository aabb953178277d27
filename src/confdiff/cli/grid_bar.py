"""A progress bar over the trials of an experiment, with the remaining time."""

import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from confdiff.cli.console import messages, print_message

LINE_INTERVAL = 30.0
"""Seconds between two lines of progress if no terminal is attached."""


class GridBar:
    """Show the kind of work, the number of finished items, and the remaining time.

    The remaining time is estimated from all work since the bar started. Common progress bars use the last half minute,
    in which no trial or several parallel trials may end.

    Parameters
    ----------
    beginning : str
        What happens before the first call of :meth:`show`.
    clock : callable
        Returns the time in seconds.
    """

    def __init__(
        self, beginning: str = "looking up finished trials", *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.clock = clock
        self.kind = ""
        self.began = 0.0
        self.last = 0.0
        self.before = 0
        self.done = 0
        self.last_line = clock()
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, TextColumn("left {task.fields[left]}"), console=messages)
        self.task = self.bar.add_task(beginning, total=None, left="-:--:--")

    def __enter__(self) -> "GridBar":
        self.bar.start()
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.bar.stop()

    def show(self, kind: str, done: int, total: int) -> None:
        """Update the bar; call this regularly, even if nothing has changed."""
        now = self.clock()
        if kind != self.kind:  # teachers, then trials; those finished before the bar began took none of its time
            self.kind = kind
            self.began = now
            self.before = done
            self.done = done
        if done > self.done:
            self.done = done
            self.last = now
        left = self._left(now, total)
        self.bar.update(self.task, description=kind, completed=done, total=total, left=left)
        if not messages.is_terminal and now - self.last_line >= LINE_INTERVAL:
            self.last_line = now
            print_message(f"{kind}: {done:,} of {total:,}, left {left}")

    def _left(self, now: float, total: int) -> str:
        """Return the remaining time at the mean pace so far, minus the time since the last finished item."""
        if self.done == self.before:
            return "-:--:--"
        pace = (self.last - self.began) / (self.done - self.before)
        return str(timedelta(seconds=round(max(0.0, pace * (total - self.done) - (now - self.last)))))
