"""Tables 1 and 2 at a glance, and all of their cells in ``results.csv``."""

from collections.abc import Callable, Sequence
from operator import attrgetter

from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.paper_tables import TableCell
from confdiff.experiments.plans.table_results import TableResults, table_results
from confdiff.experiments.plans.verdicts import FEWEST_TEXT, TABLE_VERDICTS
from confdiff.experiments.report.blocks import Block, Cell, CsvFile, Heading, Paragraph, Table
from confdiff.experiments.report.csv import TRIAL_COLUMNS, CsvColumns, attributes, csv_file
from confdiff.experiments.report.numbers import digits, p_text
from confdiff.experiments.report.style import label_of
from confdiff.experiments.trials.record import Record

_TEXT = f"""\
The table shows the number of trials, and the verdicts on cells with at least {FEWEST_TEXT} trials. A cell is a data \
set at a prior. The last column counts the cells in which each of the paper's methods is the best, excluding oracles."""
_PLACE = ("table", "protocol", "epochs", "dataset", "prior", "method")
_COLUMNS: CsvColumns = {
    **attributes(*_PLACE),
    **TRIAL_COLUMNS,
    "printed_mean": lambda cell: None if cell.printed is None else cell.printed.mean,
    "printed_std": lambda cell: None if cell.printed is None else cell.printed.std,
    "difference": lambda cell: digits(cell.difference),
    "verdict": attrgetter("verdict"),
    "seconds": lambda cell: f"{cell.seconds:.1f}",
}


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
    cells = [cell for table in results for cell in table.cells.values()]
    tests = {attrgetter(*_PLACE)(test.cell): test for table in results for test in table.agreement.tests}

    def p_value(name: str) -> Callable[[TableCell], str]:
        return lambda cell: p_text(getattr(tests.get(attrgetter(*_PLACE)(cell)), name, None))

    columns = {**_COLUMNS, **{name: p_value(name) for name in ("p_value", "bh_p", "holm_p")}}
    return [csv_file("results", columns, cells)]


OVERVIEW = Experiment(section=_section, files=_files)
