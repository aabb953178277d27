"""The opening of the report: what holds of Tables 1 and 2 in three sentences, and a chart of all cells."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from confdiff.display.text import plural
from confdiff.experiments.plans.experiment import classifier_records
from confdiff.experiments.plans.figures import OUR_METHODS
from confdiff.experiments.plans.paper_tables import DEFAULT_PROTOCOL, PAPER_METHODS, TableCell
from confdiff.experiments.plans.printed import PAPER_EPOCHS
from confdiff.experiments.plans.table_results import TableResults, table_results
from confdiff.experiments.plans.verdicts import AGREEMENT_TOLERANCE, FEWEST_TEXT, TOLERANCE_TEXT
from confdiff.experiments.report.blocks import Block, Opening, Picture
from confdiff.experiments.report.dot_plots import DotRow, dots_figure
from confdiff.experiments.report.style import colour_of, label_of
from confdiff.experiments.trials.record import Record
from confdiff.methods import METHODS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = "Our accuracy minus the paper's, one dot per cell of Tables 1 and 2"


def opening_blocks(records: Sequence[Record]) -> list[Block]:
    """Return the opening; empty if no cell of Tables 1 and 2 has a verdict."""
    tables = [
        results
        for results in table_results(classifier_records(records))
        if (results.protocol, results.epochs) == (DEFAULT_PROTOCOL, PAPER_EPOCHS) and results.has_verdicts
    ]
    if not tables:
        return []
    cells = [cell for results in tables for cell in results.cells.values() if cell.verdict]
    sentences = [_agreement(tables, cells), _learners(cells), _best(tables)]
    chart = Picture(_TITLE, partial(agreement_figure, cells), name="agreement", inline=True)
    return [Opening([sentence for sentence in sentences if sentence], chart)]


def _agreement(tables: Sequence[TableResults], cells: Sequence[TableCell]) -> str:
    counts = {verdict: sum(results.tally[verdict] for results in tables) for verdict in ("within", "above", "below")}
    chance = sum(results.agreement.by_chance for results in tables)
    total = plural(len(cells), "cell")
    return (
        f"Of {total} of Tables 1 and 2 with at least {FEWEST_TEXT} trials, {counts['within']} agree "
        f"with the printed number, {counts['above']} are above it and {counts['below']} below; chance alone would put "
        f"{chance:.1f} outside."
    )


def _learners(cells: Sequence[TableCell]) -> str:
    """Count the cells of the paper's methods, separately for its baselines."""
    baselines = [cell for cell in cells if METHODS[cell.method].family == "pcomp"]
    others = [cell for cell in cells if METHODS[cell.method].family != "pcomp"]
    parts = []
    if others:
        reached = sum(cell.verdict != "below" for cell in others)
        parts.append(f"the ConfDiff methods and the oracles agree or are above in {reached} of {len(others)} cells")
    if baselines:
        above = sum(cell.verdict == "above" for cell in baselines)
        parts.append(f"the Pcomp baselines are above print in {above} of {len(baselines)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _best(tables: Sequence[TableResults]) -> str:
    wins: dict[str, int] = {}
    for results in tables:
        for name, count in results.winners.items():
            wins[name] = wins.get(name, 0) + count
    if not wins:
        return ""
    order = sorted(wins, key=wins.__getitem__, reverse=True)
    best = ", ".join(f"{label_of(name)} in {wins[name]}" for name in order)
    places = f"{sum(wins.values())} combinations of a data set and a prior"
    text = f"The best of the paper's methods, excluding oracles, is {best} of {places}"
    return f"{text}{_ours(tables)}."


def _ours(tables: Sequence[TableResults]) -> str:
    """State where our method is above ConfDiff-ABS."""
    (ours,) = OUR_METHODS
    shared = [
        (cell.trials.mean, results.cells[dataset, prior, "confdiff-abs"].trials.mean)
        for results in tables
        for (dataset, prior, method), cell in results.cells.items()
        if method == ours and (dataset, prior, "confdiff-abs") in results.cells
    ]
    if not shared:
        return ""
    above = sum(first > second for first, second in shared)
    return f"; our {label_of(ours)} is above ConfDiff-ABS in {above} of {len(shared)}"


def agreement_figure(cells: Sequence[TableCell]) -> "Figure":
    """Draw our accuracies minus the printed ones, a row per method."""
    rows = []
    for method in PAPER_METHODS:
        differences = [cell.difference for cell in cells if cell.method == method and cell.difference is not None]
        if differences:
            rows.append(
                DotRow(
                    label=label_of(method),
                    colour=colour_of(method),
                    dots=differences,
                    mean=sum(differences) / len(differences),
                )
            )
    label = f"our accuracy minus the printed one (diamond: mean; band: {TOLERANCE_TEXT})"
    return dots_figure(rows, label, tolerance=AGREEMENT_TOLERANCE)
