"""What the simulations of the theory gave, as one page, a table and a picture for each result."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

from matplotlib.figure import Figure

from confdiff.display.html import as_data_uri, render
from confdiff.display.palette import BOUND, MEASURED
from confdiff.io.atomic import write_text
from confdiff.theory.measuring import Check, Settings


def write_theory(checks: Sequence[Check], settings: Settings, folder: Path) -> dict[str, Path]:
    """Write theory.html and theory.csv. Returns: what is where."""
    files = {"page": folder / "theory.html", "table": folder / "theory.csv"}
    write_text(files["page"], theory_html(checks, settings))
    write_text(files["table"], theory_csv(checks))
    return files


def theory_csv(checks: Sequence[Check]) -> str:
    """One line a point of a curve."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["result", "x_name", "x", "measured", "bound", "holds"])
    for check in checks:
        for place, x in enumerate(check.x):
            bound = check.bound[place] if check.bound else ""
            writer.writerow([check.name, check.x_name, x, check.measured[place], bound, check.holds])
    return text.getvalue()


def theory_html(checks: Sequence[Check], settings: Settings) -> str:
    """One page that needs nothing beside it."""
    shown = [(check, as_data_uri(check_figure(check))) for check in checks]
    return render("confdiff.theory", "theory.html", shown=shown, settings=settings)


def check_figure(check: Check) -> Figure:
    """What was measured, and the bound above it."""
    figure = Figure(figsize=(4.6, 3.0), layout="constrained")
    axes = figure.subplots()
    if check.labels:
        axes.errorbar(check.x, check.measured, 2, fmt="o", color=MEASURED, markersize=4, capsize=4)
        axes.axhline(0, color="0.4", linewidth=0.8)
        axes.set_xticks(check.x, check.labels)
    else:
        axes.plot(check.x, check.measured, "o-", color=MEASURED, label="measured", markersize=4)
    if check.bound:
        axes.plot(check.x, check.bound, "s--", color=BOUND, label="bound", markersize=4)
        axes.legend(frameon=False, fontsize=8)
    if check.logarithmic:
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xticks(check.x, [f"{x:g}" for x in check.x])
        axes.minorticks_off()
    elif check.bound:
        axes.set_yscale("log")
    axes.set_xlabel(check.x_name, fontsize=9)
    axes.set_ylabel(check.y_name, fontsize=9)
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.25)
    return figure
