"""Figures. One colour a method everywhere, from a palette that colour-blind readers can tell apart."""

from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.metrics import reliability

if TYPE_CHECKING:
    from confdiff.experiments.demo import Demo

# Okabe and Ito 2008; the oracles, which are references and not competitors, are grey.
COLOURS = {
    "confdiff-unbiased": "#E69F00",
    "confdiff-relu": "#56B4E9",
    "confdiff-abs": "#0072B2",
    "oracle-hard": "#999999",
    "oracle-soft": "#444444",
}
LABELS = {
    "confdiff-unbiased": "ConfDiff-Unbiased",
    "confdiff-relu": "ConfDiff-ReLU",
    "confdiff-abs": "ConfDiff-ABS",
    "oracle-hard": "Oracle-Hard",
    "oracle-soft": "Oracle-Soft",
}

FEWEST = 10  # a share of fewer items is mostly noise


def demo_figure(demo: "Demo") -> Figure:
    """Learning curves beside a reliability plot."""
    figure = Figure(figsize=(9, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.25, 1))
    _learning_curves(left, demo)
    _reliability(right, demo)
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), fontsize=8, frameon=False)
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


def _style(method: str) -> dict[str, Any]:
    dash = "--" if method.startswith("oracle") else "-"
    return {"color": COLOURS[method], "label": LABELS[method], "linestyle": dash, "linewidth": 1.6}
