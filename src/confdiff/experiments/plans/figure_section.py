"""The sections of the paper's figures in the report."""

from collections.abc import Sequence
from functools import partial
from operator import attrgetter
from typing import TYPE_CHECKING, Literal

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.figure_results import (
    ClaimResult,
    FigureResults,
    Point,
    claim_results,
    figure_results,
)
from confdiff.experiments.plans.figures import FigurePlan, figure_grid
from confdiff.experiments.plans.verdicts import FEWEST_TEXT, SIGNIFICANCE_TEXT, TOLERANCE_TEXT
from confdiff.experiments.report.blocks import Block, Cell, Commands, CsvFile, Heading, Paragraph, Picture, Table
from confdiff.experiments.report.csv import TRIAL_COLUMNS, CsvColumns, attributes, csv_file
from confdiff.experiments.report.numbers import gain_text, optional_text, p_text, signed_text, trials_text
from confdiff.experiments.report.plots import Panel, Series, panels_figure
from confdiff.experiments.report.style import colour_of, dataset_label, label_of
from confdiff.experiments.statistics import grouped
from confdiff.experiments.trials.record import Record

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_CLAIMS = f"""\
The paper prints no numbers for its figures; the table lists its claims about them. Trials with the same seeds are \
compared by a paired t-test at the {SIGNIFICANCE_TEXT}, corrected for the number of tests in the table by Holm's \
method. Intervals are 95 % t-intervals of the single differences. Similar and comparable mean a difference of at most \
{TOLERANCE_TEXT}. Fewer than {FEWEST_TEXT} trials give no verdict. The column "printed" shows the paper's number for \
the second point, if its tables contain one."""
_COLUMNS: CsvColumns = {
    **attributes("dataset", "prior"),
    "panel": attrgetter("place.panel"),
    "curve": attrgetter("place.curve"),
    "method": attrgetter("place.method"),
    "x": attrgetter("place.x"),
    **TRIAL_COLUMNS,
}
_SHADES = {"holds": "within", "does not hold": "below"}


def figure_experiment(plan: FigurePlan) -> Experiment:
    """Return the experiment of a figure of the paper."""
    return Experiment(
        section=partial(_section, plan),
        files=partial(_files, plan),
        grid=partial(figure_grid, plan),
    )


def _section(plan: FigurePlan, records: Sequence[Record]) -> list[Block]:
    results = figure_results(plan, classifier_records(records))
    return [] if results is None else figure_blocks(results)


def figure_blocks(results: FigureResults) -> list[Block]:
    """Return the picture of a figure, the accuracies of its panels, and its claims."""
    plan = results.plan
    panels = grouped(results.points, lambda point: point.place.panel)
    head = ["claim", "data set", "prior", "first", "second", "printed", "difference", "95 % interval", "p", "Holm p"]
    head += ["verdict"]
    return [
        Heading(plan.title, anchor=plan.name, link=plan.title.split(":")[0]),
        Commands(tuple(results.commands)),
        Picture(plan.title, partial(draw_points, results), name=plan.name),
        *(_panel_table(panel) for panel in panels),
        Paragraph(_CLAIMS),
        Table(head, [_claim_row(result) for result in claim_results(results)]),
    ]


def _panel_table(points: Sequence[Point]) -> Table:
    """One row per curve; one column per position, where curves run over any."""
    panel = points[0].place.panel
    axis = sorted({point.place.x for point in points}) if panel else []
    rows = []
    for curve in grouped(points, lambda point: (point.dataset, point.prior, point.place.curve)):
        first = curve[0]
        at = {point.place.x: trials_text(point.trials) for point in curve}
        cells = [at.get(x, "") for x in axis] if axis else list(at.values())
        rows.append([dataset_label(first.dataset), f"{first.prior:g}", label_of(first.place.curve), *cells])
    columns = [f"{x:g}" for x in axis] or ["accuracy"]
    return Table(["data set", "prior", panel or "method", *columns], rows)


def _claim_row(result: ClaimResult) -> list[str | Cell]:
    return [
        result.claim.text,
        dataset_label(result.first.dataset),
        f"{result.first.prior:g}",
        trials_text(result.first.trials),
        trials_text(result.second.trials),
        optional_text(result.printed),
        signed_text(result.outcome.difference),
        gain_text(result.outcome.interval),
        p_text(result.outcome.p_value),
        p_text(result.outcome.adjusted_p),
        Cell(result.verdict, shade=_SHADES.get(result.verdict, "")),
    ]


def draw_points(results: FigureResults) -> "Figure":
    """Draw the curves of a figure, one panel per data set, prior and axis."""
    priors = {point.prior for point in results.points}
    groups = grouped(results.points, lambda point: (point.prior, point.dataset, point.place.panel))
    panels = []
    for points in groups:
        first = points[0]
        title = dataset_label(first.dataset) + (f", prior {first.prior:g}" if len(priors) > 1 else "")
        panels.append(Panel(title=title, x_label=first.place.panel, series=_series(results.plan, points)))
    return panels_figure(panels)


def _series(plan: FigurePlan, points: Sequence[Point]) -> list[Series]:
    side_by_side = all(plan.is_level(point.place) for point in points)
    series = []
    for curve in grouped(points, lambda point: point.place.curve):
        ordered = sorted(curve, key=lambda point: point.place.x)
        place = ordered[0].place
        kind: Literal["curve", "level", "marker", "hollow"] = "level" if plan.is_level(place) else "curve"
        if side_by_side:
            kind = "hollow" if place.hollow else "marker"
        series.append(
            Series(
                label=label_of(place.curve),
                colour=colour_of(place.method),
                x=[point.place.x for point in ordered],
                y=[point.trials.mean for point in ordered],
                band=[point.trials.std or 0.0 for point in ordered],
                kind=kind,
            )
        )
    return series


def _files(plan: FigurePlan, records: Sequence[Record]) -> list[CsvFile]:
    results = figure_results(plan, classifier_records(records))
    return [] if results is None else [points_file(plan.name, results.points)]


def points_file(name: str, points: Sequence[Point]) -> CsvFile:
    """Return the points of a figure as a table, one row each."""
    return csv_file(name, _COLUMNS, points)
