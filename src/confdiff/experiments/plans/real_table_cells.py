"""The cells of the study on real tables, and the counts of what holds in them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import get_args

from confdiff.experiments.plans.real_table_learners import LEARNERS
from confdiff.experiments.plans.real_table_task import DIFFERENCES
from confdiff.experiments.statistics import FEWEST_TRIALS, Paired, Trials, paired
from confdiff.experiments.trials.record import Record
from confdiff.experiments.trials.table_record import Balance, TableRecord

CHOICE = "auto"
BASELINE = "abs"
TABLE_CANDIDATES = tuple(name for name, learner in LEARNERS.items() if learner.role == "candidate")
ORACLES = tuple(name for name, learner in LEARNERS.items() if learner.role == "oracle")
COMPARED = tuple(name for name in LEARNERS if name not in ORACLES)
"""The learners that learn from differences."""
FEWEST_CLAIMED = 300
"""The claims are about cells with at least this number of pairs."""
CLAIMED_MEASURES = {"accuracy": "accuracy", "auc": "AUC"}
"""Measures that the claims are about, with their names in the report."""


@dataclass(frozen=True)
class LearnerCell:
    """The trials of all learners on one kind of task.

    Attributes
    ----------
    dataset, balance, differences, pairs
        The task: see :class:`~confdiff.experiments.trials.table_record.TableSpec`.
    records : dict
        Learner -> its trials. Those of oracles are the same for all kinds of differences.
    """

    dataset: str
    balance: str
    differences: str
    pairs: int
    records: dict[str, list[TableRecord]]

    def trials(self, learner: str, measure: str = "accuracy") -> Trials:
        """Return a measure of the trials of a learner; empty if it has none."""
        return Trials({record.seed: getattr(record, measure) for record in self.records.get(learner, [])})

    @property
    def name(self) -> str:
        """The task in words."""
        return f"{self.dataset}, {self.balance}, {self.differences}, {self.n_pairs} pairs"

    @property
    def n_pairs(self) -> int:
        """The number of pairs that could be drawn."""
        return next(record.n_pairs for records in self.records.values() for record in records)

    @property
    def prior(self) -> float:
        """The class prior."""
        return next(record.prior for records in self.records.values() for record in records)

    def mean(self, learner: str, measure: str = "accuracy") -> float | None:
        """Return the mean of a measure over the trials of a learner; None if it has none."""
        trials = self.trials(learner, measure)
        return trials.mean if trials.n else None

    def below_best(self, learner: str, measure: str = "accuracy") -> float | None:
        """Return how far the mean of a learner is below that of the best candidate, over the seeds that all have.

        None if there are fewer than three such seeds. Negative for a learner above all candidates.
        """
        trials = [self.trials(name, measure) for name in (learner, *TABLE_CANDIDATES)]
        shared = set.intersection(*(set(one.by_seed) for one in trials))
        if len(shared) < FEWEST_TRIALS:
            return None
        own, *others = (one.restricted_to(shared).mean for one in trials)
        return max(others) - own

    def against(self, learner: str, other: str, measure: str = "accuracy") -> Paired | None:
        """Compare two learners seed by seed; None for fewer than three shared seeds."""
        outcome = paired(self.trials(learner, measure), self.trials(other, measure))
        return outcome if outcome and outcome.p_value is not None else None


def learner_cells(records: Iterable[Record]) -> list[LearnerCell]:
    """Return the cells that have trials, by number of pairs, data set, class balance and kind of differences."""
    groups: dict[tuple[int, str, str, str], dict[str, list[TableRecord]]] = {}
    current = [record for record in records if isinstance(record, TableRecord) and _is_current(record)]
    for record in current:
        spec = record.spec
        for kind in DIFFERENCES if spec.learner in ORACLES else (spec.differences,):
            cell = groups.setdefault((spec.pairs, spec.dataset, spec.balance, kind), {})
            cell.setdefault(spec.learner, []).append(record)
    balances = get_args(Balance)
    kinds = list(DIFFERENCES)
    order = sorted(groups, key=lambda place: (*place[:2], balances.index(place[2]), kinds.index(place[3])))
    return [
        LearnerCell(dataset=dataset, balance=balance, differences=kind, pairs=pairs, records=groups[place])
        for place in order
        for pairs, dataset, balance, kind in [place]
        if groups[place].keys() & set(COMPARED)
    ]


def _is_current(record: TableRecord) -> bool:
    """Return whether a trial was run with the learner as it is now."""
    learner = LEARNERS.get(record.spec.learner)
    return learner is not None and learner.version == record.spec.version and record.spec.differences in DIFFERENCES


@dataclass(frozen=True)
class TableClaim:
    """A statement about all cells with enough pairs, and in how many of them it holds.

    Attributes
    ----------
    text : str
        The statement.
    cells : int
        The number of cells in which all learners that it names have at least three trials.
    holds : int
        The number of those in which it is true.
    worst : float
        The least favourable value of its quantity.
    where : str
        The cell of the worst value.
    misses : tuple of str
        The cells in which it is not true.
    """

    text: str
    cells: int
    holds: int
    worst: float
    where: str
    misses: tuple[str, ...]


def table_claims(cells: Sequence[LearnerCell]) -> list[TableClaim]:
    """Return the claims about the automatic choice and about boosting that can be tested."""
    large = [cell for cell in cells if cell.pairs >= FEWEST_CLAIMED]
    found = []
    for measure, name in CLAIMED_MEASURES.items():
        for limit in (0.01, 0.02):
            found.append(
                _claim(f"auto at most {limit:g} {name} below the best candidate", large, _below(measure, limit))
            )
    text = "auto at most 0.01 accuracy and 0.01 AUC below the best candidate"
    found.append(_claim(text, large, _below_in_both(0.01)))
    for measure, name in CLAIMED_MEASURES.items():
        found.append(_claim(f"auto not significantly below ConfDiff-ABS in {name}", large, _not_below_abs(measure)))
    exact = [cell for cell in cells if cell.differences == "exact"]
    found.append(_claim("boosting on exact differences at most 0.006 accuracy below soft labels", exact, _near_soft))
    return [claim for claim in found if claim is not None]


_Check = Callable[[LearnerCell], tuple[bool, float] | None]
"""A cell -> whether a claim holds in it, and its quantity, of which a smaller value is less favourable."""


def _claim(text: str, cells: Sequence[LearnerCell], check: _Check) -> TableClaim | None:
    outcomes = [(outcome, cell) for cell in cells if (outcome := check(cell)) is not None]
    if not outcomes:
        return None
    (_, worst), place = min(outcomes, key=lambda pair: pair[0][1])
    misses = tuple(cell.name for (holds, _), cell in outcomes if not holds)
    return TableClaim(
        text=text,
        cells=len(outcomes),
        holds=len(outcomes) - len(misses),
        worst=worst,
        where=place.name,
        misses=misses,
    )


def _below(measure: str, limit: float) -> _Check:
    def check(cell: LearnerCell) -> tuple[bool, float] | None:
        gap = cell.below_best(CHOICE, measure)
        return None if gap is None else (gap <= limit, -gap)

    return check


def _below_in_both(limit: float) -> _Check:
    def check(cell: LearnerCell) -> tuple[bool, float] | None:
        gaps = [cell.below_best(CHOICE, measure) for measure in CLAIMED_MEASURES]
        known = [gap for gap in gaps if gap is not None]
        return None if len(known) < len(gaps) else (max(known) <= limit, -max(known))

    return check


def _not_below_abs(measure: str) -> _Check:
    def check(cell: LearnerCell) -> tuple[bool, float] | None:
        outcome = cell.against(CHOICE, BASELINE, measure)
        return None if outcome is None else (outcome.direction != "below", outcome.difference)

    return check


def _near_soft(cell: LearnerCell) -> tuple[bool, float] | None:
    outcome = cell.against("boosting", "boosting-soft")
    return None if outcome is None else (outcome.difference >= -0.006, outcome.difference)
