"""The results of one table of the paper: our cells, verdicts, comparisons of methods."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from confdiff.display.text import plural
from confdiff.experiments.plans.agreement import PrintAgreement, agreement_of
from confdiff.experiments.plans.paper_tables import PAPER_METHODS, PAPER_TABLES, TableCell, table_cells, table_of
from confdiff.experiments.plans.table_commands import table_commands
from confdiff.experiments.plans.verdicts import TABLE_VERDICTS
from confdiff.experiments.rankings import Duel, Ranks, duels, mean_ranks
from confdiff.experiments.statistics import FEWEST_TRIALS, grouped
from confdiff.experiments.trials.record import TrialRecord
from confdiff.methods import METHODS

_ORDER = ("confdiff-abs", "confdiff-relu", "confdiff-unbiased")
"""Each at least as good as the next, as the paper concludes from its tables."""


@dataclass(frozen=True)
class Ordering:
    """Two methods that the paper ranks: the number of cells where the rank holds, and the cells where it does not.

    It holds where the mean of the first is at most one standard deviation, the larger of the two, below the second.
    """

    first: str
    second: str
    holds: int
    violations: list[TableCell]


@dataclass(frozen=True)
class TableResults:
    """One table of the paper by one protocol at one number of epochs.

    Attributes
    ----------
    table, protocol, epochs
        The setting that all trials share.
    cells : dict
        (data set, prior, method) -> cell.
    records : list of TrialRecord
        The trials.
    """

    table: str
    protocol: str
    epochs: int
    cells: dict[tuple[str, float, str], TableCell]
    records: list[TrialRecord]

    @property
    def title(self) -> str:
        """Title of the section."""
        return f"Table {self.table[-1]}, protocol {self.protocol}, {plural(self.epochs, 'epoch')}"

    @property
    def name(self) -> str:
        """A short name for links."""
        return f"{self.table}-{self.protocol}-{self.epochs}"

    @property
    def datasets(self) -> list[str]:
        """The data sets with a trial, in the paper's order."""
        return [name for name in PAPER_TABLES[self.table] if any(place[0] == name for place in self.cells)]

    @property
    def priors(self) -> list[float]:
        """The priors with a trial."""
        return sorted({place[1] for place in self.cells})

    @property
    def methods(self) -> list[str]:
        """The methods with a trial, in the order of the table of methods."""
        return [name for name in METHODS if any(place[2] == name for place in self.cells)]

    def methods_at(self, prior: float) -> list[str]:
        """Return the methods with a trial at a prior, on any data set."""
        return [name for name in self.methods if any(place[1:] == (prior, name) for place in self.cells)]

    @property
    def places(self) -> list[tuple[str, float]]:
        """The data sets and priors with a trial."""
        return list(dict.fromkeys((dataset, prior) for dataset, prior, _ in self.cells))

    @property
    def competitors(self) -> list[str]:
        """The methods, excluding oracles."""
        return [name for name in self.methods if METHODS[name].family != "oracle"]

    def best(self, dataset: str, prior: float, *, among: Collection[str] | None = None) -> str | None:
        """Return the method with the best mean, excluding oracles.

        Parameters
        ----------
        dataset, prior
            The place.
        among : collection of str, optional
            Only these methods.
        """
        competitors = [name for name in self.competitors if among is None or name in among]
        names = [name for name in competitors if (dataset, prior, name) in self.cells]
        return max(names, key=lambda name: self.cells[dataset, prior, name].trials.mean) if names else None

    @property
    def winners(self) -> dict[str, int]:
        """The paper's methods -> number of cells in which each is the best of several, most cells first."""
        paper = [name for name in self.competitors if name in PAPER_METHODS]
        contested = [place for place in self.places if sum((*place, name) in self.cells for name in paper) > 1]
        best = [self.best(dataset, prior, among=paper) for dataset, prior in contested]
        return dict(Counter(name for name in best if name is not None).most_common())

    @property
    def n_trials(self) -> int:
        """Number of trials."""
        return sum(cell.trials.n for cell in self.cells.values())

    @property
    def seconds(self) -> float:
        """Total training time of all trials, in seconds."""
        return sum(cell.seconds for cell in self.cells.values())

    @property
    def verdicts(self) -> dict[str, dict[str, int]]:
        """Method with a verdict -> verdict -> number of cells."""
        with_verdict = {cell.method for cell in self.cells.values() if cell.verdict}
        counts = {name: dict.fromkeys(TABLE_VERDICTS, 0) for name in self.methods if name in with_verdict}
        for cell in self.cells.values():
            if cell.verdict:
                counts[cell.method][cell.verdict] += 1
        return counts

    @property
    def tally(self) -> dict[str, int]:
        """Verdict -> number of cells."""
        return {name: sum(counts[name] for counts in self.verdicts.values()) for name in TABLE_VERDICTS}

    @property
    def has_verdicts(self) -> bool:
        """Whether any cell has enough trials for a verdict."""
        return any(self.tally.values())

    @property
    def agreement(self) -> PrintAgreement:
        """The cells with a verdict, tested against the printed numbers."""
        return agreement_of(self.cells.values())

    @property
    def commands(self) -> list[str]:
        """The commands that run the trials."""
        return table_commands(self.table, self.protocol, self.epochs, self.cells.values())

    @property
    def duels(self) -> list[Duel]:
        """ConfDiff-ABS against every other method."""
        if "confdiff-abs" not in self.methods:
            return []
        return duels(self.records, "confdiff-abs", [name for name in self.methods if name != "confdiff-abs"])

    @property
    def orderings(self) -> list[Ordering]:
        """The ranks that the paper reports, over the cells with enough trials for a verdict."""
        return [self._ordering(first, second) for first, second in pairwise(_ORDER)]

    def _ordering(self, first: str, second: str) -> Ordering:
        pairs = [
            (cell, self.cells[dataset, prior, second])
            for (dataset, prior, method), cell in self.cells.items()
            if method == first and (dataset, prior, second) in self.cells
        ]
        tested = [(a, b) for a, b in pairs if min(a.trials.n, b.trials.n) >= FEWEST_TRIALS]
        violations = [a for a, b in tested if _is_clearly_below(a, b)]
        return Ordering(first=first, second=second, holds=len(tested) - len(violations), violations=violations)

    @property
    def ranks(self) -> Ranks:
        """Mean ranks of the competitors with trials in most cells; with more methods few cells would be shared."""
        places = {
            name: {(dataset, prior) for dataset, prior, method in self.cells if method == name}
            for name in self.competitors
        }
        most = max(places.values(), key=len, default=set())
        return mean_ranks(self.records, [name for name in self.competitors if places[name] == most])


def _is_clearly_below(first: TableCell, second: TableCell) -> bool:
    spread = max(first.trials.std or 0.0, second.trials.std or 0.0)
    return first.trials.mean < second.trials.mean - spread


def table_results(records: Sequence[TrialRecord], table: str | None = None) -> list[TableResults]:
    """Return the tables that have trials, by table, protocol and falling number of epochs.

    Parameters
    ----------
    records : sequence of TrialRecord
        All trials.
    table : str, optional
        Only this table.
    """
    plain = [record for record in records if not record.options and table in (None, table_of(record.dataset))]
    groups = grouped(table_cells(plain), lambda cell: (cell.table, cell.protocol, cell.epochs))
    groups.sort(key=lambda cells: (cells[0].table, cells[0].protocol, -cells[0].epochs))
    return [_results(cells, plain) for cells in groups]


def _results(cells: Sequence[TableCell], records: Sequence[TrialRecord]) -> TableResults:
    first = cells[0]
    return TableResults(
        table=first.table,
        protocol=first.protocol,
        epochs=first.epochs,
        cells={(cell.dataset, cell.prior, cell.method): cell for cell in cells},
        records=[
            record
            for record in records
            if (record.protocol, record.epochs) == (first.protocol, first.epochs)
            and record.dataset in PAPER_TABLES[first.table]
        ],
    )
