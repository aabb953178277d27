"""The section of the report on real tables: what holds, a picture, all cells, oracles, choices and times."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from statistics import mean
from typing import TYPE_CHECKING

from confdiff.display.figures import add_grid, new_figure
from confdiff.display.palette import GUIDE, family_colours
from confdiff.experiments.plans.real_table_cells import (
    CHOICE,
    COMPARED,
    FEWEST_CLAIMED,
    ORACLES,
    LearnerCell,
    TableClaim,
    learner_cells,
    table_claims,
)
from confdiff.experiments.plans.real_table_learners import LEARNERS
from confdiff.experiments.plans.verdicts import SIGNIFICANCE_TEXT
from confdiff.experiments.report import blocks
from confdiff.experiments.report.blocks import Block, Commands, CsvFile, Heading, Paragraph, Picture, Row, Table
from confdiff.experiments.report.csv import CsvColumns, csv_file
from confdiff.experiments.report.numbers import accuracy_text, digits, interval_text, signed_text
from confdiff.experiments.report.style import dataset_label
from confdiff.experiments.statistics import grouped
from confdiff.experiments.trials.record import Record
from confdiff.experiments.trials.table_record import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_TITLE = "Real tables under noise"
_TEXT = """\
Adult, Spambase, Wine Quality and an extract of Framingham, at their natural class balance and with equal classes. \
Boosted trees, cross-fitted inside the training set and scaled to fit its labels, give the posteriors, which are \
moved to the class prior of the pairs. Noise: additive N(0, .3^2), clipped; multiplicative N(1, .5^2); rounded to \
five grades; or label differences y' - y. Each item is in one pair, so some tables give fewer than 1,500 pairs. All \
learners are given the class prior. Values are accuracy / AUC on the test set, means over trials, with the number of \
trials in brackets, and below them the 95 % t-interval of the accuracy. The best accuracy of a row is bold."""
_CLAIMS = f"""\
What holds in cells with at least {FEWEST_CLAIMED} pairs and three trials of all learners compared. The best candidate \
is the one with the highest mean on the test set, which no learner knows. Comparisons with ConfDiff-ABS are paired \
t-tests over trials at the {SIGNIFICANCE_TEXT}: of many cells without a difference, one in 40 is called below."""
_ORACLES = """\
Oracles of each family learn from the posteriors (soft) or labels (hard) of the items in the pairs, so the noise does \
not affect them."""


def table_blocks(records: Sequence[Record]) -> list[Block]:
    """Return the section; empty without trials."""
    cells = learner_cells(records)
    if not cells:
        return []
    section: list[Block] = [Heading(_TITLE, anchor="real-tables", link="Real tables"), Paragraph(_TEXT)]
    section.append(Commands(_commands(cells)))
    tested = table_claims(cells)
    if tested:
        section += [Paragraph(_CLAIMS), _claims_table(tested)]
    if any(cell.below_best(name) is not None for cell in cells for name in COMPARED):
        title = "Accuracy below the best candidate, one dot per cell"
        section.append(Picture(title, partial(gaps_figure, cells), name="real_tables"))
    for group in grouped(cells, lambda cell: cell.pairs):
        section += [Heading(f"{group[0].pairs:,} pairs", level=3), _accuracies(group)]
    section += [Heading("Oracles, times and choices", level=3), Paragraph(_ORACLES), _oracles(cells)]
    section += [_means(cells), *_choices(cells)]
    return section


def _commands(cells: Sequence[LearnerCell]) -> tuple[str, ...]:
    """Return a command for each number of pairs, with the largest number of trials that a learner has."""
    lines = []
    for group in grouped(cells, lambda cell: cell.pairs):
        learners = [name for name in LEARNERS if any(name in cell.records for cell in group)]
        trials = max(len(records) for cell in group for records in cell.records.values())
        datasets = ",".join(dict.fromkeys(cell.dataset for cell in group))
        chosen = "" if len(learners) == len(LEARNERS) else f" --methods {','.join(learners)}"
        options = f"--points {group[0].pairs} --datasets {datasets}{chosen} --trials {trials}"
        lines.append(f"confdiff reproduce real_tables {options}")
    return tuple(lines)


def _claims_table(tested: Sequence[TableClaim]) -> Table:
    rows: list[Row] = [
        [
            claim.text,
            f"{claim.holds} of {claim.cells}",
            signed_text(claim.worst),
            claim.where,
            "; ".join(claim.misses),
        ]
        for claim in tested
    ]
    return Table(["claim", "cells in which it holds", "worst difference", "in", "does not hold in"], rows)


def gaps_figure(cells: Sequence[LearnerCell]) -> "Figure":
    """Draw how far each learner is from the best candidate, one dot per cell, one row per learner."""
    learners = [name for name in COMPARED if any(cell.below_best(name) is not None for cell in cells)]
    kinds = list(dict.fromkeys(cell.differences for cell in cells))
    colours = family_colours(dict.fromkeys(kinds, "confdiff"))
    figure, axes = new_figure(7, 0.5 * len(learners) + 1.4)
    for place, name in enumerate(learners):
        axes.axhline(place, color=GUIDE, linewidth=1, zorder=0)
        for shift, kind in enumerate(kinds):
            gaps = [cell.below_best(name) for cell in cells if cell.differences == kind]
            values = [-gap for gap in gaps if gap is not None]
            height = place + 0.13 * (shift - (len(kinds) - 1) / 2)
            label = kind if place == 0 else None
            axes.plot(values, [height] * len(values), "o", color=colours[kind], markersize=3, alpha=0.6, label=label)
    axes.axvline(-0.01, color="black", linewidth=0.8, linestyle=":")
    axes.set_yticks(range(len(learners)), [LEARNERS[name].label for name in learners], fontsize=9)
    axes.invert_yaxis()
    axes.set_xlabel("accuracy minus that of the best candidate (dotted: -.01)", fontsize=9)
    add_grid(axes, "x")
    figure.legend(loc="outside lower center", ncols=len(kinds), fontsize=8, frameon=False)
    return figure


def _accuracies(cells: Sequence[LearnerCell]) -> Table:
    """One row per cell, one column per learner."""
    learners = [name for name in COMPARED if any(name in cell.records for cell in cells)]
    head = ["data set", "prior", "pairs", "differences", *(LEARNERS[name].label for name in learners)]
    rows: list[Row] = [[*_place(cell), cell.differences, *_values(cell, learners)] for cell in cells]
    return Table(head, rows, group_columns=3)


def _place(cell: LearnerCell) -> list[str]:
    return [dataset_label(cell.dataset), accuracy_text(cell.prior), f"{cell.n_pairs:,}"]


def _values(cell: LearnerCell, learners: Sequence[str]) -> list[blocks.Cell]:
    means = {name: value for name in learners if (value := cell.mean(name)) is not None}
    best = max(means.values(), default=0.0)
    return [_value(cell, name, means.get(name) == best) for name in learners]


def _value(cell: LearnerCell, learner: str, bold: bool = False) -> blocks.Cell:
    accuracy = cell.mean(learner)
    auc = cell.mean(learner, "auc")
    if accuracy is None or auc is None:
        return blocks.Cell("")
    text = f"{accuracy_text(accuracy)} / {accuracy_text(auc)}"
    trials = cell.trials(learner)
    return blocks.Cell(text, detail=f"({trials.n})", note=interval_text(trials) or "no interval", bold=bold)


def _oracles(cells: Sequence[LearnerCell]) -> Table:
    """One row per data set, prior and number of pairs, one column per oracle."""
    learners = [name for name in ORACLES if any(name in cell.records for cell in cells)]
    groups = grouped(cells, lambda cell: (cell.pairs, cell.dataset, cell.balance))
    rows: list[Row] = [[*_place(group[0]), *(_value(group[0], name) for name in learners)] for group in groups]
    return Table(["data set", "prior", "pairs", *(LEARNERS[name].label for name in learners)], rows)


def _means(cells: Sequence[LearnerCell]) -> Table:
    """Return the means of all measures and of the processor time over the cells that all of the learners have."""
    learners = [name for name in COMPARED if any(name in cell.records for cell in cells)]
    complete = [cell for cell in cells if all(name in cell.records for name in learners)]
    rows: list[Row] = []
    for name in learners:
        values = [mean(cell.trials(name, measure).mean for cell in complete) for measure in MEASURES if complete]
        seconds = mean(record.processor_seconds for cell in cells for record in cell.records.get(name, []))
        rows.append([LEARNERS[name].label, *map(accuracy_text, values), f"{seconds:.2f}"])
    head = [f"mean of {len(complete)} cells", "accuracy", "AUC", "Brier score", "calibration error", "s per fit"]
    return Table(head if complete else [head[0], head[-1]], rows)


def _choices(cells: Sequence[LearnerCell]) -> list[Table]:
    """Count what the automatic choice chose, by number of pairs and kind of differences."""
    groups = grouped([cell for cell in cells if CHOICE in cell.records], lambda cell: (cell.pairs, cell.differences))
    counts = [Counter(str(record.chosen) for cell in group for record in cell.records[CHOICE]) for group in groups]
    names = sorted({name for count in counts for name in count})
    rows: list[Row] = [
        [f"{group[0].pairs:,}", group[0].differences, *(str(count[name]) for name in names)]
        for group, count in zip(groups, counts, strict=True)
    ]
    return [Table(["pairs", "differences", *(f"chosen: {name}" for name in names)], rows)] if rows else []


def table_summary(records: Sequence[Record]) -> Table:
    """Return the table that the command prints: one row per cell, one column per learner."""
    return _accuracies(learner_cells(records))


def table_files(records: Sequence[Record]) -> list[CsvFile]:
    """Return one row per cell and learner."""
    rows = [(cell, name) for cell in learner_cells(records) for name in LEARNERS if name in cell.records]
    return [csv_file("real_tables", _COLUMNS, rows)] if rows else []


def _column(name: str) -> CsvColumns:
    return {name: lambda row: getattr(row[0], name)}


def _measure(name: str) -> CsvColumns:
    return {
        name: lambda row: digits(row[0].trials(row[1], name).mean),
        f"{name} std": lambda row: digits(row[0].trials(row[1], name).std),
    }


_COLUMNS: CsvColumns = {
    **_column("dataset"),
    **_column("balance"),
    **_column("prior"),
    **_column("differences"),
    **_column("n_pairs"),
    "learner": lambda row: row[1],
    "trials": lambda row: row[0].trials(row[1]).n,
    **_measure("accuracy"),
    **_measure("auc"),
    **_measure("brier"),
    **_measure("calibration_error"),
    "below best candidate": lambda row: digits(row[0].below_best(row[1])),
    "seconds": lambda row: digits(row[0].trials(row[1], "processor_seconds").mean),
}
