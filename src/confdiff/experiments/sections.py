"""Sections of the report: what trials there are of each table of the paper, and what can be said of them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from confdiff.display.text import plural
from confdiff.experiments.cells import FEWEST, Cell, cells_of, is_plain
from confdiff.experiments.commands import commands_of
from confdiff.experiments.comparison import Duel, Ranks, duels, mean_ranks
from confdiff.experiments.names import LABELS
from confdiff.experiments.paper import METHODS_OF_THE_PAPER, TABLES
from confdiff.experiments.trials.run import Record

ORACLES = ("oracle-hard", "oracle-soft")
VERDICTS = ("within", "above", "below")
ORDER = ("confdiff-abs", "confdiff-relu", "confdiff-unbiased")
"""Each at least as good as the next: the paper's reading of its tables."""


@dataclass(frozen=True)
class Section:
    """One table of the paper by one protocol at one number of epochs."""

    table: str
    protocol: str
    epochs: int
    cells: dict[tuple[str, float, str], Cell]
    records: list[Record]

    @property
    def title(self) -> str:
        """What it is."""
        return f"Table {self.table[-1]}, protocol {self.protocol}, {plural(self.epochs, 'epoch')}"

    @property
    def name(self) -> str:
        """A short name, for links and files."""
        return f"{self.table}-{self.protocol}-{self.epochs}"

    @property
    def datasets(self) -> list[str]:
        """Those with a trial, in the paper's order."""
        return [name for name in TABLES[self.table] if any(place[0] == name for place in self.cells)]

    @property
    def priors(self) -> list[float]:
        """Those with a trial."""
        return sorted({place[1] for place in self.cells})

    @property
    def methods(self) -> list[str]:
        """Those with a trial, in the order of the table of methods."""
        return [name for name in LABELS if any(place[2] == name for place in self.cells)]

    def methods_at(self, prior: float) -> list[str]:
        """Those with a trial at a prior, on any data set."""
        return [name for name in self.methods if any(place[1:] == (prior, name) for place in self.cells)]

    @property
    def places(self) -> list[tuple[str, float]]:
        """The data sets and priors with a trial."""
        return list(dict.fromkeys((dataset, prior) for dataset, prior, _ in self.cells))

    @property
    def rivals(self) -> list[str]:
        """The methods, oracles apart."""
        return [name for name in self.methods if name not in ORACLES]

    def best(self, dataset: str, prior: float, *, among: Collection[str] = tuple(LABELS)) -> str | None:
        """The method with the best mean, oracles apart."""
        cells = [self.cells.get((dataset, prior, name)) for name in self.rivals if name in among]
        return max((cell for cell in cells if cell), key=lambda cell: cell.mean).method if any(cells) else None

    @property
    def winners(self) -> dict[str, int]:
        """The paper's methods -> how often each is the best of several of them, most often first."""
        paper = [name for name in self.rivals if name in METHODS_OF_THE_PAPER]
        contested = (place for place in self.places if sum((*place, name) in self.cells for name in paper) > 1)
        best = (self.best(*place, among=paper) for place in contested)
        return dict(Counter(name for name in best if name is not None).most_common())

    @property
    def trials(self) -> int:
        """How many there are."""
        return sum(cell.trials for cell in self.cells.values())

    @property
    def verdicts(self) -> dict[str, dict[str, int]]:
        """Method with a verdict -> how many of its cells are within, above or below the printed numbers."""
        judged = {cell.method for cell in self.cells.values() if cell.verdict}
        counts = {name: dict.fromkeys(VERDICTS, 0) for name in self.methods if name in judged}
        for cell in self.cells.values():
            if cell.verdict:
                counts[cell.method][cell.verdict] += 1
        return counts

    @property
    def tally(self) -> dict[str, int]:
        """Verdict -> how many cells have it."""
        return {name: sum(counts[name] for counts in self.verdicts.values()) for name in VERDICTS}

    @property
    def is_judged(self) -> bool:
        """Whether any cell has the trials that a verdict needs."""
        return any(self.tally.values())

    @property
    def commands(self) -> list[str]:
        """What makes it."""
        return commands_of(self.table, self.protocol, self.epochs, self.cells.values())

    @property
    def duels(self) -> list[Duel]:
        """ConfDiff-ABS against every other method."""
        others = [name for name in self.methods if name != "confdiff-abs"]
        return duels(self.records, "confdiff-abs", others) if "confdiff-abs" in self.methods else []

    @property
    def orderings(self) -> list[tuple[str, str, int, list[Cell]]]:
        """Of each two methods that the paper ranks: in how many cells the rank holds, and those in which it does not.

        It holds where the mean of the first is not below that of the second by more than one standard deviation,
        the larger of the two. Cells with fewer trials than a verdict takes are left out.
        """
        result = []
        for first, second in pairwise(ORDER):
            both = [
                (cell, self.cells[d, p, second])
                for (d, p, m), cell in self.cells.items()
                if m == first and (d, p, second) in self.cells
            ]
            both = [(a, b) for a, b in both if min(a.trials, b.trials) >= FEWEST]
            broken = [a for a, b in both if a.mean < b.mean - max(a.std or 0.0, b.std or 0.0)]
            result.append((first, second, len(both) - len(broken), broken))
        return result

    @property
    def ranks(self) -> Ranks:
        """Mean ranks of the rivals with trials in most cells; with the others there would be few cells in common."""
        places = {name: {(d, p) for d, p, method in self.cells if method == name} for name in self.rivals}
        most = max(places.values(), key=len, default=set())
        return mean_ranks(self.records, [name for name in self.rivals if places[name] == most])


def sections_of(records: Sequence[Record]) -> list[Section]:
    """The tables that there are trials for."""
    records = [record for record in records if is_plain(record)]
    groups: dict[tuple[str, str, int], list[Cell]] = defaultdict(list)
    for cell in cells_of(records):
        groups[cell.table, cell.protocol, cell.epochs].append(cell)
    return [
        Section(
            table,
            protocol,
            epochs,
            {(cell.dataset, cell.prior, cell.method): cell for cell in cells},
            [
                r
                for r in records
                if (r["protocol"], r["epochs"]) == (protocol, epochs) and r["dataset"] in TABLES[table]
            ],
        )
        for (table, protocol, epochs), cells in sorted(
            groups.items(), key=lambda item: (item[0][0], item[0][1], -item[0][2])
        )
    ]
