"""The paper's figures as grids of trials, and the curves that come out of them.

Its source prints no numbers for the figures: what can be compared are the readings in its text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean, stdev
from typing import Any

from confdiff.experiments.paper import TABLES
from confdiff.experiments.spec import TrialSpec
from confdiff.experiments.trial import Record
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

CONFDIFF = ("confdiff-unbiased", "confdiff-relu", "confdiff-abs")
OURS = ("confdiff-regression",)
FRACTIONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
EPSILONS = (0.8, 0.9, 1.0, 1.1, 1.2)
SIGMAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)


@dataclass(frozen=True)
class Place:
    """One point of a figure: the curve that it lies on, where, and the trials that make it.

    curve: a method, with what was done to its pairs where that tells curves apart.
    """

    panel: str
    curve: str
    method: str
    x: float
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True)
class FigurePlan:
    """What a figure of the paper shows.

    reading: what the paper reads from it.
    x_name: what its curves run over.
    """

    title: str
    reading: str
    x_name: str
    datasets: tuple[str, ...]
    places: tuple[Place, ...]


def _figure1() -> tuple[Place, ...]:
    """The pilot: Pcomp-Teacher whose (-, +) pairs are discarded or reversed, and ConfDiff-ABS."""
    return (
        Place("accuracy", "Pcomp-Teacher, (-, +) discarded", "pcomp-teacher", 1.0, (("pcomp", "discard"),)),
        Place("accuracy", "Pcomp-Teacher, (-, +) reversed", "pcomp-teacher", 2.0),
        Place("accuracy", "ConfDiff-ABS", "confdiff-abs", 3.0),
    )


def _figure2() -> tuple[Place, ...]:
    """Fewer pairs: ReLU and ABS at a share of them, Pcomp-Teacher at all."""
    shares = tuple(
        Place("accuracy", method, method, share, () if share == 1 else (("fraction", share),))
        for method in ("confdiff-relu", "confdiff-abs")
        for share in FRACTIONS
    )
    return (*shares, Place("accuracy", "pcomp-teacher", "pcomp-teacher", 1.0))


def _figure3() -> tuple[Place, ...]:
    """A wrong prior and noisy differences, for the three ConfDiff methods and ours."""
    methods = (*CONFDIFF, *OURS)
    priors = tuple(
        Place("prior times epsilon", method, method, factor, () if factor == 1 else (("prior_factor", factor),))
        for method in methods
        for factor in EPSILONS
    )
    noise = tuple(
        Place("c times N(1, sigma^2)", method, method, sigma, _noise(sigma)) for method in methods for sigma in SIGMAS
    )
    return (*priors, *noise)


def _noise(sigma: float) -> tuple[tuple[str, Any], ...]:
    return () if sigma == 0 else (("noise", "multiplicative"), ("noise_amount", sigma))


FIGURES: dict[str, FigurePlan] = {
    "figure1": FigurePlan(
        "Figure 1: discarding or reversing (-, +) pairs",
        "ConfDiff-ABS is above Pcomp-Teacher, whichever is done with the pairs that are in the wrong order",
        "",
        TABLES["table2"],
        _figure1(),
    ),
    "figure2": FigurePlan(
        "Figure 2: fewer pairs",
        "ConfDiff-ABS with 10 % of the pairs is at or above Pcomp-Teacher with all of them",
        "share of the pairs",
        TABLES["table2"],
        _figure2(),
    ),
    "figure3": FigurePlan(
        "Figure 3: an inaccurate prior, noisy differences",
        "accuracy degenerates at epsilon .8 and 1.2 on some data sets",
        "epsilon or sigma",
        ("pendigits", "mnist"),
        _figure3(),
    ),
}
"""Name -> plan."""


def figure_grid(
    name: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    trials: int = 5,
    epochs: int = 200,
    protocol: str = "authors",
) -> list[TrialSpec]:
    """The trials of a figure, a whole round of all points before the next seed; those of the tables are among them."""
    plan = FIGURES[check_choice("figure", name, FIGURES)]
    chosen = [check_choice(f"data set of {name}", each, plan.datasets) for each in datasets or plan.datasets]
    specs = [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed, **dict(place.options)), place.method, epochs)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or (0.5,)
        for place in plan.places
        if not methods or place.method in methods
    ]
    return list(dict.fromkeys(specs))


@dataclass(frozen=True)
class Point:
    """The trials at one place of a figure; is_in_tables: whether they are trials of a table too."""

    dataset: str
    prior: float
    panel: str
    curve: str
    method: str
    x: float
    accuracies: tuple[float, ...]
    is_in_tables: bool

    @property
    def mean(self) -> float:
        """Mean accuracy."""
        return mean(self.accuracies)

    @property
    def std(self) -> float:
        """Standard deviation with n - 1; 0 for a single trial."""
        return stdev(self.accuracies) if len(self.accuracies) > 1 else 0.0


def figure_points(
    name: str, records: Iterable[Record], *, protocol: str = "authors", epochs: int = 200, trials: int = 20
) -> list[Point]:
    """The points of a figure that there are trials for."""
    found = {record["key"]: record["accuracy"] for record in records if "accuracy" in record}
    plan = FIGURES[check_choice("figure", name, FIGURES)]
    points = []
    for dataset in plan.datasets:
        for prior in (0.2, 0.5, 0.8):
            for place in plan.places:
                keys = [
                    TrialSpec(TaskSpec(dataset, prior, protocol, seed, **dict(place.options)), place.method, epochs).key
                    for seed in range(trials)
                ]
                accuracies = tuple(found[key] for key in keys if key in found)
                if accuracies:
                    points.append(
                        Point(
                            dataset,
                            prior,
                            place.panel,
                            place.curve,
                            place.method,
                            place.x,
                            accuracies,
                            not place.options,
                        )
                    )
    return points
