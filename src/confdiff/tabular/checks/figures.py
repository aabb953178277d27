"""Figures of a check: residuals of triangles, how annotators judge, and the learning curve."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.display.figures import add_grid, draw_histogram, new_figure
from confdiff.display.palette import MEASURED, NEUTRAL, OUTLYING, RANDOM, TYPICAL
from confdiff.tabular.checks.annotators import JudgedAnnotator
from confdiff.tabular.checks.learning_curve import LearningCurve
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


def learning_curve_figure(curve: LearningCurve) -> Figure:
    """Draw the measured accuracies, and the projection with its interval."""
    figure, axes = new_figure(6.5, 3.8)
    answers = [point.answers for point in curve.points]
    accuracy = [point.accuracy for point in curve.points]
    below = [point.accuracy - point.low for point in curve.points]
    above = [point.high - point.accuracy for point in curve.points]
    errors = np.maximum([below, above], 0)
    axes.errorbar(answers, accuracy, yerr=errors, color=MEASURED, fmt="o", markersize=4, label="measured")
    later = [point.answers for point in curve.projection]
    low = [point.low for point in curve.projection]
    high = [point.high for point in curve.projection]
    axes.fill_between(later, low, high, color=TYPICAL, alpha=0.2, linewidth=0)
    axes.plot(later, [point.accuracy for point in curve.projection], color=TYPICAL, linestyle="--", label="projected")
    axes.axvline(curve.answers, color=NEUTRAL, linewidth=0.8)
    axes.set(xlabel="answers", ylabel="pairwise accuracy on held-out pairs")
    axes.legend(frameon=False, loc="lower right")
    axes.set_title("bars and band: 95% intervals; line: the answers at present", fontsize=8)
    figure.suptitle("Would more answers help?", fontsize=11)
    return figure


def annotators_figure(annotators: list[JudgedAnnotator]) -> Figure:
    """Draw slope, bias and agreement of annotators with the intervals and the expected values of their tests."""
    lowest = sorted(annotators, key=_agreement_value)[:_MOST_BARS]
    height = max(3.8, 0.24 * len(lowest) + 1.4)
    if any("bias" in annotator.tests for annotator in annotators):
        figure, (left, right) = new_figure(10, height, columns=2, width_ratios=(1.2, 1))
        _draw_slopes(left, annotators)
    else:
        figure, right = new_figure(6.5, height)
    _draw_agreements(right, lowest)
    right.set_title("agreement" + (f", {len(lowest)} lowest" if len(annotators) > len(lowest) else ""), fontsize=9)
    figure.suptitle(f"{len(annotators):,} annotators; orange: differs from the others", fontsize=11)
    return figure


def _agreement_value(annotator: JudgedAnnotator) -> float:
    effect = annotator.tests.get("agreement")
    return 2.0 if effect is None else effect.value


def _draw_agreements(axes: Axes, annotators: list[JudgedAnnotator]) -> None:
    """Draw the agreements with their intervals, and as ticks those of others on equally difficult pairs."""
    for position, annotator in enumerate(annotators):
        effect = annotator.tests.get("agreement")
        if effect is None:
            continue
        colour = _colour(annotator)
        axes.plot([effect.low, effect.high], [position, position], color=colour, linewidth=1.5)
        axes.plot(effect.value, position, marker="o", color=colour, markersize=5)
        axes.plot(effect.expected, position, marker="|", color="black", markersize=9)
    axes.set_yticks(range(len(annotators)), [_short(a.name) for a in annotators], fontsize=8)
    axes.set(
        xlabel="agreement in sign, 95% interval; tick: others on such pairs", xlim=(0, 1.02), ylim=(len(annotators), -1)
    )
    axes.axvline(0.5, color=NEUTRAL, linewidth=0.8)
    add_grid(axes, "x")


def _draw_slopes(axes: Axes, annotators: list[JudgedAnnotator]) -> None:
    """Draw slopes and biases with their intervals, and as lines the medians that they are tested against."""
    shown = [annotator for annotator in annotators if {"slope", "bias"} <= set(annotator.tests)]
    for annotator in shown:
        slope = annotator.tests["slope"]
        bias = annotator.tests["bias"]
        axes.errorbar(
            slope.value,
            bias.value,
            xerr=[[slope.value - slope.low], [slope.high - slope.value]],
            yerr=[[bias.value - bias.low], [bias.high - bias.value]],
            color=_colour(annotator),
            fmt="o",
            markersize=4,
            elinewidth=0.8,
            alpha=0.8,
        )
    if shown:
        for name, line in (("slope", axes.axvline), ("bias", axes.axhline)):
            line(float(np.median([a.tests[name].value for a in shown])), color=NEUTRAL, linewidth=1, linestyle="--")
        biases = [a.tests["bias"].value for a in shown]
        slopes = [a.tests["slope"].value for a in shown]
        height = max(0.3, *(1.6 * abs(bias) for bias in biases))
        axes.set(ylim=(-height, height), xlim=(min(0.0, min(slopes) - 0.4), max(1.6, max(slopes) + 0.4)))
    _name_deviating(axes, annotators)
    axes.set(xlabel="slope: how much of the scale is used", ylabel="bias towards the second item")
    axes.set_title("bars: 95% intervals; dashed: medians", fontsize=9)


def _name_deviating(axes: Axes, annotators: list[JudgedAnnotator]) -> None:
    deviating = [annotator for annotator in annotators if annotator.deviations]
    for annotator in deviating[:_MOST_BARS]:
        position = (annotator.slope or 0.0, annotator.bias or 0.0)
        axes.annotate(annotator.name[:_MOST_LETTERS], position, (5, 5), textcoords="offset points", fontsize=8)


def _short(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else name[: _MOST_LETTERS - 1] + "…"


def _colour(annotator: JudgedAnnotator) -> str:
    return OUTLYING if annotator.deviations else TYPICAL
