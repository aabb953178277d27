"""Print results to standard output; progress, warnings and errors to standard error."""

import os
import sys
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Column

from confdiff.display.progress import INTERVAL, Update, reporting_activity, reporting_progress, silence_progress

PIPED_WIDTH = 160
"""Columns of a table if standard output is not a terminal and COLUMNS is not set."""

results = Console()
"""Tables and numbers."""
messages = Console(stderr=True)
"""Progress and warnings; silent with --quiet."""
errors = Console(stderr=True)
"""What went wrong."""


def set_up_consoles() -> None:
    """Set the consoles up for the current standard streams and environment."""
    for console, stream in ((results, sys.stdout), (messages, sys.stderr), (errors, sys.stderr)):
        is_wide = not stream.isatty() and not os.environ.get("COLUMNS")
        console.__init__(stderr=stream is sys.stderr, width=PIPED_WIDTH if is_wide else None)  # type: ignore[misc]


set_up_consoles()


@dataclass
class _Verbosity:
    quiet: bool = False
    verbose: bool = False


_verbosity = _Verbosity()


def set_verbosity(*, quiet: bool = False, verbose: bool = False) -> None:
    """Set how much is printed: with ``quiet`` only results and errors."""
    if quiet and verbose:
        raise ValueError("--quiet and --verbose exclude each other: pass one of them.")
    _verbosity.quiet = quiet
    _verbosity.verbose = verbose
    messages.quiet = quiet
    silence_progress(quiet)


def is_quiet() -> bool:
    """Return whether only results and errors are printed."""
    return _verbosity.quiet


def is_verbose() -> bool:
    """Return whether versions, timings and tracebacks are printed."""
    return _verbosity.verbose


def say(text: str) -> None:
    """Print a line of results as it is, not wrapped and without markup."""
    results.print(text, markup=False, highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """Print a line of an error as it is, not wrapped and without markup."""
    errors.print(text, markup=False, highlight=False, soft_wrap=True)


def print_message(text: str, *, label: str = "", style: str = "") -> None:
    """Print a line of progress or a warning, unless --quiet is given."""
    if label:
        messages.print(label, style=style, end=" ")
    messages.print(text, markup=False, highlight=False, soft_wrap=True)


def print_error(text: str) -> None:
    """Print an error in one line."""
    errors.print("error:", style="bold red", end=" ")
    complain(" ".join(text.split()))


def say_files(files: dict[str, Path]) -> None:
    """Print which files were written."""
    for what, path in files.items():
        say(f"{what}: {path}")


def status(text: str) -> AbstractContextManager[None]:
    """Show the current activity; see :func:`~confdiff.display.progress.reporting_activity`."""
    return reporting_activity(text, console=messages)


def progress(title: str, total: float | None = None, *, interval: float = INTERVAL) -> AbstractContextManager[Update]:
    """Show the progress of a block of work; see :func:`~confdiff.display.progress.reporting_progress`."""
    return reporting_progress(title, total, console=messages, interval=interval)


def name_column(title: str) -> Column:
    """Return a column of names, which are never cut off."""
    return Column(title, no_wrap=True, overflow="fold")


def number_column(title: str) -> Column:
    """Return a column of numbers, whose title may wrap."""
    return Column(title, justify="right", overflow="fold")


def as_cell(value: Any) -> str:
    """Return a value as the text of a table's cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
