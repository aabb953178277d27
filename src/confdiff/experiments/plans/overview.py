"""Tables 1 and 2 at a glance, and all of their cells as CSV."""

from collections.abc import Sequence

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.paper_tables import TableCell
from confdiff.experiments.plans.table_results import TableResults, table_results
from confdiff.experiments.plans.verdicts import FEWEST_TEXT, TABLE_VERDICTS
from confdiff.experiments.report.blocks import Block, Cell, CsvFile, Heading, Paragraph, Table
from confdiff.experiments.report.numbers import digits
from confdiff.experiments.report.style import label_of
from confdiff.experiments.trials.record import Record

_TEXT = f"""\
The table shows the number of trials, and the verdicts on cells with at least {FEWEST_TEXT} trials. A cell is a data \
set at a prior. The last column counts the cells in which each of the paper's methods is the best, excluding oracles."""
_HEADER = (
    "table",
    "protocol",
    "epochs",
    "dataset",
    "prior",
    "method",
    "trials",
    "mean",
    "std",
    "printed_mean",
    "printed_std",
    "difference",
    "verdict",
    "seconds",
)


def _section(records: Sequence[Record]) -> list[Block]:
    results = table_results(classifier_records(records))
    if not results:
        return []
    head = ["", "trials", *TABLE_VERDICTS, "best of the paper's methods"]
    return [Heading("At a glance"), Paragraph(_TEXT), Table(head, [_row(table) for table in results])]


def _row(results: TableResults) -> list[str | Cell]:
    counts = [Cell(str(count), shade=name if count else "") for name, count in results.tally.items()]
    winners = ", ".join(f"{label_of(name)} {count}" for name, count in results.winners.items())
    return [results.title, str(results.n_trials), *counts, winners]


def _files(records: Sequence[Record]) -> list[CsvFile]:
    """Return one row per cell; the file is written even if there are no cells."""
    results = table_results(classifier_records(records))
    rows = [_csv_row(cell) for table in results for cell in table.cells.values()]
    return [CsvFile("results", _HEADER, rows)]


def _csv_row(cell: TableCell) -> list[object]:
    return [
        cell.table,
        cell.protocol,
        cell.epochs,
        cell.dataset,
        cell.prior,
        cell.method,
        cell.trials.n,
        digits(cell.trials.mean),
        digits(cell.trials.std),
        None if cell.printed is None else cell.printed.mean,
        None if cell.printed is None else cell.printed.std,
        digits(cell.difference),
        cell.verdict,
        f"{cell.seconds:.1f}",
    ]


OVERVIEW = Experiment(section=_section, files=_files)
