"""Table 3 of the paper in the report: methods that rank items for users, by the sampled and by the full ranking."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from confdiff.experiments.grouping import grouped
from confdiff.experiments.names import LABELS
from confdiff.experiments.paper import printed_numbers
from confdiff.experiments.trials.run import Record

METRICS = ("hr@10", "ndcg@10", "full hr@10", "full ndcg@10")
PLACE = ("dataset", "source", "prior", "model", "epochs", "partners", "patience", "candidates")
EPOCHS = 50  # the paper's
ITEM_MEANS = "item-means"
"""In the place of a method: nothing is learned of users."""
NOTES = {
    "small_matrix.csv": "KuaiRec's small matrix, as in the paper.",
    "small_matrix_subset.csv": "A subset of KuaiRec's small matrix: 2.5 % of the paper's 4,676,570 rows, without their "
    "times. The paper's numbers are of the whole, and no aim here.",
    "jester1.npz": "Jester, which is not in the paper: the 2,000 users with the most ratings, positive above 5 of 10.",
}


@dataclass(frozen=True)
class RankingRow:
    """The trials of one method under one setting; values are those of the trials, by metric."""

    dataset: str
    source: str
    prior: str
    model: str
    epochs: int
    partners: int
    patience: int | None
    candidates: int
    method: str
    values: dict[str, tuple[float, ...]]
    evaluated: int
    pairs: int
    seconds: float
    printed: dict[str, float]

    @property
    def setting(self) -> tuple[Any, ...]:
        """What the rows of one table have in common."""
        return tuple(getattr(self, name) for name in PLACE)

    @property
    def name(self) -> str:
        """The method as people call it; the means of items are none, and stand beside them."""
        return "Means of items" if self.method == ITEM_MEANS else LABELS[self.method]

    @property
    def trials(self) -> int:
        """How many there are."""
        return len(self.values["hr@10"])

    @property
    def command(self) -> str:
        """What runs such trials."""
        flags = [" --user-prior"] * (self.prior == "user") + [" --early-stopping"] * (self.patience is not None)
        epochs = "" if self.epochs == EPOCHS else f" --epochs {self.epochs}"
        return f"confdiff reproduce table3 --datasets {self.dataset}{epochs}{''.join(flags)}"

    @property
    def description(self) -> str:
        """The setting in words."""
        length = f"{self.epochs} epochs" if self.patience is None else "the epoch that orders pairs kept back best"
        told = {"global": "one prior for all", "user": "each user's own prior"}[self.prior]
        chance = f"{self.candidates} candidates: chance has HR@10 {min(1.0, 10 / self.candidates):.3f}"
        return (
            f"{NOTES[self.source]} {self.model}, {length}, {told}; {self.evaluated:,} users evaluated, "
            f"{self.pairs:,} pairs, {chance}."
        )

    def mean(self, metric: str) -> float:
        """Mean over the trials."""
        return mean(self.values[metric])

    def std(self, metric: str) -> float | None:
        """Standard deviation with n - 1; None for a single trial."""
        return stdev(self.values[metric]) if self.trials > 1 else None


def rankings_command(rows: Sequence[RankingRow]) -> str:
    """What makes the rows of one setting."""
    return f"{rows[0].command} --trials {max(row.trials for row in rows)}"


def ranking_rows(records: Iterable[Record]) -> list[RankingRow]:
    """The rows that there are trials for, the best NDCG of each setting first."""
    ranked = [record for record in records if "ndcg@10" in record]
    groups = grouped(ranked, lambda record: tuple(record.get(name) for name in (*PLACE, "method")))
    printed: dict[tuple[str, str], dict[str, float]] = {}
    for number in printed_numbers():
        if number.table == "table3":
            printed.setdefault((number.dataset, number.method), {})[number.metric] = number.mean
    rows = [_row(group, printed) for group in groups]
    return sorted(rows, key=_order)


def _order(row: RankingRow) -> tuple[Any, ...]:
    """The paper's data first, and the paper's setting; then by NDCG."""
    unusual = (row.patience is not None, row.prior != "global", row.model, row.epochs, row.partners, row.candidates)
    return (list(NOTES).index(row.source), *unusual, -row.mean("ndcg@10"))


def _row(group: Sequence[Record], printed: dict[tuple[str, str], dict[str, float]]) -> RankingRow:
    first = group[0]
    place: dict[str, Any] = {name: first.get(name) for name in PLACE}
    return RankingRow(
        **place,
        method=first["method"],
        values={metric: tuple(record[metric] for record in group) for metric in METRICS},
        evaluated=first["evaluated"],
        pairs=first["pairs"],
        seconds=mean(record["processor_seconds"] for record in group),
        printed=printed.get((first["dataset"], first["method"]), {}),
    )
