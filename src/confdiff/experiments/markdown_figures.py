"""The paper's figures in the Markdown report: picture, accuracies, and what becomes of the paper's readings."""

from collections.abc import Sequence

from confdiff.experiments.grouping import grouped
from confdiff.experiments.names import LABELS, TITLES
from confdiff.experiments.points import Curves, Point
from confdiff.experiments.readings import Reading, readings
from confdiff.experiments.texts import READINGS
from confdiff.experiments.wording import chance, mean_of, number, signed, table


def figure_lines(curves: Curves) -> list[str]:
    """A figure as lines."""
    title = curves.plan.title
    lines = [
        f"## {title}",
        "",
        *(f"    {command}" for command in curves.commands),
        "",
        f"![{title}](images/{curves.name}.png)",
    ]
    for panel in grouped(curves.points, lambda point: point.place.panel):
        lines += ["", *_panel(panel)]
    head = ["reading", "data set", "prior", "the first", "the second", "printed", "difference", "p", "verdict"]
    return [*lines, "", *READINGS.splitlines(), "", *table(head, map(_reading, readings(curves)))]


def _panel(points: Sequence[Point]) -> list[str]:
    """A row for each curve; a column for each place, where curves run over any."""
    curves = grouped(points, lambda point: (point.dataset, point.prior, point.place.curve))
    axis = sorted({point.place.x for point in points}) if points[0].place.panel else []
    rows = []
    for curve in curves:
        first, at = curve[0], {point.place.x: mean_of(point.trials) for point in curve}
        cells = [at.get(x, "") for x in axis] if axis else list(at.values())
        rows.append(
            [TITLES[first.dataset], f"{first.prior:g}", LABELS.get(first.place.curve, first.place.curve), *cells]
        )
    columns = [f"{x:g}" for x in axis] or ["accuracy"]
    return table(["data set", "prior", points[0].place.panel or "method", *columns], rows)


def _reading(reading: Reading) -> list[str]:
    first, second, outcome = reading.first, reading.second, reading.outcome
    place = [reading.claim.text, TITLES[first.dataset], f"{first.prior:g}"]
    printed = "" if reading.printed is None else number(reading.printed, None)
    found = [mean_of(first.trials), mean_of(second.trials), printed]
    return [*place, *found, signed(outcome.difference), chance(outcome.p_value), reading.verdict]
