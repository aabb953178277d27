"""Print results to standard output; progress, warnings and errors to standard error."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Column
from rich.text import Text

from confdiff.display.progress import INTERVAL, Update, reporting_activity, reporting_progress, silence_progress

PIPED_WIDTH = 160
"""Columns of a table if standard output is not a terminal and COLUMNS is not set."""

_INVISIBLE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # control characters except tab and newline; an escape sequence begins with one
    "\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"  # they hide or reverse the text around them
    "\ud800-\udfff"  # lone surrogates, which cannot be written
    "]"
)


def visible(text: str) -> str:
    r"""Return a text with its control characters written out, so that names in files cannot command the terminal.

    >>> print(visible("age" + chr(27) + "[31m"))
    age\x1b[31m
    """
    return _INVISIBLE.sub(_written_out, text)


def _written_out(match: re.Match[str]) -> str:
    number = ord(match[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


class TextConsole(Console):
    """A console that prints texts literally: without markup, and with control characters made visible."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Return a text as it is, whatever brackets and colons it has."""
        return super().render_str(visible(text), **(options | {"markup": False, "emoji": False}))

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield segments of text; only those that rich makes itself may control the terminal."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text), segment.style)


results = TextConsole()
"""Tables and numbers."""
messages = TextConsole(stderr=True)
"""Progress and warnings; silent with --quiet."""
errors = TextConsole(stderr=True)
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
    complain(" ".join(visible(text).split()))


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
