"""A bar over the trials of a grid, with the time that is left."""

import time
from collections.abc import Callable
from datetime import timedelta
from types import TracebackType

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from confdiff.cli.console import messages


class GridBar:
    """Shows what is being done, how much of it, and how long the rest takes.

    The time left is judged by all that was done since the bar began. Bars usually look at the last half minute, in
    which no trial may end, or two that ran side by side.
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock, self.what = clock, ""
        self.began = self.last = 0.0
        self.before = self.done = 0
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self.bar = Progress(*columns, TextColumn("left {task.fields[left]}"), console=messages)
        self.task = self.bar.add_task("looking what is there", total=None, left="-:--:--")

    def __enter__(self) -> "GridBar":
        self.bar.start()
        return self

    def __exit__(self, *raised: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.bar.stop()

    def show(self, what: str, done: int, total: int) -> None:
        """So much of it is done; to be told again and again, also where nothing is new."""
        now = self.clock()
        if what != self.what:  # teachers, then trials; what was done before the bar began took no time of it
            self.what, self.began, self.before, self.done = what, now, done, done
        if done > self.done:
            self.done, self.last = done, now
        self.bar.update(self.task, description=what, completed=done, total=total, left=self._left(now, total))

    def _left(self, now: float, total: int) -> str:
        """What the rest takes if it goes on as it went until the last one was done, less the time since then."""
        if self.done == self.before:
            return "-:--:--"
        each = (self.last - self.began) / (self.done - self.before)
        return str(timedelta(seconds=round(max(0.0, each * (total - self.done) - (now - self.last)))))
