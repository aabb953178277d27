"""Methods on several data sets: duels of two, and mean ranks of all."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import mean

import numpy as np

from confdiff.experiments.signed_ranks import signed_ranks
from confdiff.experiments.trials.record import TrialRecord
from confdiff.multiple_tests import holm

TIE_TOLERANCE = 0.001
"""Accuracies that differ by no more than this are a tie in a duel of two methods."""
FEWEST_CELLS = 5
"""Fewer cells have no signed-rank test in a duel."""

_Task = tuple[object, ...]


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
    cells : int
        Number of cells (data set and prior).
    p_value : float or None
        Wilcoxon's signed-rank test of the mean differences of the cells; None for fewer than five of them.
    rank_biserial : float
        The effect size of that test, from -1 to 1.
    adjusted_p : float or None
        The p-value, adjusted for the number of rivals by Holm's method.
    """

    first: str
    second: str
    won: int
    tied: int
    lost: int
    mean_difference: float
    cells: int
    p_value: float | None
    rank_biserial: float
    adjusted_p: float | None = None


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
    adjusted = iter(holm([duel.p_value for duel in result if duel.p_value is not None]).tolist())
    return [duel if duel.p_value is None else replace(duel, adjusted_p=next(adjusted)) for duel in result]


def _duel(first: str, second: str, shared: Mapping[_Task, tuple[float, float]]) -> Duel:
    differences = np.array([ours - theirs for ours, theirs in shared.values()])
    means = _cell_means(shared)
    test = signed_ranks(means)
    return Duel(
        first=first,
        second=second,
        won=int((differences > TIE_TOLERANCE).sum()),
        tied=int((np.abs(differences) <= TIE_TOLERANCE).sum()),
        lost=int((differences < -TIE_TOLERANCE).sum()),
        mean_difference=float(differences.mean()),
        cells=len(means),
        p_value=test.p_value if len(means) >= FEWEST_CELLS else None,
        rank_biserial=test.rank_biserial,
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
    cells: dict[_Task, dict[str, list[float]]] = {}
    for (*cell, _), row in _by_task(records).items():
        for method in methods:
            if method in row:
                cells.setdefault(tuple(cell), {}).setdefault(method, []).append(row[method])
    return ranks_over([{method: mean(values) for method, values in row.items()} for row in cells.values()], methods)


def ranks_over(rows: Iterable[Mapping[str, float]], methods: Sequence[str]) -> Ranks:
    """Rank methods over rows of values, where a higher value is better.

    Parameters
    ----------
    rows : iterable of mappings
        Method -> value, for each cell or data set. Rows that lack a method are left out.
    methods : sequence of str
        The methods to rank.

    Examples
    --------
    >>> ranks_over([{"a": 0.9, "b": 0.8}, {"a": 0.7, "b": 0.7}, {"a": 0.5}], ["a", "b"]).ranks
    {'a': 1.25, 'b': 1.75}
    """
    from scipy.stats import rankdata

    complete = [row for row in rows if all(method in row for method in methods)]
    table = np.array([[row[method] for method in methods] for row in complete])
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
    return [mean(differences) for differences in cells.values()]
