"""Small helpers that give every figure the same style: sizes, grids, histograms, files.

matplotlib is imported when a figure is made, so that commands without figures start quickly.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from confdiff.display.palette import NEUTRAL
from confdiff.io.atomic import atomic_file
from confdiff.io.outputs import MARK

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_MARK_FIELDS = {".png": "Software", ".svg": "Creator", ".pdf": "Creator"}
FORMATS = tuple(_MARK_FIELDS)
"""Endings of figure files; the ending determines the format."""


def new_figure(width: float, height: float, rows: int = 1, columns: int = 1, **options: Any) -> "tuple[Figure, Any]":
    """Return a figure of a size in inches and its axes: one, or an array of them as ``Figure.subplots`` gives it.

    >>> figure, axes = new_figure(4, 3, columns=2, width_ratios=(1, 2))
    >>> axes.shape
    (2,)
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, **options)


def add_grid(axes: "Axes", direction: str = "both") -> None:
    """Draw a faint grid along ``"x"``, ``"y"`` or ``"both"``, behind the data."""
    axes.set_axisbelow(True)
    axes.grid(axis=direction, alpha=0.25)  # type: ignore[arg-type]


def draw_diagonal(axes: "Axes", low: float, high: float) -> None:
    """Draw the dotted line on which predictions and data agree."""
    axes.plot([low, high], [low, high], color=NEUTRAL, linewidth=0.8, linestyle=":")


def draw_histogram(
    axes: "Axes",
    centres: "Sequence[float] | NDArray[np.float64]",
    heights: Any,
    *,
    colour: str = NEUTRAL,
    **options: Any,
) -> None:
    """Draw the bars of a histogram with bins of equal width, and a grid across them."""
    axes.bar(centres, heights, width=centres[1] - centres[0], color=colour, edgecolor="white", **options)
    add_grid(axes, "y")


def check_figure_path(path: Path) -> Path:
    """Return a path whose ending is one of :data:`FORMATS`; other paths and folders are errors."""
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"the name of a figure file must end in .png, .svg or .pdf; got {path.name!r}.")
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; choose another name for the figure.")
    return path


def save_figure(figure: "Figure", path: Path) -> None:
    """Write a figure whole or not at all, in the format that the ending of ``path`` names.

    The metadata hold the mark of confdiff, by which :func:`~confdiff.io.outputs.check_new_report` recognises it.
    """
    check_figure_path(path)
    metadata = {_MARK_FIELDS[path.suffix.lower()]: MARK}
    with atomic_file(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata=metadata)
