"""The results of a comparison: its trials by setting and method, and their statistics."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import mean, median

from confdiff.experiments.comparing.plan import ComparisonPlan, Setting
from confdiff.experiments.rankings import TIE_TOLERANCE, Ranks, ranks_over
from confdiff.experiments.signed_ranks import SignedRanks, signed_ranks, smallest_p
from confdiff.experiments.statistics import SIGNIFICANCE_LEVEL, Paired, Trials, averaged, corrected, grouped, paired
from confdiff.experiments.trials.record import Record, TrialRecord
from confdiff.methods import METHODS
from confdiff.multiple_tests import benjamini_hochberg, holm


@dataclass(frozen=True)
class MethodCell:
    """One method in one setting.

    Attributes
    ----------
    setting, method
        What was run.
    trials : Trials
        The accuracies.
    outcome : Paired or None
        The method minus the baseline on the same pairs, corrected for all cells; None for the baseline itself.
    """

    setting: Setting
    method: str
    trials: Trials
    outcome: Paired | None


@dataclass(frozen=True)
class OverSeeds:
    """Two methods on these settings, averaged over them and compared seed by seed.

    Attributes
    ----------
    first, second : str
        The methods; the first has the higher mean.
    outcome : Paired
        First minus second, corrected for all pairs of methods.
    won, tied, lost : int
        Number of settings in which the mean of the first is above, equal to (within .001) and below the second's.
    """

    first: str
    second: str
    outcome: Paired
    won: int
    tied: int
    lost: int


@dataclass(frozen=True)
class OverDatasets:
    """Two methods over data sets, each of which counts once.

    Attributes
    ----------
    first, second : str
        The methods; the first has the higher mean.
    median_difference : float
        Median over data sets of first minus second.
    test : SignedRanks
        Wilcoxon's signed-rank test.
    adjusted_p : float
        Its p-value, corrected for all pairs of methods by Holm's method.
    """

    first: str
    second: str
    median_difference: float
    test: SignedRanks
    adjusted_p: float

    @property
    def is_significant(self) -> bool:
        """Whether the methods differ at the 5 % level."""
        return self.adjusted_p < SIGNIFICANCE_LEVEL


@dataclass(frozen=True)
class ComparisonResults:
    """The trials of a plan.

    Attributes
    ----------
    plan : ComparisonPlan
        The plan.
    records : dict
        Key -> record of the trials of the plan that are finished.
    """

    plan: ComparisonPlan
    records: Mapping[str, TrialRecord]

    @classmethod
    def of(cls, plan: ComparisonPlan, records: Iterable[Record]) -> "ComparisonResults":
        """Select the trials of a plan.

        Raises
        ------
        ValueError
            If no setting has all of its trials.
        """
        keys = {spec.key for spec in plan.grid()}
        chosen = {record.key: record for record in records if isinstance(record, TrialRecord) and record.key in keys}
        results = cls(plan, chosen)
        if not results.settings:
            raise ValueError(
                f"{len(chosen)} of {len(keys)} trials are finished, and no setting has all of its trials: "
                "run the missing ones."
            )
        return results

    @cached_property
    def trials(self) -> dict[tuple[Setting, str], Trials]:
        """(setting, method) -> its trials, where there are any."""
        found: dict[tuple[Setting, str], dict[int, float]] = {}
        for setting in self.plan.settings:
            for method in self.plan.methods:
                for seed in range(self.plan.trials):
                    record = self.records.get(self.plan.spec(setting, method, seed).key)
                    if record is not None:
                        found.setdefault((setting, method), {})[seed] = record.accuracy
        return {place: Trials(by_seed) for place, by_seed in found.items()}

    @property
    def missing(self) -> int:
        """Number of trials of the plan that are not finished."""
        return len({spec.key for spec in self.plan.grid()}) - len(self.records)

    @cached_property
    def settings(self) -> list[Setting]:
        """The settings with all trials of all methods; the statistics are about these."""
        return [
            setting
            for setting in self.plan.settings
            if all(self._n(setting, method) == self.plan.trials for method in self.plan.methods)
        ]

    def _n(self, setting: Setting, method: str) -> int:
        trials = self.trials.get((setting, method))
        return 0 if trials is None else trials.n

    @cached_property
    def overall(self) -> dict[str, Trials]:
        """Method -> its mean over the settings for each seed; the highest mean comes first."""
        means = {
            method: averaged([self.trials[setting, method] for setting in self.settings])
            for method in self.plan.methods
        }
        return dict(sorted(means.items(), key=lambda item: -item[1].mean))

    @property
    def methods(self) -> list[str]:
        """The methods, the highest mean first."""
        return list(self.overall)

    @property
    def competitors(self) -> list[str]:
        """The methods without oracles, the highest mean first; all if there are only oracles."""
        return [name for name in self.methods if METHODS[name].family != "oracle"] or self.methods

    @cached_property
    def cells(self) -> list[MethodCell]:
        """The methods in all settings that have trials; p-values are corrected for the number of cells."""
        places = [place for place in self.trials if place[0] in self.plan.settings]
        outcomes = corrected([self._against_baseline(*place) for place in places], benjamini_hochberg)
        return [
            MethodCell(setting=setting, method=method, trials=self.trials[setting, method], outcome=outcome)
            for (setting, method), outcome in zip(places, outcomes, strict=True)
        ]

    def _against_baseline(self, setting: Setting, method: str) -> Paired | None:
        baseline = self.trials.get((setting, self.plan.baseline))
        if method == self.plan.baseline or baseline is None:
            return None
        return paired(self.trials[setting, method], baseline)

    def differences(self, first: str, second: str) -> list[float]:
        """Return first minus second in each setting, as means over seeds."""
        return [self.trials[setting, first].mean - self.trials[setting, second].mean for setting in self.settings]

    @cached_property
    def over_seeds(self) -> list[OverSeeds]:
        """All pairs of methods on these settings."""
        pairs = list(combinations(self.methods, 2))
        outcomes = corrected([paired(self.overall[first], self.overall[second]) for first, second in pairs])
        return [
            _over_seeds(first, second, outcome, self.differences(first, second))
            for (first, second), outcome in zip(pairs, outcomes, strict=True)
            if outcome is not None
        ]

    @cached_property
    def by_dataset(self) -> dict[str, dict[str, float]]:
        """Data set -> method -> its mean over the settings of the data set."""
        groups = grouped(self.settings, lambda setting: setting.dataset)
        return {group[0].dataset: {method: self._mean(group, method) for method in self.methods} for group in groups}

    def _mean(self, settings: Sequence[Setting], method: str) -> float:
        return mean(self.trials[setting, method].mean for setting in settings)

    @cached_property
    def over_datasets(self) -> list[OverDatasets]:
        """All pairs of methods over data sets."""
        pairs = list(combinations(self.methods, 2))
        differences = [[row[first] - row[second] for row in self.by_dataset.values()] for first, second in pairs]
        tests = [signed_ranks(values) for values in differences]
        adjusted = holm([test.p_value for test in tests]).tolist()
        return [
            OverDatasets(
                first=first,
                second=second,
                median_difference=median(values),
                test=test,
                adjusted_p=adjusted_p,
            )
            for (first, second), values, test, adjusted_p in zip(pairs, differences, tests, adjusted, strict=True)
        ]

    @property
    def smallest_adjusted_p(self) -> float:
        """The smallest p-value over data sets that is possible after the correction."""
        return min(1.0, len(self.over_datasets) * smallest_p(len(self.by_dataset)))

    @cached_property
    def ranks(self) -> Ranks:
        """Mean ranks of the methods over data sets."""
        return ranks_over(self.by_dataset.values(), self.methods)

    @cached_property
    def groups(self) -> list[list[str]]:
        """The largest groups of methods without a significant difference over data sets, by mean rank."""
        different = {frozenset((pair.first, pair.second)) for pair in self.over_datasets if pair.is_significant}
        return largest_groups(list(self.ranks.ranks), lambda a, b: frozenset((a, b)) not in different)


def _over_seeds(first: str, second: str, outcome: Paired, differences: Sequence[float]) -> OverSeeds:
    return OverSeeds(
        first=first,
        second=second,
        outcome=outcome,
        won=sum(value > TIE_TOLERANCE for value in differences),
        tied=sum(abs(value) <= TIE_TOLERANCE for value in differences),
        lost=sum(value < -TIE_TOLERANCE for value in differences),
    )


def largest_groups(names: Sequence[str], joined: Callable[[str, str], bool]) -> list[list[str]]:
    """Return the groups of at least two names in which all are joined, without those inside a larger one.

    >>> largest_groups(["a", "b", "c"], lambda first, second: {first, second} != {"a", "c"})
    [['a', 'b'], ['b', 'c']]
    """
    neighbours = {name: {other for other in names if other != name and joined(name, other)} for name in names}
    groups: list[list[str]] = []

    def extend(group: set[str], candidates: set[str], excluded: set[str]) -> None:
        """Add the largest groups that hold ``group``, by the algorithm of Bron and Kerbosch with a pivot."""
        if not candidates and not excluded and len(group) > 1:
            groups.append([name for name in names if name in group])
        if not candidates:
            return
        pivot = max(candidates | excluded, key=lambda name: len(neighbours[name] & candidates))
        for name in candidates - neighbours[pivot]:
            extend(group | {name}, candidates & neighbours[name], excluded & neighbours[name])
            candidates = candidates - {name}
            excluded = excluded | {name}

    extend(set(), set(names), set())
    return sorted(groups, key=lambda group: [names.index(name) for name in group])
