"""Cells of the paper's tables: our trials of one method on one data set at one prior, beside the printed number."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from confdiff.experiments.paper import EPOCHS, TABLES, Printed, printed_numbers
from confdiff.experiments.trials.run import Record

FEWEST = 3  # trials, for a verdict
CLOSE = 0.01  # accuracies that differ by no more than this agree
PLAIN = frozenset({
    "key", "dataset", "prior", "protocol", "seed", "method", "epochs", "accuracy", "seconds", "processor_seconds",
    "teacher_accuracy", "network", "curve", "versions",
})  # fmt: skip
"""What the record of a trial holds that is made as the paper's tables are; options make it another experiment."""


@dataclass(frozen=True)
class Cell:
    """Our trials beside the paper's number.

    mean, std: of the accuracies of our trials, with n - 1.
    printed: the paper's, where there is one.
    """

    protocol: str
    table: str
    dataset: str
    prior: float
    method: str
    epochs: int
    accuracies: tuple[float, ...]
    seconds: float
    printed: Printed | None

    @property
    def trials(self) -> int:
        """How many trials there are."""
        return len(self.accuracies)

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return mean(self.accuracies)

    @property
    def std(self) -> float | None:
        """Standard deviation with n - 1; None for a single trial."""
        return stdev(self.accuracies) if self.trials > 1 else None

    @property
    def difference(self) -> float | None:
        """Ours minus printed."""
        return None if self.printed is None else self.mean - self.printed.mean

    @property
    def verdict(self) -> str:
        """``within`` two combined standard deviations or .01 of the printed number, else ``above`` or ``below`` it.

        Empty where there are fewer than three trials, other epochs than the paper's, or no printed number.
        """
        if self.trials < FEWEST or self.epochs != EPOCHS or self.printed is None or self.difference is None:
            return ""
        spread = 2 * math.hypot(self.std or 0.0, self.printed.std or 0.0)
        if abs(self.difference) <= max(CLOSE, spread):
            return "within"
        return "above" if self.difference > 0 else "below"


def is_plain(record: Record) -> bool:
    """Whether a trial is made as the paper's tables are."""
    return set(record) <= PLAIN


def cells_of(records: Iterable[Record]) -> list[Cell]:
    """The cells that there are trials for, in the order of the paper's tables."""
    groups: dict[tuple[str, str, float, str, int], list[Record]] = defaultdict(list)
    for record in records:
        if is_plain(record) and table_of(record["dataset"]) is not None:
            place = (record["protocol"], record["dataset"], record["prior"], record["method"], record["epochs"])
            groups[place].append(record)
    printed = {(p.dataset, p.prior, p.method): p for p in printed_numbers() if p.metric == "accuracy"}
    return [
        Cell(
            protocol=protocol,
            table=table_of(dataset) or "",
            dataset=dataset,
            prior=prior,
            method=method,
            epochs=epochs,
            accuracies=tuple(record["accuracy"] for record in group),
            seconds=seconds_of(group),
            printed=printed.get((dataset, prior, method)),
        )
        for (protocol, dataset, prior, method, epochs), group in groups.items()
    ]


def seconds_of(group: Sequence[Record]) -> float:
    """The time of all trials of a cell, judged by those whose processor time is known: others may have waited."""
    known: list[float] = [record["processor_seconds"] for record in group if "processor_seconds" in record]
    return mean(known or [float(record["seconds"]) for record in group]) * len(group)


def table_of(dataset: str) -> str | None:
    """The table of the paper that a data set stands in, if any."""
    return next((table for table, datasets in TABLES.items() if dataset in datasets), None)
