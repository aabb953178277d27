"""What the paper reads from its figures, held against our trials."""

from dataclasses import dataclass

from confdiff.experiments.cells import CLOSE
from confdiff.experiments.comparison import Paired, paired
from confdiff.experiments.figures import Claim
from confdiff.experiments.paper import printed_numbers
from confdiff.experiments.points import Curves, Point


@dataclass(frozen=True)
class Reading:
    """A claim of the paper on one data set at one prior: the points that it compares, and how they differ.

    printed: the number of the second point in the paper's tables, where it has one.
    """

    claim: Claim
    first: Point
    second: Point
    outcome: Paired
    printed: float | None

    @property
    def verdict(self) -> str:
        """``holds``, ``does not hold`` or, without a clear difference, ``not clear``; empty without a test."""
        found = self.outcome.verdict
        if not found:
            return ""
        level = "level" in self.claim.bears_out and abs(self.outcome.difference) <= CLOSE
        if level or (found != "level" and found in self.claim.bears_out):
            return "holds"
        return "not clear" if found == "level" else "does not hold"


def readings(curves: Curves) -> list[Reading]:
    """The claims of a figure wherever both of the points that they compare have trials with the same seeds."""
    at = {(p.dataset, p.prior, p.place.panel, p.place.curve, p.place.x): p for p in curves.points}
    printed = {(number.dataset, number.prior, number.method): number.mean for number in printed_numbers()}
    found = []
    for claim in curves.plan.claims:
        for dataset, prior in dict.fromkeys((point.dataset, point.prior) for point in curves.points):
            first, second = (at.get((dataset, prior, claim.panel, *spot)) for spot in (claim.first, claim.second))
            outcome = paired(first.trials, second.trials) if first and second else None
            if first and second and outcome:
                place = second.place
                known = printed.get((dataset, prior, place.method)) if place.is_in_tables else None
                found.append(Reading(claim, first, second, outcome, known))
    return found
