"""The points of the paper's figures that have trials, and the claims that these confirm or contradict."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from confdiff.experiments.plans.figures import Claim, FigurePlan, Place, place_spec
from confdiff.experiments.plans.paper_tables import DEFAULT_PROTOCOL
from confdiff.experiments.plans.printed import PAPER_EPOCHS, printed_numbers
from confdiff.experiments.plans.verdicts import claim_verdict
from confdiff.experiments.statistics import Paired, Trials, corrected, grouped, paired
from confdiff.experiments.trials.record import TrialRecord


@dataclass(frozen=True)
class Point:
    """The trials at one point of a figure, on one data set at one prior."""

    dataset: str
    prior: float
    place: Place
    trials: Trials


@dataclass(frozen=True)
class FigureResults:
    """The points of a figure that have trials, by one protocol at one number of epochs."""

    plan: FigurePlan
    protocol: str
    epochs: int
    points: list[Point]

    @property
    def n_trials(self) -> int:
        """Number of trials over all points."""
        return sum(point.trials.n for point in self.points)

    @property
    def commands(self) -> list[str]:
        """The commands that run the trials.

        One command covers all data sets and methods with the same number of trials at the same positions.
        """
        shapes: dict[tuple[int, tuple[float, ...] | None, float], dict[str, list[str]]] = {}
        for group in grouped(self.points, lambda point: (point.dataset, point.prior, point.place.method)):
            first = group[0]
            for equal in grouped(group, lambda point: point.trials.n):
                shape = (equal[0].trials.n, self._positions(equal), first.prior)
                shapes.setdefault(shape, {}).setdefault(first.place.method, []).append(first.dataset)
        return [
            self._command(methods, datasets, *shape)
            for shape, chosen in shapes.items()
            for datasets, methods in _invert(chosen).items()
        ]

    def _positions(self, points: Sequence[Point]) -> tuple[float, ...] | None:
        """Return the positions of points of one method, or None if these are all that the method has."""
        method = points[0].place.method
        positions = {point.place.x for point in points}
        every = {place.x for place in self.plan.places if place.method == method}
        return None if positions == every else tuple(sorted(positions))

    def _command(
        self,
        methods: Sequence[str],
        datasets: Sequence[str],
        trials: int,
        positions: Sequence[float] | None,
        prior: float,
    ) -> str:
        """Return a command with the options that differ from the defaults, and those that are always named."""
        words = [f"confdiff reproduce {self.plan.name}"]
        if tuple(datasets) != self.plan.datasets:
            words.append(f"--datasets {','.join(datasets)}")
        if set(methods) != set(self.plan.methods):
            words.append(f"--methods {','.join(methods)}")
        if positions is not None:
            words.append(f"--points {','.join(f'{x:g}' for x in positions)}")
        if prior != 0.5:
            words.append(f"--priors {prior:g}")
        words.append(f"--protocol {self.protocol} --epochs {self.epochs} --trials {trials}")
        return " ".join(words)


def _invert(chosen: dict[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """Return values -> the keys that have them."""
    result: dict[tuple[str, ...], list[str]] = {}
    for key, values in chosen.items():
        result.setdefault(tuple(values), []).append(key)
    return result


def figure_points(
    plan: FigurePlan, records: Sequence[TrialRecord], *, protocol: str = DEFAULT_PROTOCOL, epochs: int = PAPER_EPOCHS
) -> list[Point]:
    """Return the points of a figure that have trials.

    Parameters
    ----------
    plan : FigurePlan
        The figure.
    records : sequence of TrialRecord
        All trials.
    protocol, epochs
        Use only trials with this protocol and number of epochs.
    """
    trials = [record for record in records if (record.protocol, record.epochs) == (protocol, epochs)]
    accuracy = {record.key: record.accuracy for record in trials}
    priors = sorted({record.prior for record in trials})
    seeds = sorted({record.seed for record in trials})
    points = []
    for dataset in (*plan.optional_datasets, *plan.datasets):
        for prior in priors:
            for place in plan.places:
                keys = {seed: place_spec(place, dataset, prior, protocol, seed, epochs).key for seed in seeds}
                by_seed = {seed: accuracy[key] for seed, key in keys.items() if key in accuracy}
                if by_seed:
                    points.append(Point(dataset, prior, place, Trials(by_seed)))
    curves = grouped(points, lambda point: (point.dataset, point.prior, point.place.curve))
    return [point for curve in curves for point in _with_shared_seeds(curve)]


def _with_shared_seeds(curve: Sequence[Point]) -> Sequence[Point]:
    """Restrict the points of a curve to the seeds that all of them have, if any: others would distort it."""
    shared = set.intersection(*(set(point.trials.by_seed) for point in curve))
    if not shared:
        return curve
    return [replace(point, trials=point.trials.restricted_to(shared)) for point in curve]


def figure_results(plan: FigurePlan, records: Sequence[TrialRecord]) -> FigureResults | None:
    """Return a figure by the protocol and epochs with most trials, if it has more trials than the tables."""
    settings = sorted({(record.protocol, record.epochs) for record in records})
    candidates = [
        FigureResults(plan, protocol, epochs, _points_beyond_tables(plan, records, protocol, epochs))
        for protocol, epochs in settings
    ]
    best = max(candidates, key=lambda results: results.n_trials, default=None)
    return best if best and best.points else None


def _points_beyond_tables(plan: FigurePlan, records: Sequence[TrialRecord], protocol: str, epochs: int) -> list[Point]:
    """Return the points of those data sets and priors for which some points are in no table."""
    points = figure_points(plan, records, protocol=protocol, epochs=epochs)
    groups = grouped(points, lambda point: (point.dataset, point.prior))
    beyond = [group for group in groups if not all(point.place.is_in_tables for point in group)]
    return [point for group in beyond for point in group]


@dataclass(frozen=True)
class ClaimResult:
    """A claim of the paper on one data set at one prior.

    Attributes
    ----------
    claim : Claim
        The claim.
    first, second : Point
        The points that it compares.
    outcome : Paired
        How they differ.
    printed : float or None
        The number of the second point in the paper's tables, where it has one.
    """

    claim: Claim
    first: Point
    second: Point
    outcome: Paired
    printed: float | None

    @property
    def verdict(self) -> str:
        """Whether the claim ``holds``, ``does not hold`` or is ``not clear``: see :func:`claim_verdict`."""
        return claim_verdict(self.outcome, self.claim.expected)


def claim_results(results: FigureResults) -> list[ClaimResult]:
    """Return the claims of a figure for which both points have trials with the same seeds.

    P-values are adjusted for the number of claims tested.
    """
    places = dict.fromkeys((point.dataset, point.prior) for point in results.points)
    outcomes = [_claim_result(results, claim, *place) for claim in results.plan.claims for place in places]
    found = [outcome for outcome in outcomes if outcome is not None]
    adjusted = corrected([result.outcome for result in found])
    return [replace(result, outcome=outcome) for result, outcome in zip(found, adjusted, strict=True) if outcome]


def _claim_result(results: FigureResults, claim: Claim, dataset: str, prior: float) -> ClaimResult | None:
    spots = {
        (point.place.curve, point.place.x): point
        for point in results.points
        if (point.dataset, point.prior, point.place.panel) == (dataset, prior, claim.panel)
    }
    first = spots.get(claim.first)
    second = spots.get(claim.second)
    if first is None or second is None:
        return None
    outcome = paired(first.trials, second.trials)
    if outcome is None:
        return None
    return ClaimResult(claim, first, second, outcome, printed=_printed(second))


def _printed(point: Point) -> float | None:
    if not point.place.is_in_tables:
        return None
    place = (point.dataset, point.prior, point.place.method)
    numbers = {(number.dataset, number.prior, number.method): number.mean for number in printed_numbers()}
    return numbers.get(place)
