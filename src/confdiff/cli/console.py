"""Where commands print: results to standard output, progress and errors to standard error."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def check_picture_name(path: Path) -> Path:
    """A path whose ending says how the picture in it is written."""
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise ValueError(f"the name of a picture must end in .png, .svg or .pdf; got {path.name!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; the picture of that name cannot be written.")
    return path


def check_folder_name(flag: str, path: Path) -> None:
    """A path at which a folder is, or can be made."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{flag} must name a folder; {path} is a file.")


def save_figure(figure: "Figure", path: Path) -> None:
    """A figure as a file, in the format that its ending names."""
    from confdiff.io.atomic import atomic_file

    with atomic_file(check_picture_name(path)) as temporary:
        figure.savefig(temporary, dpi=150)


def as_cell(value: Any) -> str:
    """A value as it stands in a table."""
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)
