"""What a check found, as one page and as JSON."""

import json
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from confdiff.datasets.figures import pairs_figure
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import NEGATIVE, NEUTRAL, POSITIVE
from confdiff.io.atomic import write_text
from confdiff.tabular.checks.annotators import FEWEST, STRONG_BIAS, Annotator
from confdiff.tabular.checks.report import CheckReport
from confdiff.tabular.checks.triangles import BINS, Triangles

MOST_BARS = 25  # annotators in a picture of bars
MOST_ROWS = 40  # columns or annotators in a table of the page


def write_check(report: CheckReport, folder: Path) -> dict[str, Path]:
    """Write check.html and check.json. Returns: what is where."""
    files = {"page": folder / "check.html", "numbers": folder / "check.json"}
    write_text(files["page"], check_html(report))
    write_text(files["numbers"], check_json(report) + "\n")
    return files


def check_json(report: CheckReport) -> str:
    """The report for programs."""
    return json.dumps(report.as_dict(), indent=1, allow_nan=False, ensure_ascii=False)


def check_html(report: CheckReport) -> str:
    """One page that needs nothing beside it."""
    pictures = {name: as_data_uri(figure) for name, figure in figures(report).items()}
    formula = report.as_dict()["mapping"]
    people = sorted(report.measures.annotators, key=_who_first) if report.measures else []
    return render(
        "confdiff.tabular.checks", "check.html", report=report, measures=report.measures, pictures=pictures,
        formula=formula, people=people[:MOST_ROWS], more_people=len(people) - MOST_ROWS, most=MOST_ROWS, fewest=FEWEST,
    )  # fmt: skip


def _who_first(one: Annotator) -> tuple[bool, bool, float]:
    """Who stands out comes first, who has too few pairs last, and of the others who agrees least."""
    return not one.stands_out, one.compared < FEWEST, one.agreement if one.agreement is not None else -1.0


def figures(report: CheckReport) -> dict[str, Figure]:
    """The pictures that there is something for."""
    measures = report.measures
    if measures is None:
        return {}
    found = {"differences": pairs_figure(measures.differences, "The differences")}
    if measures.triangles is not None:
        found["triangles"] = triangles_figure(measures.triangles)
    judged = [one for one in measures.annotators if one.slope is not None and one.compared >= FEWEST]
    if judged:
        found["annotators"] = annotators_figure(judged)
    return found


def triangles_figure(triangles: Triangles) -> Figure:
    """How far differences miss adding up, beside what random signs would give."""
    figure = Figure(figsize=(6.5, 3.8), layout="constrained")
    axes = figure.subplots()
    width = BINS[1] - BINS[0]
    axes.bar(BINS[:-1] + width / 2, triangles.histogram, width, color=POSITIVE, edgecolor="white", label="measured")
    axes.stairs(triangles.random_histogram, BINS, color=NEGATIVE, linewidth=1.8, label="with random signs")
    axes.axvline(triangles.mean, color=POSITIVE, linestyle="--", linewidth=1)
    axes.axvline(triangles.random_mean, color=NEGATIVE, linestyle="--", linewidth=1)
    axes.set(xlabel="|c(a, b) + c(b, c) - c(a, c)|", ylabel="share of the triangles", xlim=(0, 3))
    axes.grid(axis="y", alpha=0.25)
    axes.legend(frameon=False)
    sampled = "" if triangles.looked_at == 1 else f", from {triangles.looked_at:.0%} of the graph"
    axes.set_title(f"{triangles.number:,} triangles{sampled}; dashed: means", fontsize=8)
    figure.suptitle("Do differences add up?", fontsize=11)
    return figure


def annotators_figure(people: list[Annotator]) -> Figure:
    """Slope against bias, and the agreement of those who agree least."""
    least = sorted(people, key=lambda one: one.agreement or 0.0)[:MOST_BARS]
    figure = Figure(figsize=(10, max(3.8, 0.24 * len(least) + 1.4)), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(1.2, 1))
    _slopes(left, people)
    names = [one.name if len(one.name) <= 24 else one.name[:23] + "…" for one in least]
    right.barh(range(len(least)), [one.agreement or 0.0 for one in least], color=[_colour(one) for one in least])
    right.set_yticks(range(len(least)), names, fontsize=8)
    right.set(
        xlabel="correlation with the scores of others", xlim=(min(-0.05, *right.get_xlim()), 1), ylim=(len(least), -1)
    )
    right.axvline(0, color="black", linewidth=0.8)
    right.set_title("agreement" + (f", the {len(least)} lowest" if len(people) > len(least) else ""), fontsize=9)
    figure.suptitle(f"{len(people):,} annotators; vermilion: stands out", fontsize=11)
    return figure


def _slopes(axes: Axes, people: list[Annotator]) -> None:
    slopes = np.array([one.slope or 0.0 for one in people])
    usual = float(np.median(slopes))
    sizes = 14 + 60 * np.sqrt([one.pairs for one in people]) / np.sqrt(max(one.pairs for one in people))
    axes.axvspan(usual / 2, 2 * usual, color=NEUTRAL, alpha=0.10, linewidth=0)
    axes.axhspan(-STRONG_BIAS, STRONG_BIAS, color=NEUTRAL, alpha=0.10, linewidth=0)
    axes.axvline(usual, color=NEUTRAL, linewidth=1, linestyle="--")
    axes.scatter(slopes, [one.bias or 0.0 for one in people], sizes, color=[_colour(one) for one in people], alpha=0.8)
    for one in [one for one in people if one.stands_out][:MOST_BARS]:
        axes.annotate(
            one.name[:24], (one.slope or 0.0, one.bias or 0.0), (5, 5), textcoords="offset points", fontsize=8
        )
    axes.set(xlabel="slope: how much of the scale is used", ylabel="bias towards the second item")
    reach = max(0.3, *(1.15 * abs(one.bias or 0.0) for one in people))
    axes.set(xlim=(min(0.0, slopes.min() - 0.15), max(slopes.max() + 0.25, 2.2 * usual)), ylim=(-reach, reach))
    axes.set_title("grey: usual; size: number of pairs", fontsize=9)


def _colour(one: Annotator) -> str:
    return NEGATIVE if one.stands_out else POSITIVE
