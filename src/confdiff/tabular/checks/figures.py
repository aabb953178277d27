"""Figures of a check: residuals of triangles, and how annotators judge."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.display.figures import add_grid, draw_histogram, new_figure
from confdiff.display.palette import MEASURED, NEUTRAL, OUTLYING, RANDOM, TYPICAL
from confdiff.tabular.checks.annotators import STRONG_BIAS, Annotator
from confdiff.tabular.checks.triangles import RESIDUAL_BINS, Triangles

_MOST_BARS = 25  # annotators in the bar chart
_MOST_LETTERS = 24  # of the name of an annotator


def triangles_figure(triangles: Triangles) -> Figure:
    """Draw the residuals of triangles, and those that random signs would give."""
    figure, axes = new_figure(6.5, 3.8)
    centres = (RESIDUAL_BINS[:-1] + RESIDUAL_BINS[1:]) / 2
    draw_histogram(axes, centres, triangles.histogram, colour=MEASURED, label="measured")
    axes.stairs(triangles.random_histogram, RESIDUAL_BINS, color=RANDOM, linewidth=1.8, label="with random signs")
    axes.axvline(triangles.mean, color=MEASURED, linestyle="--", linewidth=1)
    axes.axvline(triangles.random_mean, color=RANDOM, linestyle="--", linewidth=1)
    axes.set(xlabel="|c(a, b) + c(b, c) - c(a, c)|", ylabel="fraction of the triangles", xlim=(0, 3))
    axes.legend(frameon=False)
    sample = "" if triangles.searched == 1 else f", from {triangles.searched:.0%} of the graph"
    axes.set_title(f"{triangles.count:,} triangles{sample}; dashed: means", fontsize=8)
    figure.suptitle("Do differences add up?", fontsize=11)
    return figure


def annotators_figure(annotators: list[Annotator]) -> Figure:
    """Draw slope and bias of all annotators, and the correlation of those with the lowest."""
    lowest = sorted(annotators, key=lambda annotator: annotator.correlation or 0.0)[:_MOST_BARS]
    height = max(3.8, 0.24 * len(lowest) + 1.4)
    figure, (left, right) = new_figure(10, height, columns=2, width_ratios=(1.2, 1))
    _draw_slopes(left, annotators)
    _draw_correlations(right, lowest)
    right.set_title("correlation" + (f", {len(lowest)} lowest" if len(annotators) > len(lowest) else ""), fontsize=9)
    figure.suptitle(f"{len(annotators):,} annotators; orange: differs from the others", fontsize=11)
    return figure


def _draw_correlations(axes: Axes, annotators: list[Annotator]) -> None:
    positions = range(len(annotators))
    axes.barh(positions, [a.correlation or 0.0 for a in annotators], color=[_colour(a) for a in annotators])
    axes.set_yticks(positions, [_short(a.name) for a in annotators], fontsize=8)
    axes.set(
        xlabel="correlation with the scores of others",
        xlim=(min(-0.05, *axes.get_xlim()), 1),
        ylim=(len(annotators), -1),
    )
    axes.axvline(0, color="black", linewidth=0.8)
    add_grid(axes, "x")


def _draw_slopes(axes: Axes, annotators: list[Annotator]) -> None:
    slopes = np.array([a.slope or 0.0 for a in annotators])
    biases = [a.bias or 0.0 for a in annotators]
    n_pairs = [a.pairs for a in annotators]
    median = float(np.median(slopes))
    sizes = 14 + 60 * np.sqrt(n_pairs) / np.sqrt(max(n_pairs))
    height = max(0.3, *(1.15 * abs(bias) for bias in biases))
    axes.axvspan(median / 2, 2 * median, color=NEUTRAL, alpha=0.10, linewidth=0)
    axes.axhspan(-STRONG_BIAS, STRONG_BIAS, color=NEUTRAL, alpha=0.10, linewidth=0)
    axes.axvline(median, color=NEUTRAL, linewidth=1, linestyle="--")
    axes.scatter(slopes, biases, sizes, color=[_colour(a) for a in annotators], alpha=0.8)
    _name_deviating(axes, annotators)
    axes.set(
        xlabel="slope: how much of the scale is used",
        ylabel="bias towards the second item",
        xlim=(min(0.0, slopes.min() - 0.15), max(slopes.max() + 0.25, 2.2 * median)),
        ylim=(-height, height),
    )
    axes.set_title("grey bands: typical range; size: number of pairs", fontsize=9)


def _name_deviating(axes: Axes, annotators: list[Annotator]) -> None:
    deviating = [annotator for annotator in annotators if annotator.deviations]
    for annotator in deviating[:_MOST_BARS]:
        position = (annotator.slope or 0.0, annotator.bias or 0.0)
        axes.annotate(annotator.name[:_MOST_LETTERS], position, (5, 5), textcoords="offset points", fontsize=8)


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"


def _colour(annotator: Annotator) -> str:
    return OUTLYING if annotator.deviations else TYPICAL
