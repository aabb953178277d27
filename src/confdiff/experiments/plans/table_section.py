"""The sections of Tables 1 and 2 in the report."""

from collections.abc import Sequence
from functools import partial

from confdiff.display.text import plural
from confdiff.experiments.plans.agreement import CellTest, PrintAgreement
from confdiff.experiments.plans.experiment import Experiment, classifier_records
from confdiff.experiments.plans.paper_tables import table_grid
from confdiff.experiments.plans.printed import PAPER_EPOCHS
from confdiff.experiments.plans.table_results import TableResults, table_results
from confdiff.experiments.plans.verdicts import FEWEST_TEXT, SIGNS, TABLE_VERDICTS
from confdiff.experiments.report.blocks import Block, Cell, Commands, Heading, Paragraph, Picture, Row, Table
from confdiff.experiments.report.numbers import accuracy_text, count_text, gain_text, p_text, signed_text
from confdiff.experiments.report.plots import curves_figure, ranks_figure
from confdiff.experiments.report.style import dataset_label, label_of
from confdiff.experiments.signed_ranks import smallest_p
from confdiff.experiments.trials.record import Record

_NO_VERDICTS = (
    f"No verdicts: a verdict needs {FEWEST_TEXT} trials of the paper's {PAPER_EPOCHS} epochs and a printed number."
)
_TEST_HEAD = ["data set", "prior", "method", "difference", "95 % interval", "p", "BH p", "Holm p", "verdict"]


def table_experiment(table: str) -> Experiment:
    """Return the experiment of a table of the paper."""
    return Experiment(section=partial(_section, table), grid=partial(table_grid, table))


def _section(table: str, records: Sequence[Record]) -> list[Block]:
    blocks: list[Block] = []
    for results in table_results(classifier_records(records), table):
        blocks += _results_blocks(results)
    return blocks


def _results_blocks(results: TableResults) -> list[Block]:
    link = results.title.replace(", protocol", ",")
    return [
        Heading(results.title, anchor=results.name, link=link),
        Commands(tuple(results.commands)),
        _accuracies(results),
        *_verdicts(results),
        *_orderings(results),
        *_comparison(results),
        *_pictures(results),
        Paragraph(_time(results)),
    ]


def _accuracies(results: TableResults) -> Table:
    """One row per prior and method, one column per data set; our number above the paper's."""
    rows: list[Row] = []
    for prior in results.priors:
        for method in results.methods_at(prior):
            cells = [_cell(results, dataset, prior, method) for dataset in results.datasets]
            rows.append([f"{prior:g}", label_of(method), *cells])
    return Table(["prior", "method", *map(dataset_label, results.datasets)], rows, group_columns=1)


def _cell(results: TableResults, dataset: str, prior: float, method: str) -> Cell:
    cell = results.cells.get((dataset, prior, method))
    if cell is None:
        return Cell("")
    note = ""
    if cell.printed is not None:
        note = f"{accuracy_text(cell.printed.mean, cell.printed.std)}, {signed_text(cell.difference)}"
    return Cell(
        accuracy_text(cell.trials.mean, cell.trials.std),
        detail=count_text(cell.trials),
        note=note,
        sign=SIGNS[cell.verdict],
        shade=cell.verdict,
        bold=results.best(dataset, prior) == method,
    )


def _verdicts(results: TableResults) -> list[Block]:
    heading = Heading("Verdicts", level=3)
    if not results.has_verdicts:
        return [heading, Paragraph(_NO_VERDICTS)]
    rows = [[label_of(method), *map(str, counts.values())] for method, counts in results.verdicts.items()]
    agreement = results.agreement
    shown = [test for test in agreement.tests if test.differs or test.cell.verdict != "within"]
    shown.sort(key=lambda test: test.p_value)
    return [
        heading,
        Table(["method", *TABLE_VERDICTS], rows),
        Paragraph(_chance_text(agreement)),
        Table(_TEST_HEAD, [_test_row(test) for test in shown], page_only=True),
    ]


def _chance_text(agreement: PrintAgreement) -> str:
    """State what chance alone gives, and the number of cells that differ after a correction."""
    cells = len(agreement.tests)
    within = cells - agreement.outside
    bh = (agreement.rejected("bh", outside=True), agreement.rejected("bh", outside=False))
    strict = (agreement.rejected("holm", outside=True), agreement.rejected("holm", outside=False))
    return (
        f"Chance alone, with equal means, would put {agreement.by_chance:.1f} of {plural(cells, 'cell')} outside the "
        f"printed numbers if both spreads are equal, and {agreement.by_chance_at_most:.1f} if only ours is above zero. "
        f"Observed: {agreement.outside}. Welch's t-test of each cell against print, with the correction of Benjamini "
        f"and Hochberg for all of them (false discovery rate 5 %), finds a difference in {bh[0]} of these "
        f"{agreement.outside} and in {bh[1]} of the {within} within. With Holm's, stricter correction (any false "
        f"finding at most 5 %), these numbers are {strict[0]} and {strict[1]}. `within` is a rule of agreement "
        "and does not prove that two means are equal. The page and `results.csv` have the single tests."
    )


def _test_row(test: CellTest) -> Row:
    cell = test.cell
    return [
        dataset_label(cell.dataset),
        f"{cell.prior:g}",
        label_of(cell.method),
        signed_text(cell.difference),
        gain_text(test.interval),
        p_text(test.p_value),
        p_text(test.bh_p),
        p_text(test.holm_p),
        Cell(cell.verdict, shade=cell.verdict),
    ]


def _orderings(results: TableResults) -> list[Block]:
    """Report whether the methods are in the paper's order, up to one standard deviation."""
    blocks: list[Block] = []
    for ordering in results.orderings:
        tested = ordering.holds + len(ordering.violations)
        if not tested:
            continue
        places = [f"{dataset_label(cell.dataset)} at {cell.prior:g}" for cell in ordering.violations]
        exceptions = f"; not in {', '.join(places)}" if places else ""
        claim = f"{label_of(ordering.first)} >= {label_of(ordering.second)}"
        blocks.append(
            Paragraph(f"{claim}, up to one standard deviation, in {ordering.holds} of {tested} cells{exceptions}.")
        )
    return blocks


def _comparison(results: TableResults) -> list[Block]:
    """Compare ConfDiff-ABS with each other method, and list mean ranks if at least two methods have them."""
    blocks: list[Block] = []
    if results.duels:
        rows = [
            [
                label_of(duel.second),
                *map(str, (duel.won, duel.tied, duel.lost)),
                f"{duel.mean_difference:+.4f}",
                str(duel.cells),
                f"{duel.rank_biserial:+.2f}",
                p_text(duel.p_value),
                p_text(duel.adjusted_p),
            ]
            for duel in results.duels
        ]
        head = ["ConfDiff-ABS against", "won", "tied", "lost", "mean difference", "cells", "effect"]
        head += ["signed-rank p", "Holm p"]
        blocks += [Heading("Comparisons on the same pairs and seeds", level=3), Table(head, rows)]
        blocks.append(Paragraph(_caveat(len(results.datasets))))
    ranks = _ranks(results)
    return [*blocks, Paragraph(ranks)] if ranks else blocks


def _caveat(datasets: int) -> str:
    """State what the tests over cells assume."""
    return (
        "The effect is the rank-biserial correlation: +1 if ABS is above in all cells, -1 if below. Holm's correction "
        "is for the number of methods. The signed-rank test takes cells for independent, but the cells of a data set "
        f"share their items: these p-values are about these data sets. Over {plural(datasets, 'data set')} as units, "
        f"the smallest possible p-value is {p_text(smallest_p(datasets))}."
    )


def _ranks(results: TableResults) -> str:
    """Return the mean ranks in words; nothing if fewer than two methods can be ranked."""
    ranks = results.ranks
    if len(ranks.ranks) < 2:
        return ""
    order = ", ".join(f"{label_of(name)} {rank:.2f}" for name, rank in ranks.ranks.items())
    text = f"Mean ranks over {plural(ranks.cells, 'cell')}, of the methods with trials in each: {order}."
    if ranks.critical_difference is not None:
        text += f" Critical difference (Nemenyi, 5 %): {ranks.critical_difference:.2f}."
    if ranks.p_value is not None:
        text += f" Test that all are equal (Friedman): p = {p_text(ranks.p_value)}."
    return text


def _pictures(results: TableResults) -> list[Block]:
    curves = partial(curves_figure, results.records, results.datasets, results.priors)
    pictures: list[Block] = [Picture("Learning curves", curves)]
    if results.ranks.critical_difference is not None:
        pictures.append(Picture("Mean ranks", partial(ranks_figure, results.ranks)))
    return pictures


def _time(results: TableResults) -> str:
    hours = f"{results.seconds / 3600:.2f} hours of training in all"
    pace = f"{results.seconds / results.n_trials:.1f} s per trial, one thread each"
    return f"{plural(results.n_trials, 'trial')}, {hours}, {pace}."
