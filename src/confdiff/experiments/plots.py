"""Pictures: learning curves, ranks, the paper's figures. One colour a method everywhere."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.display.palette import GUIDE
from confdiff.display.text import plural
from confdiff.experiments.grouping import grouped
from confdiff.experiments.names import COLOURS, LABELS
from confdiff.metrics import reliability

if TYPE_CHECKING:
    from confdiff.experiments.comparison import Ranks
    from confdiff.experiments.demo import Demo
    from confdiff.experiments.figures import FigurePlan
    from confdiff.experiments.points import Curves, Point
    from confdiff.experiments.trials.run import Record

FEWEST = 10  # a share of fewer items is mostly noise


def demo_figure(demo: "Demo") -> Figure:
    """Learning curves beside a reliability plot."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _learning_curves(left, demo)
    _reliability(right, demo)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), fontsize=8, frameon=False)
    figure.suptitle(
        f"Even or odd? Learned from {demo.pairs} graded pairs of scikit-learn's digits (prior {demo.prior:g})",
        fontsize=11,
    )
    return figure


def _learning_curves(axes: Axes, demo: "Demo") -> None:
    for outcome in demo.outcomes:
        axes.plot(
            [record["epoch"] for record in outcome.history],
            [record["accuracy"] for record in outcome.history],
            **_style(outcome.method),
        )
    axes.set(xlabel="epoch", ylabel="test accuracy", xlim=(1, max(2, demo.epochs)))
    settled = min(5, demo.epochs - 1)  # the first epochs may start anywhere
    low = min(record["accuracy"] for outcome in demo.outcomes for record in outcome.history[settled:])
    axes.set_ylim(max(0.4, low - 0.03), 1.005)
    axes.grid(alpha=0.25)


def _reliability(axes: Axes, demo: "Demo") -> None:
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8, linestyle=":", label="perfect")
    for outcome in demo.outcomes:
        table = reliability(outcome.probabilities, demo.test_labels, bins=5)
        said, so, counts = table[table[:, 2] >= FEWEST].T
        style = _style(outcome.method)
        axes.plot(said, so, **style)
        axes.scatter(said, so, s=counts / 3 + 8, color=style["color"], zorder=3)
    axes.set(xlabel="predicted probability of 'even'", ylabel="share that is even", aspect="equal")
    axes.set_title(f"dots as large as their bins, those under {FEWEST} items left out", fontsize=8)
    axes.grid(alpha=0.25)


def curves_figure(
    records: "Sequence[Record]", datasets: Sequence[str], priors: Sequence[float], titles: Mapping[str, str]
) -> Figure:
    """Learning curves, a panel for each data set and prior: the mean over trials, and a band of one deviation."""
    figure = Figure(figsize=(2.6 * len(datasets) + 0.6, 2.1 * len(priors) + 0.7), layout="constrained")
    panels = figure.subplots(len(priors), len(datasets), squeeze=False, sharex=True)
    for row, prior in enumerate(priors):
        for column, dataset in enumerate(datasets):
            axes, own = panels[row][column], [r for r in records if (r["dataset"], r["prior"]) == (dataset, prior)]
            axes.set_visible(bool(own))
            _curves(axes, own)
            axes.grid(alpha=0.25)
            axes.tick_params(labelsize=7)
            axes.yaxis.set_major_formatter("{x:.4g}")
            if row == 0:
                axes.set_title(titles[dataset], fontsize=10)
            if column == 0:
                axes.set_ylabel(f"accuracy, prior {prior:g}", fontsize=8)
            if row == len(priors) - 1:
                axes.set_xlabel("epoch", fontsize=8)
    shown = {label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    order = [label for label in LABELS.values() if label in shown]
    handles = [shown[label] for label in order]
    figure.legend(handles, order, loc="outside lower center", ncols=len(datasets) + 1, fontsize=8, frameon=False)
    return figure


def _curves(axes: Axes, records: "Sequence[Record]") -> None:
    lows = []
    for method in LABELS:
        curves = [dict(record["curve"]) for record in records if record["method"] == method]
        if not curves:
            continue
        epochs = sorted(set.intersection(*(set(curve) for curve in curves)))
        table = np.array([[curve[epoch] for epoch in epochs] for curve in curves])
        mean, spread = table.mean(axis=0), table.std(axis=0)
        style = _style(method) | {"linewidth": 1.2}
        axes.plot(epochs, mean, **style)
        axes.fill_between(epochs, mean - spread, mean + spread, color=style["color"], alpha=0.15, linewidth=0)
        lows.append(float(mean[-1]))
    if lows:
        axes.set_ylim(max(0.4, min(lows) - 0.08), 1.005)


def ranks_figure(ranks: "Ranks") -> Figure:
    """Mean ranks on a line, the best on the left; methods under one bar do not differ at the 5 % level."""
    names = list(ranks.ranks)
    figure = Figure(figsize=(7, 0.3 * len(names) + 1.1), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(names):
        axes.plot([1, ranks.ranks[name]], [place, place], color=GUIDE, linewidth=1, zorder=0)
        axes.plot(ranks.ranks[name], place, "o", color=COLOURS[name], clip_on=False)
        axes.plot([ranks.ranks[name], ranks.ranks[name] + (ranks.critical_difference or 0)], [place, place],
                  color=COLOURS[name], linewidth=2.5, alpha=0.35)  # fmt: skip
    axes.set_yticks(range(len(names)), [LABELS[name] for name in names], fontsize=9)
    axes.invert_yaxis()
    cells = plural(ranks.cells, "cell")
    axes.set(xlabel=f"mean rank over {cells} (bar: critical difference, Nemenyi, 5 %)", xlim=(1, len(names)))
    axes.spines[["top", "right"]].set_visible(False)
    return figure


def _style(method: str) -> dict[str, Any]:
    dash = "--" if method.startswith("oracle") else "-"
    return {"color": COLOURS[method], "label": LABELS[method], "linestyle": dash, "linewidth": 1.6}


def points_figure(curves: "Curves", titles: Mapping[str, str]) -> Figure:
    """The curves of a figure of the paper, two panels a row, so that it can be read at the width of a page's text."""
    panels = grouped(curves.points, lambda point: (point.prior, point.dataset, point.place.panel))
    priors = {point.prior for point in curves.points}
    rows = math.ceil(len(panels) / 2)
    figure = Figure(figsize=(5.5, 1.9 * rows + 0.5), layout="constrained")
    axes_of_all = figure.subplots(rows, 2, squeeze=False).flat
    for axes, here in zip(axes_of_all, panels, strict=False):
        first = here[0]
        _point_curves(axes, here, curves.plan)
        axes.tick_params(labelsize=7)
        axes.yaxis.set_major_formatter("{x:.4g}")
        axes.grid(alpha=0.25)
        axes.set_title(titles[first.dataset] + (f", prior {first.prior:g}" if len(priors) > 1 else ""), fontsize=9)
        axes.set_xlabel(first.place.panel, fontsize=8)
        if axes.get_subplotspec().is_first_col():
            axes.set_ylabel("accuracy", fontsize=8)
    for axes in figure.axes[len(panels) :]:
        axes.remove()
    shown = {label: line for axes in figure.axes for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(shown.values()), list(shown), loc="outside lower center", ncols=2, fontsize=8, frameon=False)
    return figure


def _point_curves(axes: Axes, points: "Sequence[Point]", plan: "FigurePlan") -> None:
    """Curves with a band of one deviation; a level to compare with is a line across."""
    side_by_side = all(plan.is_level(point.place) for point in points)
    for curve in grouped(points, lambda point: point.place.curve):
        own = sorted(curve, key=lambda point: point.place.x)
        first = own[0].place
        colour, label = COLOURS[first.method], LABELS.get(first.curve, first.curve)
        x, y, band = [p.place.x for p in own], [p.mean for p in own], [p.std or 0.0 for p in own]
        if side_by_side:
            fill = "white" if first.hollow else colour
            style: dict[str, Any] = {
                "color": colour,
                "markerfacecolor": fill,
                "markersize": 6,
                "capsize": 4,
                "linewidth": 1.4,
            }
            axes.errorbar(x, y, band, fmt="o", label=label, **style)
            axes.set_xticks([])
            axes.margins(x=0.3)
        elif plan.is_level(first):
            axes.axhline(y[0], color=colour, label=label, linestyle="--", linewidth=1.4)
            axes.axhspan(y[0] - band[0], y[0] + band[0], color=colour, alpha=0.12, linewidth=0)
        else:
            axes.plot(x, y, "o-", color=colour, label=label, markersize=3, linewidth=1.4)
            low, high = np.array(y) - np.array(band), np.array(y) + np.array(band)
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
