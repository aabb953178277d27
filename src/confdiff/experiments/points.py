"""The points of the paper's figures that there are trials for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import mean, stdev

from confdiff.experiments.comparison import Trials
from confdiff.experiments.figures import FIGURES, FigurePlan, Place
from confdiff.experiments.grouping import grouped
from confdiff.experiments.trials.run import Record
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec


@dataclass(frozen=True)
class Point:
    """The trials at one place of a figure, on one data set at one prior."""

    dataset: str
    prior: float
    place: Place
    trials: Trials

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return mean(self.trials.values())

    @property
    def std(self) -> float | None:
        """Standard deviation with n - 1; None for a single trial."""
        return stdev(self.trials.values()) if len(self.trials) > 1 else None


@dataclass(frozen=True)
class Curves:
    """What there is of a figure, by one protocol at one number of epochs."""

    name: str
    protocol: str
    epochs: int
    points: list[Point]

    @property
    def plan(self) -> FigurePlan:
        """What the figure is to show."""
        return FIGURES[self.name]

    @property
    def commands(self) -> list[str]:
        """What makes it: one command for all data sets and methods that have as many trials at the same places."""
        shapes: dict[tuple[int, tuple[float, ...] | None, float], dict[str, list[str]]] = {}
        for group in grouped(self.points, lambda point: (point.dataset, point.prior, point.place.method)):
            first = group[0]
            for same in grouped(group, lambda point: len(point.trials)):
                places = tuple(sorted({point.place.x for point in same}))
                all_of_them = {place.x for place in self.plan.places if place.method == first.place.method}
                shape = (len(same[0].trials), None if set(places) == all_of_them else places, first.prior)
                shapes.setdefault(shape, {}).setdefault(first.place.method, []).append(first.dataset)
        return [
            self._command(methods, datasets, *shape)
            for shape, chosen in shapes.items()
            for datasets, methods in _with_same_values(chosen).items()
        ]

    def _command(
        self, methods: Sequence[str], datasets: Sequence[str], trials: int, places: Sequence[float] | None, prior: float
    ) -> str:
        """The options that are not the standard ones, beside those that are always said."""
        every = {place.method for place in self.plan.places}
        chosen = "" if tuple(datasets) == self.plan.datasets else f" --datasets {','.join(datasets)}"
        chosen += "" if set(methods) == every else f" --methods {','.join(methods)}"
        chosen += "" if places is None else f" --points {','.join(f'{x:g}' for x in places)}"
        chosen += "" if prior == 0.5 else f" --priors {prior:g}"
        always = f"--protocol {self.protocol} --epochs {self.epochs} --trials {trials}"
        return f"confdiff reproduce {self.name}{chosen} {always}"


def _with_same_values(chosen: dict[str, list[str]]) -> dict[tuple[str, ...], list[str]]:
    """Values -> the keys that have them."""
    result: dict[tuple[str, ...], list[str]] = {}
    for key, values in chosen.items():
        result.setdefault(tuple(values), []).append(key)
    return result


def figure_points(name: str, records: Sequence[Record], *, protocol: str = "authors", epochs: int = 200) -> list[Point]:
    """The points of a figure that there are trials for."""
    own = [record for record in records if (record.get("protocol"), record.get("epochs")) == (protocol, epochs)]
    found = {record["key"]: record["accuracy"] for record in own if "accuracy" in record}
    priors, seeds = (sorted({record[what] for record in own}) for what in ("prior", "seed"))
    plan = FIGURES[name]
    points = []
    for dataset in (*plan.also, *plan.datasets):
        for prior in priors:
            for place in plan.places:
                specs = (
                    TrialSpec(TaskSpec(dataset, prior, protocol, seed, **dict(place.options)), place.method, epochs)
                    for seed in seeds
                )
                trials = {spec.task.seed: found[spec.key] for spec in specs if spec.key in found}
                if trials:
                    points.append(Point(dataset, prior, place, trials))
    curves = grouped(points, lambda point: (point.dataset, point.prior, point.place.curve))
    return [point for curve in curves for point in _on_the_same_seeds(curve)]


def _on_the_same_seeds(curve: Sequence[Point]) -> Sequence[Point]:
    """The points of a curve by the seeds that all of them have, if any: others would bend it by chance."""
    shared = set.intersection(*(set(point.trials) for point in curve))
    if not shared:
        return curve
    return [replace(point, trials={seed: point.trials[seed] for seed in sorted(shared)}) for point in curve]


def curves_of(name: str, records: Sequence[Record]) -> Curves | None:
    """A figure by the protocol and epochs that it has most trials of, if these are more than the tables have anyway."""
    settings = sorted({(record["protocol"], record["epochs"]) for record in records if "accuracy" in record})
    offers = [Curves(name, *setting, _with_more_than_tables(name, records, *setting)) for setting in settings]
    best = max(offers, key=lambda curves: sum(len(point.trials) for point in curves.points), default=None)
    return best if best and best.points else None


def _with_more_than_tables(name: str, records: Sequence[Record], protocol: str, epochs: int) -> list[Point]:
    """The points on data sets at priors that have some which are in no table."""
    places = grouped(
        figure_points(name, records, protocol=protocol, epochs=epochs), lambda point: (point.dataset, point.prior)
    )
    return [point for place in places if not all(point.place.is_in_tables for point in place) for point in place]
