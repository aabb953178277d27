"""Statistics of trials: means, deviations and intervals, and paired comparisons over seeds."""

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, stdev
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from confdiff.experiments.trials.record import TrialRecord
from confdiff.multiple_tests import holm

FEWEST_TRIALS = 3
"""Fewer trials have no paired test and no verdict."""
SIGNIFICANCE_LEVEL = 0.05
"""A difference with a smaller p-value of the paired test is significant."""

MeanInterval = tuple[float, float]
"""Ends of a 95 % confidence interval."""

_Row = TypeVar("_Row")


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

    @property
    def interval(self) -> MeanInterval | None:
        """The 95 % t-interval of the mean; None for a single trial."""
        return mean_interval(list(self.by_seed.values()))

    def restricted_to(self, seeds: Collection[int]) -> "Trials":
        """Return the trials with these seeds."""
        return Trials({seed: self.by_seed[seed] for seed in sorted(seeds)})


def mean_interval(values: Sequence[float]) -> MeanInterval | None:
    """Return the 95 % confidence interval of a mean, by the t-distribution; None for fewer than two values.

    >>> low, high = mean_interval([0.96, 0.98, 0.97])
    >>> round(low, 3), round(high, 3)
    (0.945, 0.995)
    """
    from scipy.special import stdtrit

    if len(values) < 2:
        return None
    centre = mean(values)
    margin = float(stdtrit(len(values) - 1, 1 - SIGNIFICANCE_LEVEL / 2)) * stdev(values) / math.sqrt(len(values))
    return centre - margin, centre + margin


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
    interval : (float, float) or None
        The 95 % t-interval of the difference; None for one seed.
    effect : float or None
        The difference in standard deviations of the differences, with Hedges' correction for few seeds; None without
        a test, or if all differences are equal.
    adjusted_p : float or None
        The p-value after a correction for the number of tests; None before it.
    """

    difference: float
    seeds: int
    p_value: float | None
    interval: MeanInterval | None = None
    effect: float | None = None
    adjusted_p: float | None = None

    @property
    def direction(self) -> str:
        """``above`` or ``below`` where significant at the 5 % level, else ``level``; empty without a test.

        After a correction for the number of tests, the adjusted p-value counts.
        """
        p_value = self.p_value if self.adjusted_p is None else self.adjusted_p
        if p_value is None:
            return ""
        if p_value >= SIGNIFICANCE_LEVEL:
            return "level"
        return "above" if self.difference > 0 else "below"


def paired(first: Trials, second: Trials) -> Paired | None:
    """Compare trials seed by seed; None if they share no seed.

    >>> outcome = paired(Trials({0: 0.9, 1: 0.75}), Trials({1: 0.5, 2: 0.1}))
    >>> outcome.difference, outcome.seeds, outcome.p_value
    (0.25, 1, None)
    """
    shared = sorted(first.by_seed.keys() & second.by_seed.keys())
    gains = [first.by_seed[seed] - second.by_seed[seed] for seed in shared]
    if not gains:
        return None
    return Paired(
        difference=mean(gains),
        seeds=len(gains),
        p_value=_paired_test(gains),
        interval=mean_interval(gains),
        effect=_standardised(gains),
    )


def averaged(settings: Sequence[Trials]) -> Trials:
    """Return the mean over settings for each seed that all of them have.

    >>> averaged([Trials({0: 0.9, 1: 0.8}), Trials({0: 0.7, 2: 0.6})])
    Trials(by_seed={0: 0.8})
    """
    shared = set.intersection(*(set(trials.by_seed) for trials in settings)) if settings else set()
    return Trials({seed: mean(trials.by_seed[seed] for trials in settings) for seed in sorted(shared)})


def corrected(
    outcomes: Sequence[Paired | None], adjust: Callable[[Sequence[float]], NDArray[np.float64]] = holm
) -> list[Paired | None]:
    """Return comparisons with p-values adjusted for the number of those with a test.

    Parameters
    ----------
    outcomes : sequence of Paired or None
        The comparisons.
    adjust : callable
        ``holm`` for statements that are read one by one, ``benjamini_hochberg`` for counts over many cells: see
        :mod:`confdiff.multiple_tests`.

    Examples
    --------
    >>> outcomes = [Paired(0.1, 5, 0.01), None, Paired(0.1, 5, 0.04), Paired(0.1, 2, None)]
    >>> [outcome.adjusted_p for outcome in corrected(outcomes) if outcome]
    [0.02, 0.04, None]
    """
    p_values = [outcome.p_value for outcome in outcomes if outcome and outcome.p_value is not None]
    adjusted = iter(adjust(p_values).tolist())
    return [
        replace(outcome, adjusted_p=next(adjusted)) if outcome and outcome.p_value is not None else outcome
        for outcome in outcomes
    ]


def _paired_test(gains: Sequence[float]) -> float | None:
    from scipy.stats import ttest_1samp

    if len(gains) < FEWEST_TRIALS:
        return None
    if len(set(gains)) == 1:  # the test would divide by a variance of zero
        return 0.0 if gains[0] else 1.0
    return float(ttest_1samp(gains, 0.0).pvalue)


def _standardised(gains: Sequence[float]) -> float | None:
    """Return the mean in standard deviations, with Hedges' exact correction of its bias."""
    if len(gains) < FEWEST_TRIALS or len(set(gains)) == 1:
        return None
    freedom = len(gains) - 1
    log_ratio = math.lgamma(freedom / 2) - math.lgamma((freedom - 1) / 2)
    return math.exp(log_ratio) / math.sqrt(freedom / 2) * mean(gains) / stdev(gains)
