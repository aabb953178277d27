"""Where commands print: results to standard output, progress and errors to standard error."""

from pathlib import Path
from typing import Any

from rich.console import Console

results, messages = Console(), Console(stderr=True)


def say(text: str) -> None:
    """A line of text as it is, not wrapped and without markup."""
    results.print(text, markup=False, highlight=False, soft_wrap=True)


def complain(text: str) -> None:
    """The same, of what went wrong."""
    messages.print(text, markup=False, highlight=False, soft_wrap=True)


def say_files(files: dict[str, Path]) -> None:
    """Which file is where."""
    for what, path in files.items():
        say(f"{what}: {path}")


def check_folder_name(flag: str, path: Path) -> None:
    """A path at which a folder is, or can be made."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{flag} must name a folder; {path} is a file.")


def as_cell(value: Any) -> str:
    """A value as it stands in a table."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
