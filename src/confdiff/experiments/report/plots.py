"""Plots of the report and of the demonstration. A method has the same colour in all of them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.palette import GUIDE
from confdiff.display.text import plural
from confdiff.experiments.report.style import colour_of, dataset_label, label_of, line_style
from confdiff.methods import METHODS
from confdiff.metrics import reliability

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from confdiff.experiments.demo import Demo
    from confdiff.experiments.rankings import Ranks
    from confdiff.experiments.trials.record import TrialRecord

_FEWEST_ITEMS = 10  # the fraction of positives among fewer items is mostly noise


@dataclass(frozen=True)
class Series:
    """One curve of a panel.

    Attributes
    ----------
    label, colour : str
        Its name in the legend, and its colour.
    x, y, band : sequences of float
        Places, means, and standard deviations.
    kind : {"curve", "level", "marker", "hollow"}
        A curve with a band; a horizontal line to compare curves with; a marker with an error bar, filled or hollow.
    """

    label: str
    colour: str
    x: Sequence[float]
    y: Sequence[float]
    band: Sequence[float]
    kind: Literal["curve", "level", "marker", "hollow"] = "curve"


@dataclass(frozen=True)
class Panel:
    """One panel of a figure: its title, the label of its axis, and its series."""

    title: str
    x_label: str
    series: Sequence[Series]


def demo_figure(demo: "Demo") -> "Figure":
    """Draw learning curves and a reliability diagram of the demonstration."""
    figure, (left, right) = new_figure(9, 4.2, columns=2, width_ratios=(1.25, 1))
    _draw_learning_curves(left, demo)
    _draw_reliability(right, demo)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), fontsize=8, frameon=False)
    figure.suptitle(
        f"Even or odd? Learned from {demo.pairs} graded pairs of scikit-learn's digits (prior {demo.prior:g})",
        fontsize=11,
    )
    return figure


def _draw_learning_curves(axes: "Axes", demo: "Demo") -> None:
    for outcome in demo.outcomes:
        epochs = [record["epoch"] for record in outcome.history]
        accuracies = [record["accuracy"] for record in outcome.history]
        axes.plot(epochs, accuracies, **line_style(outcome.method))
    axes.set(xlabel="epoch", ylabel="test accuracy", xlim=(1, max(2, demo.epochs)))
    settled = min(5, demo.epochs - 1)  # the first epochs may start anywhere
    low = min(record["accuracy"] for outcome in demo.outcomes for record in outcome.history[settled:])
    axes.set_ylim(max(0.4, low - 0.03), 1.005)
    add_grid(axes)


def _draw_reliability(axes: "Axes", demo: "Demo") -> None:
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":", label="perfect")
    for outcome in demo.outcomes:
        table = reliability(outcome.probabilities, demo.test_labels, bins=5)
        predicted, observed, counts = table[table[:, 2] >= _FEWEST_ITEMS].T
        style = line_style(outcome.method)
        axes.plot(predicted, observed, **style)
        axes.scatter(predicted, observed, s=counts / 3 + 8, color=style["color"], zorder=3)
    axes.set(xlabel="predicted probability of 'even'", ylabel="fraction that is even", aspect="equal")
    axes.set_title(f"area of a dot: size of its bin; bins under {_FEWEST_ITEMS} items left out", fontsize=8)
    add_grid(axes)


def curves_figure(records: "Sequence[TrialRecord]", datasets: Sequence[str], priors: Sequence[float]) -> "Figure":
    """Draw learning curves, one panel per data set and prior: the mean over trials, with a band of one deviation.

    Parameters
    ----------
    records : sequence of TrialRecord
        The trials.
    datasets, priors : sequences
        Columns and rows of the panels.
    """
    width = 2.6 * len(datasets) + 0.6
    height = 2.1 * len(priors) + 0.7
    figure, panels = new_figure(width, height, len(priors), len(datasets), squeeze=False, sharex=True)
    for row, prior in enumerate(priors):
        for column, dataset in enumerate(datasets):
            axes = panels[row][column]
            trials = [record for record in records if (record.dataset, record.prior) == (dataset, prior)]
            axes.set_visible(bool(trials))
            _draw_mean_curves(axes, trials)
            _set_ticks(axes)
            if row == 0:
                axes.set_title(dataset_label(dataset), fontsize=10)
            if column == 0:
                axes.set_ylabel(f"accuracy, prior {prior:g}", fontsize=8)
            if row == len(priors) - 1:
                axes.set_xlabel("epoch", fontsize=8)
    handles = _legend_of(figure)
    order = [method.label for method in METHODS.values() if method.label in handles]
    _add_legend(figure, {label: handles[label] for label in order}, columns=len(datasets) + 1)
    return figure


def _draw_mean_curves(axes: "Axes", records: "Sequence[TrialRecord]") -> None:
    lows = []
    for method in METHODS:
        curves = [dict(record.curve) for record in records if record.method == method]
        if not curves:
            continue
        epochs = sorted(set.intersection(*(set(curve) for curve in curves)))
        table = np.array([[curve[epoch] for epoch in epochs] for curve in curves])
        mean = table.mean(axis=0)
        spread = table.std(axis=0)
        style = line_style(method) | {"linewidth": 1.2}
        axes.plot(epochs, mean, **style)
        axes.fill_between(epochs, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0)
        lows.append(float(mean[-1]))
    if lows:
        axes.set_ylim(max(0.4, min(lows) - 0.08), 1.005)


def ranks_figure(ranks: "Ranks") -> "Figure":
    """Draw mean ranks on a line, the best on the left; methods under one bar do not differ at the 5 % level."""
    names = list(ranks.ranks)
    figure, axes = new_figure(7, 0.3 * len(names) + 1.1)
    for place, name in enumerate(names):
        rank = ranks.ranks[name]
        end = rank + (ranks.critical_difference or 0)
        axes.plot([1, rank], [place, place], color=GUIDE, linewidth=1, zorder=0)
        axes.plot(rank, place, "o", color=colour_of(name), clip_on=False)
        axes.plot([rank, end], [place, place], color=colour_of(name), linewidth=2.5, alpha=0.35)
    axes.set_yticks(range(len(names)), [label_of(name) for name in names], fontsize=9)
    axes.invert_yaxis()
    cells = plural(ranks.cells, "cell")
    axes.set(xlabel=f"mean rank over {cells} (bar: critical difference, Nemenyi, 5 %)", xlim=(1, len(names)))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def panels_figure(panels: Sequence[Panel]) -> "Figure":
    """Draw panels in two columns, so that a figure can be read at the width of a page's text."""
    rows = math.ceil(len(panels) / 2)
    figure, grid = new_figure(5.5, 1.9 * rows + 0.5, rows, 2, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=False):
        for series in panel.series:
            _draw_series(axes, series)
        _set_ticks(axes)
        axes.set_title(panel.title, fontsize=9)
        axes.set_xlabel(panel.x_label, fontsize=8)
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel("accuracy", fontsize=8)
    for axes in figure.axes[len(panels) :]:
        axes.remove()
    _add_legend(figure, _legend_of(figure), columns=2)
    return figure


def _draw_series(axes: "Axes", series: Series) -> None:
    colour = series.colour
    label = series.label
    low = np.array(series.y) - np.array(series.band)
    high = np.array(series.y) + np.array(series.band)
    if series.kind == "level":
        axes.axhline(series.y[0], color=colour, label=label, linestyle="--", linewidth=1.4)
        axes.axhspan(low[0], high[0], color=colour, alpha=0.12, linewidth=0)
    elif series.kind == "curve":
        axes.plot(series.x, series.y, "o-", color=colour, label=label, markersize=3, linewidth=1.4)
        axes.fill_between(series.x, low, high, color=colour, alpha=0.15, linewidth=0)
    else:
        fill = "white" if series.kind == "hollow" else colour
        style: dict[str, Any] = {"color": colour, "markerfacecolor": fill, "markersize": 6}
        axes.errorbar(series.x, series.y, series.band, fmt="o", label=label, capsize=4, linewidth=1.4, **style)
        axes.set_xticks([])
        axes.margins(x=0.3)


def _set_ticks(axes: "Axes") -> None:
    add_grid(axes)
    axes.tick_params(labelsize=7)
    axes.yaxis.set_major_formatter("{x:.4g}")


def _legend_of(figure: "Figure") -> dict[str, Any]:
    """Return label -> handle of everything that has a label in any panel."""
    handles: dict[str, Any] = {}
    for axes in figure.axes:
        handles |= {label: line for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    return handles


def _add_legend(figure: "Figure", handles: dict[str, Any], columns: int) -> None:
    figure.legend(
        list(handles.values()),
        list(handles),
        loc="outside lower center",
        ncols=columns,
        fontsize=8,
        frameon=False,
    )
