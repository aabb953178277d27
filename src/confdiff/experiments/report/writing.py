"""Write the report: the sections of all experiments, from the trials of a store."""

from collections.abc import Sequence
from pathlib import Path

from confdiff.experiments.plans import EXPERIMENTS, find_experiment
from confdiff.experiments.plans.opening import opening_blocks
from confdiff.experiments.plans.printed import PAPER_EPOCHS
from confdiff.experiments.plans.verdicts import AGREEMENT_TEXT, FEWEST_TEXT
from confdiff.experiments.report.blocks import Block, CsvFile, Heading, Paragraph, Table
from confdiff.experiments.report.files import ReportFiles
from confdiff.experiments.report.html import as_html
from confdiff.experiments.report.markdown import as_markdown
from confdiff.experiments.trials.record import Record
from confdiff.experiments.trials.store import Store, Unreadable
from confdiff.io.outputs import check_writable

_NAME = "results"
_TITLE = "Results"
_LEAD = (
    "Our trials and the numbers printed in Wang et al., Binary Classification with Confidence Difference, NeurIPS 2023."
)
_INTRODUCTION = f"""\
`confdiff report` makes this page from finished trials. Accuracy is measured on the test set, as the mean of the \
last 10 epochs. Tables show the mean and standard deviation (n - 1) over trials; the brackets hold the number of \
trials and the 95 % t-interval of the mean, cut at 0 and 1. One trial has no interval. Intervals and tests are about \
other seeds on the same data sets: trials share items, so intervals for new data would be wider (Nadeau and Bengio \
2003). The paper's number and our difference from it are below each mean. Cells with at least {FEWEST_TEXT} trials \
of {PAPER_EPOCHS} epochs have a verdict. Verdicts are `=` {AGREEMENT_TEXT} of the printed number, \
`+` above it, and `-` below it. The HTML page shades them blue, green and orange. The best method, excluding \
oracles, is bold. Pcomp pairs are ordered by their labels, and (-, +) pairs are reversed."""


def report_blocks(records: Sequence[Record]) -> list[Block]:
    """Return the whole report: an opening, an introduction, and the sections of all experiments that have trials."""
    blocks: list[Block] = [*opening_blocks(records), Paragraph(_INTRODUCTION)]
    for name in EXPERIMENTS:
        blocks += find_experiment(name).section(records)
    return blocks


def report_files(records: Sequence[Record]) -> list[CsvFile]:
    """Return the tables for programs of all experiments that have trials."""
    return [file for name in EXPERIMENTS for file in find_experiment(name).files(records)]


def report_markdown(blocks: Sequence[Block]) -> str:
    """Return the report as Markdown."""
    return as_markdown(_TITLE, blocks)


def report_html(blocks: Sequence[Block]) -> str:
    """Return the report as one HTML page."""
    return as_html(_TITLE, _LEAD, blocks)


def write_report(store: Store, folder: Path, *, overwrite: bool = False, escape: bool = True) -> dict[str, Path]:
    """Write ``results.md``, ``results.html``, CSV files, and the paper's figures in the folder ``images``.

    Parameters
    ----------
    store : Store
        The trials.
    folder : Path
        Folder for the files.
    overwrite : bool
        Replace files of these names even if an earlier report did not write them.
    escape : bool
        Escape texts in CSV files that a spreadsheet program would run as formulas.

    Returns
    -------
    dict
        Kind of file -> its path.

    Raises
    ------
    ValueError
        If the store has no trials.
    """
    check_writable(folder / f"{_NAME}.html")
    records = store.records()
    unreadable = store.unreadable()
    if not records:
        raise ValueError(_no_trials(store, unreadable))
    blocks = report_blocks(records) + unreadable_blocks(unreadable)
    contents = ReportFiles(name=_NAME, title=_TITLE, lead=_LEAD, blocks=blocks, tables=report_files(records))
    return contents.write(folder, overwrite=overwrite, escape=escape)


def _no_trials(store: Store, unreadable: Sequence[Unreadable]) -> str:
    if unreadable:
        more = f" (and {len(unreadable) - 1} more)" if len(unreadable) > 1 else ""
        return f"no trial in {store.folder} can be read: {unreadable[0]}{more}."
    return f"there are no trials in {store.folder}: run some first, such as confdiff reproduce table2."


def unreadable_blocks(unreadable: Sequence[Unreadable]) -> list[Block]:
    """Return the section of the files and lines that hold no trial, so that none is left out in silence."""
    if not unreadable:
        return []
    rows = tuple((entry.path.name, str(entry.line or "all"), entry.reason) for entry in unreadable)
    return [
        Heading("Results that were not read", link="not read", anchor="not-read"),
        Paragraph("These files and lines are damaged, or not records of trials that this version can read."),
        Table(head=("file", "line", "reason"), rows=rows),
    ]
