"""The paper's figures as grids of trials, and what it reads from them.

Its source prints no numbers for the figures: what can be compared are the readings in its text, here as claims.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confdiff.experiments.names import LABELS
from confdiff.experiments.paper import TABLES
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

CONFDIFF = ("confdiff-unbiased", "confdiff-relu", "confdiff-abs")
OURS = ("confdiff-regression",)
FRACTIONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
EPSILONS = (0.8, 0.9, 1.0, 1.1, 1.2)
SIGMAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5)

SIDE_BY_SIDE, SHARE, WRONG_PRIOR, NOISE = "", "share of the pairs", "prior times epsilon", "c times N(1, sigma^2)"
"""Panels, by what their curves run over."""
DISCARDED, REVERSED = "Pcomp-Teacher, (-, +) discarded", "Pcomp-Teacher, (-, +) reversed"


@dataclass(frozen=True)
class Place:
    """One point of a figure: the curve that it lies on, where, and the trials that make it.

    curve: a method, with what was done to its pairs where that tells curves apart.
    hollow: whether it is drawn so, where another point has the colour of the same method.
    """

    panel: str
    curve: str
    method: str
    x: float
    options: tuple[tuple[str, Any], ...] = ()
    hollow: bool = False

    @property
    def is_in_tables(self) -> bool:
        """Whether its trials are trials of a table too."""
        return not self.options


Spot = tuple[str, float]
"""A curve, and where on it."""


@dataclass(frozen=True)
class Claim:
    """What is read from a figure: the accuracy at one spot of a panel beside that at another.

    bears_out: what agrees with it: ``above``, ``below``, or ``level``, no further apart than .01.
    """

    text: str
    panel: str
    first: Spot
    second: Spot
    bears_out: tuple[str, ...]


@dataclass(frozen=True)
class FigurePlan:
    """What a figure of the paper shows.

    claims: what the paper reads from it, and what one may look for besides.
    also: data sets of the paper's figure that are run only where they are asked for, as they take hours.
    """

    title: str
    datasets: tuple[str, ...]
    places: tuple[Place, ...]
    claims: tuple[Claim, ...]
    also: tuple[str, ...] = ()

    @property
    def axis(self) -> list[float]:
        """The places that its curves run over."""
        return sorted({place.x for place in self.places})

    def is_level(self, place: Place) -> bool:
        """Whether a place is all of its curve: a level to compare the others with."""
        return sum((each.panel, each.curve) == (place.panel, place.curve) for each in self.places) == 1


def _figure1() -> FigurePlan:
    """The pilot: Pcomp-Teacher whose (-, +) pairs are discarded or reversed, and ConfDiff-ABS."""
    discarded, reversed_, ours = (DISCARDED, 1.0), (REVERSED, 2.0), ("confdiff-abs", 3.0)
    return FigurePlan(
        title="Figure 1: discarding or reversing (-, +) pairs",
        datasets=TABLES["table2"],
        places=(
            Place(SIDE_BY_SIDE, DISCARDED, "pcomp-teacher", 1.0, (("pcomp", "discard"),), hollow=True),
            Place(SIDE_BY_SIDE, REVERSED, "pcomp-teacher", 2.0),
            Place(SIDE_BY_SIDE, "confdiff-abs", "confdiff-abs", 3.0),
        ),
        claims=(
            Claim("discarding and reversing perform similarly", SIDE_BY_SIDE, reversed_, discarded, ("level",)),
            Claim(
                "(not in its text) ConfDiff-ABS above the teacher that discards",
                SIDE_BY_SIDE,
                ours,
                discarded,
                ("above",),
            ),
            Claim(
                "(not in its text) ConfDiff-ABS above the teacher that reverses",
                SIDE_BY_SIDE,
                ours,
                reversed_,
                ("above",),
            ),
        ),
    )


def _figure2() -> FigurePlan:
    """Fewer pairs: ReLU, ABS and ours at a share of them, Pcomp-Teacher at all."""
    shares = tuple(
        Place(SHARE, method, method, share, () if share == 1 else (("fraction", share),))
        for method in ("confdiff-relu", "confdiff-abs", *OURS)
        for share in FRACTIONS
    )
    teacher = Place(SHARE, "pcomp-teacher", "pcomp-teacher", 1.0)
    claims = tuple(
        Claim(
            f"{LABELS[curve]} with 10 % of the pairs at or above Pcomp-Teacher with all",
            SHARE,
            (curve, FRACTIONS[0]),
            (teacher.curve, teacher.x),
            ("above", "level"),
        )
        for curve in ("confdiff-abs", "confdiff-relu")
    )
    return FigurePlan(
        title="Figure 2: fewer pairs",
        datasets=TABLES["table2"],
        places=(*shares, teacher),
        claims=claims,
        also=TABLES["table1"],
    )


def _figure3() -> FigurePlan:
    """A wrong prior and noisy differences, for the three ConfDiff methods and ours."""
    methods = (*CONFDIFF, *OURS)
    priors = tuple(
        Place(WRONG_PRIOR, method, method, factor, () if factor == 1 else (("prior_factor", factor),))
        for method in methods
        for factor in EPSILONS
    )
    noise = tuple(Place(NOISE, method, method, sigma, _noise(sigma)) for method in methods for sigma in SIGMAS)
    return FigurePlan(
        title="Figure 3: an inaccurate prior, noisy differences",
        datasets=("mnist", "pendigits"),
        places=(*priors, *noise),
        claims=tuple(
            Claim(
                f"{LABELS[method]} degenerates at epsilon {end:g} (on some data sets)",
                WRONG_PRIOR,
                (method, end),
                (method, 1.0),
                ("below",),
            )
            for method in CONFDIFF
            for end in (EPSILONS[0], EPSILONS[-1])
        ),
    )


def _noise(sigma: float) -> tuple[tuple[str, Any], ...]:
    return () if sigma == 0 else (("noise", "multiplicative"), ("noise_amount", sigma))


FIGURES: dict[str, FigurePlan] = {"figure1": _figure1(), "figure2": _figure2(), "figure3": _figure3()}
"""Name -> plan."""


def figure_grid(
    name: str,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    points: Sequence[float] | None = None,
    trials: int = 5,
    epochs: int = 200,
    protocol: str = "authors",
) -> list[TrialSpec]:
    """The trials of a figure, a whole round of all points before the next seed; those of the tables are among them.

    points: only these places on its axes.
    """
    plan = FIGURES[check_choice("figure", name, FIGURES)]
    offered = (*plan.datasets, *plan.also)
    chosen = [check_choice(f"data set of {name}", each, offered) for each in datasets or plan.datasets]
    there = list(dict.fromkeys(place.method for place in plan.places))
    kept = [check_choice(f"method of {name}", each, there) for each in methods or there]
    axis = [f"{x:g}" for x in plan.axis]
    wanted = {check_choice(f"point of {name}", f"{x:g}", axis) for x in points or plan.axis}
    specs = [
        TrialSpec(TaskSpec(dataset, prior, protocol, seed, **dict(place.options)), place.method, epochs)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or (0.5,)
        for place in plan.places
        if f"{place.x:g}" in wanted and place.method in kept
    ]
    return list(dict.fromkeys(specs))
