"""Methods that need no prior beside ConfDiff-ABS and the oracle that sees the posteriors: told the prior and not."""

from collections.abc import Iterable
from dataclasses import dataclass

from confdiff.experiments.cells import is_plain
from confdiff.experiments.comparison import Trials, paired
from confdiff.experiments.paper import TABLES
from confdiff.experiments.trials.run import Record
from confdiff.methods import METHODS

BASELINE, ORACLE = "confdiff-abs", "oracle-soft"


@dataclass(frozen=True)
class OracleRow:
    """The trials of one method in one cell, and those of ConfDiff-ABS and Oracle-Soft on the same pairs.

    told, not_told: where it knows the class prior and where it does not.
    """

    protocol: str
    epochs: int
    dataset: str
    prior: float
    method: str
    told: Trials
    not_told: Trials
    baseline: Trials
    oracle: Trials

    @property
    def below_oracle(self) -> float | None:
        """Oracle-Soft minus the method that is told the prior, over the seeds that both have."""
        return _difference(self.oracle, self.told)

    @property
    def above_baseline(self) -> float | None:
        """The method that is told the prior minus ConfDiff-ABS."""
        return _difference(self.told, self.baseline)

    @property
    def lost_without_prior(self) -> float | None:
        """What not knowing the prior costs."""
        return _difference(self.told, self.not_told)


def _difference(first: Trials, second: Trials) -> float | None:
    found = paired(first, second)
    return found.difference if found else None


def oracle_rows(records: Iterable[Record]) -> list[OracleRow]:
    """A row for each cell of the paper's tables and each method with trials that can do without the prior."""
    told: dict[tuple[str, int, str, float, str], dict[int, float]] = {}
    not_told: dict[tuple[str, int, str, float, str], dict[int, float]] = {}
    for record in records:
        rest = {name: value for name, value in record.items() if name != "prior_is_told"}
        if not is_plain(rest):
            continue
        place = tuple(record[name] for name in ("protocol", "epochs", "dataset", "prior", "method"))
        (not_told if len(rest) < len(record) else told).setdefault(place, {})[record["seed"]] = record["accuracy"]
    order = {name: place for place, name in enumerate(name for names in TABLES.values() for name in names)}
    return [
        OracleRow(
            *place,
            told=told.get(place, {}),
            not_told=not_told.get(place, {}),
            baseline=told.get((*place[:4], BASELINE), {}),
            oracle=told.get((*place[:4], ORACLE), {}),
        )
        for place in sorted(
            {place for place in (*told, *not_told) if place[2] in order and _does_without(place[4])},
            key=lambda place: (place[0], -place[1], place[4], place[3], order[place[2]]),
        )
    ]


def _does_without(method: str) -> bool:
    row = METHODS[method]
    return row.learns_from == "differences" and row.prior == "optional"
