"""Write the results of the simulations as one page, a table and JSON, with a figure for each result."""

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from matplotlib.figure import Figure

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import BOUND, MEASURED, NEUTRAL
from confdiff.io.atomic import atomic_files, write_text
from confdiff.io.outputs import check_new_report
from confdiff.theory.measuring import Settings, TheoryCheck


def theory_files(folder: Path) -> dict[str, Path]:
    """Return the paths of the files that :func:`write_theory` writes."""
    return {"page": folder / "theory.html", "table": folder / "theory.csv", "json": folder / "theory.json"}


def write_theory(
    checks: Sequence[TheoryCheck], settings: Settings, folder: Path, *, overwrite: bool = False
) -> dict[str, Path]:
    """Write theory.html, theory.csv and theory.json to a folder, and return kind -> path.

    Files of an earlier run are replaced, other files of these names only with ``overwrite``.
    """
    files = theory_files(folder)
    check_new_report(files, overwrite=overwrite)
    with atomic_files(files) as temporaries:
        write_text(temporaries["page"], theory_html(checks, settings))
        write_text(temporaries["table"], theory_csv(checks))
        write_text(temporaries["json"], theory_json(checks, settings))
    return files


def theory_csv(checks: Sequence[TheoryCheck]) -> str:
    """Return a CSV table with one row per point of a curve."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["result", "x_name", "x", "measured", "bound", "predicted", "holds"])
    for check in checks:
        values: Sequence[float | str] = check.bound or [""] * len(check.x)
        for x, measured, value in zip(check.x, check.measured, values, strict=True):
            columns = (value, "") if check.bound_name == "bound" else ("", value)
            writer.writerow([check.name, check.x_name, x, measured, *columns, check.holds])
    return text.getvalue()


def theory_json(checks: Sequence[TheoryCheck], settings: Settings) -> str:
    """Return the settings, and for each result its statement, finding and values, as JSON."""
    results = [asdict(check) for check in checks]
    return json.dumps({"settings": asdict(settings), "results": results}, indent=1, allow_nan=False) + "\n"


def theory_html(checks: Sequence[TheoryCheck], settings: Settings) -> str:
    """Return one HTML page with its figures embedded."""
    results = [(check, as_data_uri(check_figure(check))) for check in checks]
    return render("confdiff.theory", "theory.html", results=results, settings=settings)


def check_figure(check: TheoryCheck) -> Figure:
    """Draw the measured values of a check, and its bound."""
    figure, axes = new_figure(4.6, 3.0)
    if check.labels:
        axes.errorbar(check.x, check.measured, 2, fmt="o", color=MEASURED, markersize=4, capsize=4)
        axes.axhline(0, color=NEUTRAL, linewidth=0.8)
        axes.set_xticks(check.x, check.labels)
    else:
        axes.plot(check.x, check.measured, "o-", color=MEASURED, label="measured", markersize=4)
    if check.bound:
        axes.plot(check.x, check.bound, "s--", color=BOUND, label=check.bound_name, markersize=4)
        axes.legend(frameon=False, fontsize=8)
    if check.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(check.x, [f"{x:g}" for x in check.x])
        axes.minorticks_off()
    elif check.bound and check.bound_name == "bound":
        axes.set_yscale("log")
    axes.set_xlabel(check.x_name, fontsize=9)
    axes.set_ylabel(check.y_name, fontsize=9)
    axes.tick_params(labelsize=8)
    add_grid(axes)
    return figure
