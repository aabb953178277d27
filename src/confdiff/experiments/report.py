"""The report: reads the store and the paper's numbers, and nothing else; gives Markdown, CSV and one HTML page."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from matplotlib.figure import Figure

from confdiff.display.html import as_data_uri, environment
from confdiff.experiments import texts
from confdiff.experiments.findings import Findings, findings_of
from confdiff.experiments.grouping import grouped
from confdiff.experiments.markdown import as_markdown, ranks_of, time_of, winners_of
from confdiff.experiments.names import LABELS, TITLES
from confdiff.experiments.parts import PartRow
from confdiff.experiments.plots import curves_figure, points_figure, ranks_figure
from confdiff.experiments.points import Point
from confdiff.experiments.rankings import METRICS, PLACE, RankingRow, rankings_command
from confdiff.experiments.readings import readings
from confdiff.experiments.sections import VERDICTS, Section
from confdiff.experiments.study import CONDITIONS, METHODS, StudyCell, study_command
from confdiff.experiments.trials.store import Store
from confdiff.experiments.wording import chance, mean_of, number, signed
from confdiff.io.atomic import atomic_file, write_text


def write_report(store: Store, folder: Path) -> dict[str, Path]:
    """Write results.md, results.csv, results.html, and tables of the other trials and figures where there are some.

    A figure is a CSV of its points, and a PNG and an SVG in the folder images. Returns: what is where.
    """
    records = store.records()
    if not records:
        raise ValueError(f"there are no trials in {store.folder}: run some first, such as confdiff reproduce table2.")
    findings = findings_of(records)
    contents = {
        "markdown": (folder / "results.md", as_markdown(findings)),
        "table": (folder / "results.csv", as_csv(findings.sections)),
        "page": (folder / "results.html", as_html(findings)),
    }
    if findings.parts:
        contents["parts"] = (folder / "parts.csv", as_parts_csv(findings.parts))
    if findings.study:
        contents["study"] = (folder / "study.csv", as_study_csv(findings.study))
    for curves in findings.figures:
        contents[curves.name] = (folder / f"{curves.name}.csv", as_points_csv(curves.points))
    if findings.rankings:
        contents["rankings"] = (folder / "rankings.csv", as_rankings_csv(findings.rankings))
    for path, text in contents.values():
        write_text(path, text)
    files = {what: path for what, (path, _) in contents.items()}
    for curves in findings.figures:
        picture = points_figure(curves, TITLES)
        for ending in ("png", "svg"):
            path = files[f"{curves.name}, {ending}"] = folder / "images" / f"{curves.name}.{ending}"
            with atomic_file(path) as temporary:
                picture.savefig(temporary, dpi=150)
    return files


def as_points_csv(points: Sequence[Point]) -> str:
    """One line a point."""
    rows = []
    for point in points:
        at, found = point.place, (len(point.trials), _digits(point.mean), _digits(point.std))
        rows.append([point.dataset, point.prior, at.panel, at.curve, at.method, at.x, *found])
    return _csv(["dataset", "prior", "panel", "curve", "method", "x", "trials", "mean", "std"], rows)


def as_csv(sections: Sequence[Section]) -> str:
    """One line a cell."""
    header = "table protocol epochs dataset prior method trials mean std"
    return _csv(
        [*header.split(), "printed_mean", "printed_std", "difference", "verdict", "seconds"],
        [
            [
                section.table, section.protocol, section.epochs, cell.dataset, cell.prior, cell.method, cell.trials,
                _digits(cell.mean), _digits(cell.std),
                *(("", "") if cell.printed is None else (cell.printed.mean, cell.printed.std)),
                _digits(cell.difference), cell.verdict, f"{cell.seconds:.1f}",
            ]
            for section in sections
            for cell in section.cells.values()
        ],
    )  # fmt: skip


def as_parts_csv(parts: Sequence[PartRow]) -> str:
    """One line a method and setting."""
    rows = [
        [
            row.dataset, row.prior, row.method, row.protocol, row.network, "" if row.n_pairs is None else row.n_pairs,
            row.incomplete, row.epochs, len(row.trials), _digits(mean(row.trials.values())),
            _digits(mean(row.last.values())), _digits(row.teacher), _digits(row.printed), f"{row.seconds:.1f}",
        ]
        for row in parts
    ]  # fmt: skip
    names = "dataset prior method protocol network n_pairs incomplete epochs trials mean mean_after_the_last_epoch"
    return _csv([*names.split(), "teacher", "printed", "seconds"], rows)


def as_study_csv(study: Sequence[StudyCell]) -> str:
    """One line a cell of the study."""
    rows = [
        [
            cell.protocol, cell.epochs, cell.dataset, cell.prior, cell.condition, cell.method, len(cell.accuracies),
            _digits(cell.mean), _digits(cell.std), _digits(cell.gain), _digits(cell.p_value), cell.verdict,
        ]
        for cell in study
    ]  # fmt: skip
    names = "protocol epochs dataset prior condition method trials mean std gain p_value verdict"
    return _csv(names.split(), rows)


def as_rankings_csv(rows: Sequence[RankingRow]) -> str:
    """One line a method and setting."""
    header = [*PLACE, "method", "trials", "evaluated", "pairs"]
    for metric in METRICS:
        header += [metric, f"{metric} std", f"{metric} printed"]
    lines = []
    for row in rows:
        line = [*row.setting, row.method, row.trials, row.evaluated, row.pairs]
        for metric in METRICS:
            line += [_digits(row.mean(metric)), _digits(row.std(metric)), row.printed.get(metric, "")]
        lines.append(line)
    return _csv(header, lines)


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.5f}"


def as_html(findings: Findings) -> str:
    """One page that needs nothing beside it."""
    pages = environment("confdiff.experiments")
    pages.globals |= {"labels": LABELS, "titles": TITLES, "conditions": list(CONDITIONS), "methods": METHODS}
    pages.globals |= {"metrics": METRICS}
    pages.globals |= {"number": number, "signed": signed, "time_of": time_of}
    pages.globals |= {"mean_of": mean_of, "chance": chance, "readings": readings}
    pages.filters["groupby_place"] = _by_place
    pages.globals |= {"texts": texts, "verdicts": VERDICTS, "winners_of": winners_of, "ranks_of": ranks_of}
    pages.globals |= {"rankings_command": rankings_command, "study_command": study_command}
    pictures = {section.name: [as_data_uri(figure) for figure in _figures(section)] for section in findings.sections}
    return pages.get_template("report.html").render(
        sections=findings.sections,
        pictures=pictures,
        parts=findings.parts,
        studies=grouped(findings.study, lambda cell: (cell.protocol, cell.epochs)),
        rankings=grouped(findings.rankings, lambda row: row.setting),
        figures=[(each, as_data_uri(points_figure(each, TITLES))) for each in findings.figures],
        oracles=grouped(findings.oracles, lambda row: (row.method, row.protocol, row.epochs)),
    )


def _by_place(study: Sequence[StudyCell]) -> list[tuple[StudyCell, dict[tuple[str, str], StudyCell]]]:
    """The cells of each data set, prior, protocol and number of epochs: the first, and all by condition and method."""
    places = grouped(study, lambda cell: (cell.dataset, cell.prior, cell.protocol, cell.epochs))
    return [(place[0], {(cell.condition, cell.method): cell for cell in place}) for place in places]


def _figures(section: Section) -> list[Figure]:
    figures = [curves_figure(section.records, section.datasets, section.priors, TITLES)]
    if section.ranks.critical_difference is not None:
        figures.append(ranks_figure(section.ranks))
    return figures
