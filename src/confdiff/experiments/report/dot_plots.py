"""Dot plots: methods by rows, with a dot per setting, a mean and its interval; and the critical-difference plot."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.palette import GUIDE, NEUTRAL
from confdiff.display.text import plural

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from confdiff.experiments.rankings import Ranks
    from confdiff.experiments.statistics import MeanInterval

_WIDTH = 5.5  # inches: readable at the width of a phone


@dataclass(frozen=True)
class DotRow:
    """One row of a dot plot.

    Attributes
    ----------
    label, colour : str
        Its name, and its colour.
    dots : sequence of float
        One faint dot each.
    mean : float
        The large dot.
    interval : (float, float) or None
        A line around it.
    """

    label: str
    colour: str
    dots: Sequence[float]
    mean: float
    interval: "MeanInterval | None" = None


def dots_figure(rows: Sequence[DotRow], x_label: str, *, tolerance: float = 0.0) -> "Figure":
    """Draw rows of dots around a line at zero.

    Parameters
    ----------
    rows : sequence of DotRow
        The rows, from the top.
    x_label : str
        Label of the axis.
    tolerance : float
        Half the width of a band around zero.
    """
    figure, axes = new_figure(_WIDTH, 0.34 * len(rows) + 0.9)
    if tolerance:
        axes.axvspan(-tolerance, tolerance, color=GUIDE, alpha=0.6, linewidth=0)
    axes.axvline(0, color="black", linewidth=0.8)
    for place, row in enumerate(rows):
        axes.plot(row.dots, [place] * len(row.dots), "o", color=row.colour, markersize=4, alpha=0.35, markeredgewidth=0)
        if row.interval is not None:
            axes.plot(row.interval, [place, place], color=row.colour, linewidth=2.5, solid_capstyle="butt")
        axes.plot(row.mean, place, "D", color=row.colour, markersize=7)
    axes.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=8)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(x_label, fontsize=9)
    axes.spines[["top", "right", "left"]].set_visible(False)
    add_grid(axes, "x")
    return figure


def critical_difference_figure(ranks: "Ranks", groups: Sequence[Sequence[str]], labels: dict[str, str]) -> "Figure":
    """Draw mean ranks on a line, and bars that join methods without a significant difference (Demsar 2006).

    Parameters
    ----------
    ranks : Ranks
        Mean ranks; 1, the best, is on the left.
    groups : sequence of sequences of str
        Methods that are joined by a bar each.
    labels : dict of str to str
        Method -> label.
    """
    names = list(ranks.ranks)
    half = (len(names) + 1) // 2
    lowest = 1.3 + 0.36 * len(groups)
    figure, axes = new_figure(_WIDTH, 0.3 * (lowest + half) + 0.75)
    _draw_scale(axes, len(names), ranks)
    for number, group in enumerate(groups):
        _draw_bar(axes, [ranks.ranks[name] for name in group], 0.7 + 0.36 * number)
    for place, name in enumerate(names):
        is_left = place < half
        height = lowest + (place if is_left else len(names) - 1 - place)
        end = 1 - 0.03 * len(names) if is_left else len(names) + 0.03 * len(names)
        rank = ranks.ranks[name]
        axes.plot([rank, rank, end], [0, height, height], color=NEUTRAL, linewidth=1, clip_on=False)
        text = f"{labels[name]} {rank:.2f} " if is_left else f" {rank:.2f} {labels[name]}"
        axes.text(end, height, text, ha="right" if is_left else "left", va="center", fontsize=9)
    axes.set_ylim(lowest + half - 0.5, -1.2)
    return figure


def _draw_scale(axes: "Axes", n_methods: int, ranks: "Ranks") -> None:
    """Draw the axis of ranks at the top; labels of methods need a third of the width on either side."""
    axes.set_axis_off()
    axes.set_xlim(1 - 0.62 * n_methods, n_methods + 0.62 * n_methods)
    axes.plot([1, n_methods], [0, 0], color="black", linewidth=1)
    for rank in range(1, n_methods + 1):
        axes.plot([rank, rank], [0, -0.2], color="black", linewidth=1)
        axes.text(rank, -0.3, str(rank), ha="center", va="bottom", fontsize=8)
    title = f"mean rank over {plural(ranks.cells, 'data set')}"
    axes.set_title(title, fontsize=9)


def _draw_bar(axes: "Axes", places: Sequence[float], height: float) -> None:
    """Draw a bar over the ranks of a group, with a mark at each member: others may lie between them."""
    axes.plot([min(places), max(places)], [height, height], color="black", linewidth=3, solid_capstyle="round")
    axes.plot(places, [height] * len(places), "o", color="black", markersize=5)
