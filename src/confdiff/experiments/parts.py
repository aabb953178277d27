"""Trials on other data than the paper's, on a part of them, or with other pairs: shown apart, and not judged."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from confdiff.experiments.cells import is_plain, seconds_of, table_of
from confdiff.experiments.comparison import Trials
from confdiff.experiments.grouping import grouped
from confdiff.experiments.paper import printed_numbers
from confdiff.experiments.trials.run import Record

OPTIONS = ("n_pairs", "incomplete")
_PLACE = ("dataset", "prior", "method", "protocol", "epochs", "network")


@dataclass(frozen=True)
class PartRow:
    """The trials of one method on a data set at a prior, on less or more than the paper had, or on what it had not.

    n_pairs: None for the paper's number.
    incomplete: whether batches of the training pictures were missing.
    trials, last: seed -> accuracy, by the mean of the last ten epochs and after the last.
    teacher: mean accuracy of the model whose differences were learned from.
    seconds: a trial.
    printed: the paper's accuracy, with all of its pairs and epochs, if it has one.
    """

    dataset: str
    prior: float
    method: str
    protocol: str
    epochs: int
    network: str
    n_pairs: int | None
    incomplete: bool
    trials: Trials
    last: Trials
    teacher: float
    seconds: float
    printed: float | None

    @property
    def command(self) -> str:
        """What makes it."""
        pairs = "" if self.n_pairs is None else f" --n-pairs {self.n_pairs}"
        part = " --incomplete" if self.incomplete else ""
        return (
            f"confdiff run {self.dataset} --protocol {self.protocol}{part}{pairs} --prior {self.prior:g} "
            f"--method {self.method} --epochs {self.epochs} --trials {len(self.trials)}"
        )


def part_rows(records: Iterable[Record]) -> list[PartRow]:
    """A row for each method, data set and prior that has such trials."""
    printed = {(p.dataset, p.prior, p.method): p.mean for p in printed_numbers() if p.metric == "accuracy"}
    own = [record for record in records if _is_part(record)]
    rows = []
    for group in grouped(own, lambda record: tuple(record.get(name) for name in (*_PLACE, *OPTIONS))):
        first = group[0]
        rows.append(
            PartRow(
                **{name: first[name] for name in _PLACE},
                n_pairs=first.get("n_pairs"),
                incomplete=first.get("incomplete", False),
                trials={record["seed"]: record["accuracy"] for record in group},
                last={record["seed"]: record["curve"][-1][1] for record in group},
                teacher=mean(record["teacher_accuracy"] for record in group),
                seconds=seconds_of(group) / len(group),
                printed=printed.get((first["dataset"], first["prior"], first["method"])),
            )
        )
    return rows


def _is_part(record: Record) -> bool:
    """Whether a trial differs from those of the tables in its data, and in nothing else."""
    rest = {name: value for name, value in record.items() if name not in OPTIONS}
    return is_plain(rest) and (len(rest) < len(record) or table_of(record["dataset"]) is None)
