"""The paper's figures: their plans and grids of trials.

The paper prints no numbers for its figures. Only the claims in its text can be compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from confdiff.experiments.plans.paper_tables import DEFAULT_PROTOCOL, PAPER_TRIALS
from confdiff.experiments.plans.printed import PAPER_EPOCHS
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from confdiff.validation import check_choice, check_count

OUR_METHODS = ("confdiff-regression",)
"""Methods of this library that are shown next to the paper's."""


@dataclass(frozen=True)
class Place:
    """One point of a figure: the curve that it is on, its position, and the trials that make it.

    Attributes
    ----------
    panel : str
        The panel, named by what its curves run over; empty for points side by side.
    curve : str
        A method, with the treatment of its pairs if that distinguishes curves.
    method : str
        The method.
    x : float
        Position on the axis.
    options : tuple of (str, value)
        Options of the task.
    hollow : bool
        Whether its marker is hollow, to distinguish it from another point of the same method.
    """

    panel: str
    curve: str
    method: str
    x: float
    options: tuple[tuple[str, Any], ...] = ()
    hollow: bool = False

    @property
    def is_in_tables(self) -> bool:
        """Whether its trials are also trials of a table."""
        return not self.options


Spot = tuple[str, float]
"""A curve, and a position on it."""


@dataclass(frozen=True)
class Claim:
    """A claim about a figure: a comparison of the accuracies at two points of a panel.

    Attributes
    ----------
    text : str
        The claim.
    panel : str
        The panel of both points.
    first, second : Spot
        The spots.
    expected : tuple of str
        Outcomes that agree with it, as :func:`~confdiff.experiments.plans.verdicts.claim_verdict` takes them:
        ``above``, ``below`` or ``similar``.
    """

    text: str
    panel: str
    first: Spot
    second: Spot
    expected: tuple[str, ...]


@dataclass(frozen=True)
class FigurePlan:
    """The plan of a figure of the paper.

    Attributes
    ----------
    name, title : str
        Name on the command line, and title.
    datasets : tuple of str
        Data sets that are run by default.
    places : tuple of Place
        Its points, on every data set.
    claims : tuple of Claim
        The paper's conclusions from it, and further claims to test.
    optional_datasets : tuple of str
        Data sets of the paper's figure that are run only on request, as they take hours.
    """

    name: str
    title: str
    datasets: tuple[str, ...]
    places: tuple[Place, ...]
    claims: tuple[Claim, ...]
    optional_datasets: tuple[str, ...] = ()

    @property
    def axis(self) -> list[float]:
        """The positions that its curves run over."""
        return sorted({place.x for place in self.places})

    @property
    def methods(self) -> list[str]:
        """The methods that it shows."""
        return list(dict.fromkeys(place.method for place in self.places))

    def is_level(self, place: Place) -> bool:
        """Return whether a point is the only one of its curve, a reference for the others."""
        return sum((other.panel, other.curve) == (place.panel, place.curve) for other in self.places) == 1


def figure_grid(
    plan: FigurePlan,
    *,
    datasets: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    priors: Sequence[float] | None = None,
    points: Sequence[float] | None = None,
    trials: int = PAPER_TRIALS,
    epochs: int = PAPER_EPOCHS,
    protocol: str = DEFAULT_PROTOCOL,
) -> list[TrialSpec]:
    """Return the trials of a figure, all points of one seed before the next; trials of the tables are among them.

    Parameters
    ----------
    plan : FigurePlan
        The figure.
    datasets, methods, priors, points : sequences, optional
        Only these; ``points`` are positions on the axes.
    trials : int
        Number of seeds.
    epochs, protocol
        As in :class:`~confdiff.experiments.trials.spec.TrialSpec` and its task.
    """
    offered = (*plan.datasets, *plan.optional_datasets)
    chosen = [check_choice(f"data set of {plan.name}", name, offered) for name in datasets or plan.datasets]
    names = [check_choice(f"method of {plan.name}", name, plan.methods) for name in methods or plan.methods]
    axis = [f"{x:g}" for x in plan.axis]
    positions = {check_choice(f"point of {plan.name}", f"{x:g}", axis) for x in points or plan.axis}
    specs = [
        place_spec(place, dataset, prior, protocol, seed, epochs)
        for seed in range(check_count("trials", trials))
        for dataset in chosen
        for prior in priors or (0.5,)
        for place in plan.places
        if f"{place.x:g}" in positions and place.method in names
    ]
    return list(dict.fromkeys(specs))


def place_spec(place: Place, dataset: str, prior: float, protocol: str, seed: int, epochs: int) -> TrialSpec:
    """Return the trial at a place of a figure, on a data set at a prior with a seed."""
    return TrialSpec(TaskSpec(dataset, prior, protocol, seed, **dict(place.options)), place.method, epochs)
