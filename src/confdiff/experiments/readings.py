"""What the paper reads from its figures, held against our trials."""

from collections.abc import Sequence
from dataclasses import dataclass

from confdiff.experiments.comparison import Paired, paired
from confdiff.experiments.figures import FIGURES, Claim, Point
from confdiff.validation import check_choice


@dataclass(frozen=True)
class Reading:
    """A claim of the paper on one data set at one prior: the points that it compares, and how they differ."""

    claim: Claim
    first: Point
    second: Point
    outcome: Paired

    @property
    def verdict(self) -> str:
        """``holds``, ``does not hold`` or, without a clear difference, ``not clear``; empty without a test."""
        found = self.outcome.verdict
        if not found:
            return ""
        return "holds" if found in self.claim.bears_out else "not clear" if found == "level" else "does not hold"


def readings(name: str, points: Sequence[Point]) -> list[Reading]:
    """The claims of a figure wherever both of the points that they compare have trials with the same seeds."""
    plan = FIGURES[check_choice("figure", name, FIGURES)]
    at = {(point.dataset, point.prior, point.panel, point.curve, point.x): point for point in points}
    found = []
    for claim in plan.claims:
        for dataset, prior in dict.fromkeys((point.dataset, point.prior) for point in points):
            first, second = (at.get((dataset, prior, claim.panel, *spot)) for spot in (claim.first, claim.second))
            outcome = paired(first.trials, second.trials) if first and second else None
            if first and second and outcome:
                found.append(Reading(claim, first, second, outcome))
    return found
