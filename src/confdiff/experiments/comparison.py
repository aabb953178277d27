"""Methods compared over data sets, priors and seeds: wins and losses, signed ranks, mean ranks."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

import numpy as np

from confdiff.experiments.trials.run import Record

TIE = 0.001  # accuracies that differ by no more than this are a tie

Trials = Mapping[int, float]
"""Seed -> accuracy."""


@dataclass(frozen=True)
class Paired:
    """The mean difference of accuracies over the seeds that two sets of trials have in common.

    p_value: of a paired t-test; None for fewer than three seeds.
    """

    difference: float
    seeds: int
    p_value: float | None

    @property
    def verdict(self) -> str:
        """``above`` or ``below`` where that is significant at the 5 % level, else ``level``; empty without a test."""
        if self.p_value is None:
            return ""
        return "level" if self.p_value >= 0.05 else "above" if self.difference > 0 else "below"


def paired(first: Trials, second: Trials) -> Paired | None:
    """The first trials minus the second; None where they have no seed in common.

    >>> paired({0: 0.9, 1: 0.75}, {1: 0.5, 2: 0.1})
    Paired(difference=0.25, seeds=1, p_value=None)
    """
    gains = [first[seed] - second[seed] for seed in sorted(first.keys() & second.keys())]
    return Paired(mean(gains), len(gains), _paired_test(gains)) if gains else None


@dataclass(frozen=True)
class Duel:
    """Two methods on the same tasks: trials won, tied and lost by the first, and a test over the cells.

    p_value: Wilcoxon's signed-rank test of the mean differences of the cells (data set and prior).
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

    p_value: Friedman's test that all methods are alike.
    critical_difference: mean ranks that differ by more than this do so at the 5 % level (Nemenyi's test).
    """

    ranks: dict[str, float]
    cells: int
    p_value: float | None
    critical_difference: float | None


def duels(records: Iterable[Record], first: str, others: Sequence[str]) -> list[Duel]:
    """``first`` against each of the others, trial by trial on the same task."""
    accuracy = _by_task(records)
    result = []
    for second in others:
        shared = {task: (row[first], row[second]) for task, row in accuracy.items() if first in row and second in row}
        if not shared:
            continue
        differences = np.array([ours - theirs for ours, theirs in shared.values()])
        result.append(
            Duel(
                first=first,
                second=second,
                won=int((differences > TIE).sum()),
                tied=int((np.abs(differences) <= TIE).sum()),
                lost=int((differences < -TIE).sum()),
                mean_difference=float(differences.mean()),
                p_value=_signed_rank(_cell_means(shared)),
            )
        )
    return result


def mean_ranks(records: Iterable[Record], methods: Sequence[str]) -> Ranks:
    """The mean rank of each method over the cells in which all of them have trials."""
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    cells: dict[tuple[object, ...], dict[str, list[float]]] = {}
    for (*cell, _), row in _by_task(records).items():
        for method in methods:
            if method in row:
                cells.setdefault(tuple(cell), {}).setdefault(method, []).append(row[method])
    table = np.array([[np.mean(row[m]) for m in methods] for row in cells.values() if len(row) == len(methods)])
    n, k = len(table), len(methods)
    if n == 0:
        return Ranks({}, 0, None, None)
    ranks = np.mean([rankdata(-row) for row in table], axis=0)
    critical = (
        studentized_range.ppf(0.95, k, np.inf) / math.sqrt(2) * math.sqrt(k * (k + 1) / (6 * n))
        if n > 1 and k > 1
        else None
    )
    p_value = None
    if n > 1 and k > 2:  # the test divides by nothing where no method differs from another anywhere
        p_value = float(friedmanchisquare(*table.T).pvalue) if np.ptp(table, axis=1).any() else 1.0
    order = sorted(zip(methods, ranks.tolist(), strict=True), key=lambda pair: pair[1])
    return Ranks(dict(order), n, p_value, None if critical is None else float(critical))


def _by_task(records: Iterable[Record]) -> dict[tuple[object, ...], dict[str, float]]:
    """(protocol, data set, prior, epochs, seed) -> method -> accuracy."""
    table: dict[tuple[object, ...], dict[str, float]] = {}
    for record in records:
        task = tuple(record[name] for name in ("protocol", "dataset", "prior", "epochs", "seed"))
        table.setdefault(task, {})[record["method"]] = record["accuracy"]
    return table


def _cell_means(shared: dict[tuple[object, ...], tuple[float, float]]) -> list[float]:
    cells: dict[tuple[object, ...], list[float]] = {}
    for (*cell, _), (ours, theirs) in shared.items():
        cells.setdefault(tuple(cell), []).append(ours - theirs)
    return [float(np.mean(differences)) for differences in cells.values()]


def _paired_test(gains: Sequence[float]) -> float | None:
    from scipy.stats import ttest_1samp

    if len(gains) < 3:
        return None
    if len(set(gains)) == 1:  # no spread at all
        return 0.0 if gains[0] else 1.0
    return float(ttest_1samp(gains, 0.0).pvalue)


def _signed_rank(differences: Sequence[float]) -> float | None:
    from scipy.stats import wilcoxon

    if len(differences) < 5 or not any(differences):
        return None
    return float(wilcoxon(differences).pvalue)
