"""Report the progress of work: a bar on a terminal, plain lines elsewhere."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

INTERVAL = 5.0
"""Seconds between two lines if no terminal is attached."""
ACTIVITY_INTERVAL = 30.0
"""Seconds between the later lines of an activity without steps; the first line comes after :data:`INTERVAL`."""


_is_silent = False


def silence_progress(is_silent: bool = True) -> None:
    """Turn off all progress reports; ``False`` turns them on again."""
    global _is_silent
    _is_silent = is_silent


class Update(Protocol):
    """A function that receives the number of finished steps, and optionally the total and a short text."""

    def __call__(self, completed: float, *, total: float | None = None, detail: str = "") -> None:
        """Show that ``completed`` of ``total`` steps are done."""


@contextmanager
def reporting_progress(
    title: str,
    total: float | None = None,
    *,
    console: "Console | None" = None,
    interval: float | None = None,
    keep: bool = False,
    shown: bool = True,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Update]:
    """Show the progress of a block of work on standard error.

    Parameters
    ----------
    title : str
        Name of the work, such as "scoring".
    total : float, optional
        Number of steps, if known.
    console : rich.console.Console, optional
        Console to print to; standard error by default.
    interval : float, optional
        Seconds between two lines if the console is not a terminal, by default :data:`INTERVAL`; 0 prints a line for
        every update.
    keep : bool
        Whether the last state stays on the screen; elsewhere, whether it is always printed.
    shown : bool
        False shows nothing.
    clock : callable
        Returns the time in seconds.

    Yields
    ------
    update : Update
        A function to call with the number of finished steps.

    Examples
    --------
    >>> import sys
    >>> from rich.console import Console
    >>> with reporting_progress("scoring", 4, console=Console(file=sys.stdout), interval=0) as update:
    ...     update(1)
    ...     update(4, detail="4 batches")
    scoring: 1 of 4 (25 %)
    scoring: 4 batches (100 %)
    """
    if _is_silent or not shown:
        yield _show_nothing
        return
    from rich.console import Console

    console = console or Console(stderr=True)
    if console.is_terminal or console.is_jupyter:
        with _bar(title, total, console, keep) as update:
            yield update
        return
    lines = _Lines(title, total, console, INTERVAL if interval is None else interval, clock)
    try:
        yield lines
    finally:
        if keep:
            lines.print_last()


@contextmanager
def reporting_activity(
    text: str,
    *,
    console: "Console | None" = None,
    first: float = INTERVAL,
    interval: float = ACTIVITY_INTERVAL,
    shown: bool = True,
) -> Iterator[None]:
    """Show an activity without steps on standard error: a spinner on a terminal, elsewhere a line now and then.

    Parameters
    ----------
    text : str
        Name of the activity, such as "reading".
    console : rich.console.Console, optional
        Console to print to; standard error by default.
    first, interval : float
        Seconds until the first line, and between later lines. A short activity prints nothing.
    shown : bool
        False shows nothing.
    """
    if _is_silent or not shown:
        yield
        return
    from rich.console import Console

    console = console or Console(stderr=True)
    if console.is_terminal:
        with console.status(console.render_str(text, markup=False, emoji=False)):
            yield
        return
    ended = threading.Event()
    printer = threading.Thread(target=_print_until, args=(ended, text, console, first, interval), daemon=True)
    printer.start()
    try:
        yield
    finally:
        ended.set()
        printer.join()


def _print_until(ended: threading.Event, text: str, console: "Console", first: float, interval: float) -> None:
    start = time.monotonic()
    wait = first
    while not ended.wait(wait):
        console.print(f"{text} ... {time.monotonic() - start:.0f} s", markup=False, highlight=False, soft_wrap=True)
        wait = interval


def _show_nothing(completed: float, *, total: float | None = None, detail: str = "") -> None:
    pass


@contextmanager
def _bar(title: str, total: float | None, console: "Console", keep: bool) -> Iterator[Update]:
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=not keep) as bar:
        task = bar.add_task(title, total=total, detail="")
        known_total = total

        def update(completed: float, *, total: float | None = None, detail: str = "") -> None:
            nonlocal known_total
            known_total = known_total if total is None else total
            detail = detail or _amount(completed, known_total)
            bar.update(task, completed=completed, total=known_total, detail=detail)

        yield update


class _Lines:
    """Print a line unless the last one is recent."""

    def __init__(
        self, title: str, total: float | None, console: "Console", interval: float, clock: Callable[[], float]
    ) -> None:
        self.title = title
        self.total = total
        self.console = console
        self.interval = interval
        self.clock = clock
        self.start = clock()
        self.last_time = self.start
        self.unprinted = ""

    def __call__(self, completed: float, *, total: float | None = None, detail: str = "") -> None:
        self.total = self.total if total is None else total
        now = self.clock()
        amount = detail or _amount(completed, self.total)
        self.unprinted = f"{self.title}: {amount}{self._percentage(completed)}{self._time_left(completed, now)}"
        if now - self.last_time >= self.interval:
            self.last_time = now
            self.print_last()

    def print_last(self) -> None:
        """Print the last state, unless it was already printed."""
        if self.unprinted:
            self.console.print(self.unprinted, markup=False, highlight=False, soft_wrap=True)
        self.unprinted = ""

    def _percentage(self, completed: float) -> str:
        return f" ({100 * completed / self.total:.0f} %)" if self.total else ""

    def _time_left(self, completed: float, now: float) -> str:
        """Return the remaining time at the mean speed so far as text; empty if it is short."""
        if not self.total or not 0 < completed < self.total:
            return ""
        seconds = round((now - self.start) * (self.total - completed) / completed)
        return f", about {timedelta(seconds=seconds)} left" if seconds >= INTERVAL else ""


def _amount(completed: float, total: float | None) -> str:
    return f"{completed:,.0f}" + (f" of {total:,.0f}" if total else "")
