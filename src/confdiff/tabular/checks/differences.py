"""Check the differences: near ties, ends of the scale, position bias, and the class priors that they allow."""

from dataclasses import dataclass

import numpy as np

from confdiff.pairs import Pairs
from confdiff.pairs.describe import NEAR_TIE, PairsDescription, describe_pairs
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.roles import wins_by_position

_MANY = 0.5  # fraction of the pairs
_ENOUGH = 10  # clear judgements after which one direction only is suspicious


@dataclass(frozen=True)
class Differences:
    """Summary of the differences of the usable pairs.

    Attributes
    ----------
    summary : PairsDescription
        Range, histogram, near ties, interval of the class prior.
    mean_error : float
        Standard error of the mean difference. A mean above 0 favours the second item.
    at_ends : float
        Fraction of the differences at an end of the scale.
    """

    summary: PairsDescription
    mean_error: float
    at_ends: float

    @property
    def is_one_sided(self) -> bool:
        """Whether all clear judgements have one sign."""
        c = self.summary
        return min(-c.least, c.greatest) <= 0 and c.n_pairs * (1 - c.near_ties) >= _ENOUGH


def measure_differences(data: CheckData) -> Differences:
    """Summarise the differences of the usable pairs."""
    judgements = data.judgements
    c = judgements.c
    items = np.zeros((judgements.n_items, 1))
    return Differences(
        summary=describe_pairs(Pairs(items, judgements.left, judgements.right, c)),
        mean_error=float(c.std() / len(c) ** 0.5),
        at_ends=float((np.abs(c) > 1 - 1e-6).mean()),
    )


def difference_findings(data: CheckData, measure: Differences) -> list[Finding]:
    """Return findings about near ties, ends of the scale, position bias and impossible class priors."""
    c = measure.summary
    findings = []
    if c.near_ties > _MANY:
        findings.append(_near_ties(c))
    if measure.at_ends > _MANY:
        findings.append(_at_ends(c, measure.at_ends))
    is_order_an_answer = wins_by_position(data.pairs.names)
    if measure.is_one_sided and not is_order_an_answer:
        findings.append(_one_sided(c, data.pairs.winner_hint))
    elif not is_order_an_answer and abs(c.mean) > max(NEAR_TIE, 3 * measure.mean_error):
        findings.append(_position_bias(c, measure.mean_error))
    if c.prior_interval is None:
        findings.append(_no_prior(c))
    return findings


def _warning(kind: str, count: int, text: str, action: str) -> Finding:
    return Finding(kind=kind, severity="warning", count=count, text=text, action=action)


def _near_ties(c: PairsDescription) -> Finding:
    return _warning(
        "near-ties",
        round(c.near_ties * c.n_pairs),
        text=f"{c.near_ties:.0%} of the pairs are near ties (|c| < {NEAR_TIE:g}).",
        action="`fit` goes on, but can learn little from near ties: compare items that differ more.",
    )


def _at_ends(c: PairsDescription, fraction: float) -> Finding:
    return _warning(
        "ends-of-scale",
        round(fraction * c.n_pairs),
        text=f"{fraction:.0%} of the differences are at the ends of the scale.",
        action="`fit` uses them as they are. They give the order of two items but not how far apart they are: the "
        "probabilities will be close to 0 and 1.",
    )


def _one_sided(c: PairsDescription, winner_hint: str) -> Finding:
    return _warning(
        "one-sided",
        c.n_pairs,
        text=f"No pair favours the {'first' if c.greatest > 0 else 'second'} item.",
        action="`fit` works with any order of the items. But if the middle of the scale means no difference, such as "
        f".5 on a scale from 0 to 1, pass scale=(low, high).{winner_hint}",
    )


def _position_bias(c: PairsDescription, error: float) -> Finding:
    position = "second" if c.mean > 0 else "first"
    return _warning(
        "position-bias",
        c.n_pairs,
        text=f"The {position} item is favoured: mean difference {c.mean:+.3f} ± {error:.3f}.",
        action="`fit` uses the differences as they are. If the order of the items was random, their position biases "
        "the judgements: ask for both orders.",
    )


def _no_prior(c: PairsDescription) -> Finding:
    return _warning(
        "no-prior",
        c.n_pairs,
        text="No class prior allows exact differences of probabilities that are this large.",
        action="`fit` goes on: use its probabilities as a ranking, or pass a wider scale=(low, high).",
    )


def prior_statement(summary: PairsDescription) -> str:
    """Return the information of the differences about the class prior, in words."""
    if summary.prior_interval is None:
        return (
            "No class prior allows differences as large as these: they are not exact differences of the probabilities "
            "of independent items. This is common for votes and for points of a scale. Use scores as a ranking."
        )
    low, high = summary.prior_interval
    return (
        f"If the differences are exact and the items of a pair independent, between {low:.0%} and {high:.0%} of the "
        "items are positive (95% confidence). Larger differences mean a prior nearer to one half. The differences "
        "determine no more about the class prior, unless some items are nearly certain."
    )
