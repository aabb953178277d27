"""Statistics of trials: means and deviations, paired comparisons, duels and mean ranks of methods."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, stdev
from typing import TypeVar

import numpy as np

from confdiff.experiments.trials.record import TrialRecord

TIE_TOLERANCE = 0.001
"""Accuracies that differ by no more than this are a tie in a duel of two methods."""
FEWEST_TRIALS = 3
"""Fewer trials have no paired test and no verdict."""
SIGNIFICANCE_LEVEL = 0.05
"""A difference with a smaller p-value of the paired test is significant."""

_Row = TypeVar("_Row")
_Task = tuple[object, ...]


@dataclass(frozen=True)
class Trials:
    """Values of one measure over trials.

    Parameters
    ----------
    by_seed : mapping
        Seed of a trial -> its value. It may be empty; ``mean`` is then undefined.

    Examples
    --------
    >>> trials = Trials({0: 0.98, 1: 0.96})
    >>> trials.n, round(trials.mean, 3), round(trials.std, 3)
    (2, 0.97, 0.014)
    """

    by_seed: Mapping[int, float] = field(default_factory=dict)

    @classmethod
    def of(
        cls, records: Iterable[TrialRecord], value: Callable[[TrialRecord], float] = lambda record: record.accuracy
    ) -> "Trials":
        """Collect a value of each record, by default its accuracy."""
        return cls({record.seed: value(record) for record in records})

    @property
    def n(self) -> int:
        """Number of trials."""
        return len(self.by_seed)

    @property
    def mean(self) -> float:
        """Mean over trials."""
        return mean(self.by_seed.values())

    @property
    def std(self) -> float | None:
        """Standard deviation with n - 1; None for a single trial."""
        return stdev(self.by_seed.values()) if self.n > 1 else None

    def restricted_to(self, seeds: Collection[int]) -> "Trials":
        """Return the trials with these seeds."""
        return Trials({seed: self.by_seed[seed] for seed in sorted(seeds)})


def training_seconds(records: Sequence[TrialRecord]) -> float:
    """Estimate the training time of a group of trials from those with a processor time: others may have waited."""
    measured = [record.processor_seconds for record in records if record.processor_seconds is not None]
    return mean(measured or [float(record.seconds) for record in records]) * len(records)


def grouped(rows: Iterable[_Row], key: Callable[[_Row], Hashable]) -> list[list[_Row]]:
    """Group rows by a key, in order of first occurrence.

    >>> grouped([3, 1, 5, 2], lambda number: number % 2)
    [[3, 1, 5], [2]]
    """
    groups: dict[Hashable, list[_Row]] = {}
    for row in rows:
        groups.setdefault(key(row), []).append(row)
    return list(groups.values())


@dataclass(frozen=True)
class Paired:
    """The mean difference of two sets of trials over the seeds that they share.

    Attributes
    ----------
    difference : float
        Mean of first minus second.
    seeds : int
        Number of shared seeds.
    p_value : float or None
        The p-value of a paired t-test; None for fewer than three seeds.
    """

    difference: float
    seeds: int
    p_value: float | None

    @property
    def direction(self) -> str:
        """``above`` or ``below`` where significant at the 5 % level, else ``level``; empty without a test."""
        if self.p_value is None:
            return ""
        if self.p_value >= SIGNIFICANCE_LEVEL:
            return "level"
        return "above" if self.difference > 0 else "below"


def paired(first: Trials, second: Trials) -> Paired | None:
    """Compare trials seed by seed; None if they share no seed.

    >>> paired(Trials({0: 0.9, 1: 0.75}), Trials({1: 0.5, 2: 0.1}))
    Paired(difference=0.25, seeds=1, p_value=None)
    """
    shared = sorted(first.by_seed.keys() & second.by_seed.keys())
    gains = [first.by_seed[seed] - second.by_seed[seed] for seed in shared]
    return Paired(mean(gains), len(gains), _paired_test(gains)) if gains else None


@dataclass(frozen=True)
class Duel:
    """Two methods on the same tasks.

    Attributes
    ----------
    first, second : str
        The methods.
    won, tied, lost : int
        Number of trials won, tied and lost by the first.
    mean_difference : float
        First minus second, over trials.
    p_value : float or None
        Wilcoxon's signed-rank test of the mean differences of the cells (data set and prior).
    """

    first: str
    second: str
    won: int
    tied: int
    lost: int
    mean_difference: float
    p_value: float | None


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods over the cells in which all of them have trials; 1 is the best.

    Attributes
    ----------
    ranks : dict
        Method -> mean rank, the best first.
    cells : int
        Number of cells.
    p_value : float or None
        Friedman's test that all methods are equal.
    critical_difference : float or None
        Mean ranks that differ by more than this differ at the 5 % level (Nemenyi's test).
    """

    ranks: dict[str, float]
    cells: int
    p_value: float | None
    critical_difference: float | None


def duels(records: Iterable[TrialRecord], first: str, rivals: Sequence[str]) -> list[Duel]:
    """Compare a method with each of its rivals, trial by trial on the same task.

    Parameters
    ----------
    records : iterable of TrialRecord
        The trials.
    first : str
        The method.
    rivals : sequence of str
        The methods to compare it with; those that share no task with it are left out.

    Returns
    -------
    list of Duel
        One for each rival.
    """
    by_task = _by_task(records)
    result = []
    for second in rivals:
        shared = {task: (row[first], row[second]) for task, row in by_task.items() if first in row and second in row}
        if shared:
            result.append(_duel(first, second, shared))
    return result


def _duel(first: str, second: str, shared: Mapping[_Task, tuple[float, float]]) -> Duel:
    differences = np.array([ours - theirs for ours, theirs in shared.values()])
    return Duel(
        first=first,
        second=second,
        won=int((differences > TIE_TOLERANCE).sum()),
        tied=int((np.abs(differences) <= TIE_TOLERANCE).sum()),
        lost=int((differences < -TIE_TOLERANCE).sum()),
        mean_difference=float(differences.mean()),
        p_value=_signed_rank(_cell_means(shared)),
    )


def mean_ranks(records: Iterable[TrialRecord], methods: Sequence[str]) -> Ranks:
    """Rank methods over the cells in which all of them have trials.

    Parameters
    ----------
    records : iterable of TrialRecord
        The trials.
    methods : sequence of str
        The methods to rank.

    Returns
    -------
    Ranks
        Mean ranks and tests; empty if no cell has all methods.
    """
    from scipy.stats import rankdata

    cells: dict[_Task, dict[str, list[float]]] = {}
    for (*cell, _), row in _by_task(records).items():
        for method in methods:
            if method in row:
                cells.setdefault(tuple(cell), {}).setdefault(method, []).append(row[method])
    complete = [row for row in cells.values() if len(row) == len(methods)]
    table = np.array([[np.mean(row[method]) for method in methods] for row in complete])
    if not len(table):
        return Ranks(ranks={}, cells=0, p_value=None, critical_difference=None)
    ranks = np.mean([rankdata(-row) for row in table], axis=0)
    order = sorted(zip(methods, ranks.tolist(), strict=True), key=lambda pair: pair[1])
    return Ranks(
        ranks=dict(order),
        cells=len(table),
        p_value=_friedman(table),
        critical_difference=_critical_difference(*table.shape),
    )


def _friedman(table: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> float | None:
    """Test that all columns are equal; 1 where no value differs from another, as the test would divide by zero."""
    from scipy.stats import friedmanchisquare

    n_cells, n_methods = table.shape
    if n_cells < 2 or n_methods < 3:
        return None
    return float(friedmanchisquare(*table.T).pvalue) if np.ptp(table, axis=1).any() else 1.0


def _critical_difference(n_cells: int, n_methods: int) -> float | None:
    from scipy.stats import studentized_range

    if n_cells < 2 or n_methods < 2:
        return None
    quantile = studentized_range.ppf(0.95, n_methods, np.inf) / math.sqrt(2)
    return float(quantile * math.sqrt(n_methods * (n_methods + 1) / (6 * n_cells)))


def _by_task(records: Iterable[TrialRecord]) -> dict[_Task, dict[str, float]]:
    """Return (protocol, data set, prior, epochs, seed) -> method -> accuracy."""
    table: dict[_Task, dict[str, float]] = {}
    for record in records:
        task = (record.protocol, record.dataset, record.prior, record.epochs, record.seed)
        table.setdefault(task, {})[record.method] = record.accuracy
    return table


def _cell_means(shared: Mapping[_Task, tuple[float, float]]) -> list[float]:
    cells: dict[_Task, list[float]] = {}
    for (*cell, _), (ours, theirs) in shared.items():
        cells.setdefault(tuple(cell), []).append(ours - theirs)
    return [float(np.mean(differences)) for differences in cells.values()]


def _paired_test(gains: Sequence[float]) -> float | None:
    from scipy.stats import ttest_1samp

    if len(gains) < FEWEST_TRIALS:
        return None
    if len(set(gains)) == 1:  # the test would divide by a variance of zero
        return 0.0 if gains[0] else 1.0
    return float(ttest_1samp(gains, 0.0).pvalue)


def _signed_rank(differences: Sequence[float]) -> float | None:
    from scipy.stats import wilcoxon

    if len(differences) < 5 or not any(differences):
        return None
    return float(wilcoxon(differences).pvalue)
