"""The report of a check as one HTML page and as JSON."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

from confdiff.display.html import as_data_uri, render
from confdiff.display.text import plural
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_report
from confdiff.tabular.checks.annotators import FEWEST_PAIRS, JudgedAnnotator
from confdiff.tabular.checks.report import CheckReport

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_ROWS = 40  # columns or annotators in a table of the page


def check_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`write_check` writes."""
    return {"page": folder / "check.html", "numbers": folder / "check.json"}


def write_check(report: CheckReport, folder: Path, *, overwrite: bool = False) -> dict[str, Path]:
    """Write check.html and check.json to a folder.

    Parameters
    ----------
    report : CheckReport
        The report to write.
    folder : Path
        Folder for the two files; made if it does not exist.
    overwrite : bool
        Replace files of these names even if an earlier check did not write them.

    Returns
    -------
    dict of str to Path
        The files, as ``"page"`` and ``"numbers"``.
    """
    files = check_files(folder)
    check_new_report(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        write_text(temporaries["page"], check_html(report))
        write_text(temporaries["numbers"], check_json(report) + "\n")
    return files


def check_json(report: CheckReport) -> str:
    """Return the report as JSON."""
    return json.dumps(report.as_dict(), indent=1, allow_nan=False, ensure_ascii=False)


def check_html(report: CheckReport) -> str:
    """Return the report as one self-contained page."""
    annotators = sorted(report.measures.get("annotators", ()), key=_display_order)
    return render(
        "confdiff.tabular.checks",
        "check.html",
        report=report,
        measures=report.measures,
        figures={name: as_data_uri(figure) for name, figure in _figures(report).items()},
        formula=None if report.scale is None else report.scale.formula,
        annotators=annotators[:_MOST_ROWS],
        more_annotators=len(annotators) - _MOST_ROWS,
        most=_MOST_ROWS,
        fewest=FEWEST_PAIRS,
        plural=plural,
    )


def _display_order(annotator: JudgedAnnotator) -> tuple[bool, bool, float]:
    """Return a key that puts deviating annotators first, unassessed ones last, and low correlations before high."""
    correlation = annotator.correlation if annotator.correlation is not None else -1.0
    return not annotator.deviations, not annotator.is_assessed, correlation


def _figures(report: CheckReport) -> "dict[str, Figure]":
    """Return the figures for which there are data."""
    from confdiff.datasets.figures import pairs_figure
    from confdiff.tabular.checks.figures import annotators_figure, learning_curve_figure, triangles_figure

    if "differences" not in report.measures:
        return {}
    figures = {"differences": pairs_figure(report.measures["differences"].summary, "Differences")}
    if report.measures["triangles"] is not None:
        figures["triangles"] = triangles_figure(report.measures["triangles"])
    if report.measures["learning_curve"].projection:
        figures["learning_curve"] = learning_curve_figure(report.measures["learning_curve"])
    assessed = [a for a in report.measures["annotators"] if a.is_assessed and a.slope is not None]
    if assessed:
        figures["annotators"] = annotators_figure(assessed)
    return figures
