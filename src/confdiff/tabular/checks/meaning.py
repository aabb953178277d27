"""Check what the judgements mean: differences of probabilities, strengths of preference, or points.

One score per item is fitted under each link to a part of the pairs, and predicts the others. Differences of
probabilities and points add up, and preferences saturate. Probabilities are points whose range is at most 1, so that
judgements which support probabilities also support points: only the question that was asked decides between them.
Judgements can show that they are preferences, or points with a wider range.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.selection import Estimate, HeldOutPairs, variance_by_items
from confdiff.links import LINKS, find_link
from confdiff.randomness import derived_seed
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding
from confdiff.tabular.checks.graph import Edges, Judgements, components_of
from confdiff.tabular.checks.item_scores import scores_under

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_FOLDS = 4
_PENALTIES = (0.01, 0.1, 1.0)
_FEWEST = 40  # held-out pairs whose two items are connected by other pairs
_MOST = 20_000  # distinct pairs to measure; those of the items with the most judgements are used
_CLEAR = 2.0  # standard errors
_ALIKE = 0.005  # R² by which links may differ without consequence
_LARGEST_SPAN = 1.1  # of scores that may be probabilities; noise widens the range a little


@dataclass(frozen=True)
class LinkFit:
    """How well one score per item predicts held-out judgements under a link.

    Attributes
    ----------
    link : str
        Name of the link.
    r2 : float
        R² of the differences of held-out pairs.
    gap, gap_error : float
        R² of the best link minus this one, and its standard error.
    """

    link: str
    r2: float
    gap: float
    gap_error: float

    @property
    def is_supported(self) -> bool:
        """Whether this link is not clearly worse than the best one."""
        return self.gap <= max(_ALIKE, _CLEAR * self.gap_error)


@dataclass(frozen=True)
class Meaning:
    """Which links the judgements support.

    Attributes
    ----------
    pairs : int
        Number of held-out pairs that were predicted.
    links : tuple of LinkFit
        The fit of each link.
    supported : tuple of str
        The links that the judgements support.
    span : float
        Range of the scores that fit the differences best if they add up. Probabilities have at most 1.
    declared : str or None
        The link that the user declared.
    """

    pairs: int
    links: tuple[LinkFit, ...]
    supported: tuple[str, ...]
    span: float
    declared: str | None = None

    @property
    def proposal(self) -> str | None:
        """The link that the judgements determine; None if they support several."""
        return self.supported[0] if len(self.supported) == 1 else None


def measure_meaning(data: CheckData) -> Meaning | None:
    """Measure which links the judgements support; None if too few pairs can be predicted from others."""
    meaning = meaning_of(data.edges)
    return None if meaning is None else replace(meaning, declared=data.link)


def meaning_of(edges: Edges, *, seed: int = 0) -> Meaning | None:
    """Compare the links on the mean differences of edges.

    Parameters
    ----------
    edges : Edges
        Distinct pairs with their mean differences.
    seed : int, default=0
        Seed of the folds.

    Returns
    -------
    Meaning or None
        None if fewer than 40 pairs can be predicted from others.
    """
    pairs = _most_judged(edges)
    if len(pairs) < _FEWEST or not pairs.c.any():
        return None
    fold = np.random.default_rng(derived_seed(seed, "meaning")).permutation(len(pairs)) % _FOLDS
    is_predicted = np.zeros(len(pairs), dtype=bool)
    for number in range(_FOLDS):
        is_predicted[fold == number] = _is_connected(pairs[fold != number], pairs[fold == number])
    if is_predicted.sum() < _FEWEST:
        return None
    held_out = pairs[is_predicted]
    compared = HeldOutPairs(
        differences=held_out.c,
        weight=held_out.weight,
        clustering=variance_by_items(held_out.left, held_out.right),
    )
    predicted = {}
    penalties = {}
    for link in LINKS:
        penalties[link], predicted[link] = _best_predictions(link, pairs, fold, is_predicted, compared)
    span = float(np.ptp(scores_under("score", pairs, penalties["score"])))
    links = _link_fits(predicted, compared)
    return Meaning(pairs=len(held_out), links=links, supported=_supported(links, span), span=span)


def _most_judged(edges: Edges) -> Judgements:
    """Return the edges as judgements: all, or those among the items with the most judgements."""
    degree = np.bincount(edges.first, minlength=edges.n_items) + np.bincount(edges.second, minlength=edges.n_items)
    rank = np.empty(edges.n_items, dtype=np.int64)
    rank[np.argsort(-degree, kind="stable")] = np.arange(edges.n_items)
    last = np.maximum(rank[edges.first], rank[edges.second])
    limit = np.partition(last, _MOST)[_MOST] if len(last) > _MOST else edges.n_items
    rows = np.flatnonzero(last < limit)
    return Judgements(
        n_items=edges.n_items,
        rows=rows,
        left=edges.first[rows],
        right=edges.second[rows],
        c=edges.mean[rows],
        weight=edges.count[rows] / max(1.0, edges.count[rows].mean()) if len(rows) else np.ones(0),
    )


def _is_connected(train: Judgements, test: Judgements) -> _Mask:
    """Return whether training pairs connect the two items of each test pair, so that they predict it."""
    component = components_of(train.left, train.right, train.n_items)
    mask: _Mask = (component[test.left] == component[test.right]) & (component[test.left] >= 0)
    return mask


def _best_predictions(
    link: str, pairs: Judgements, fold: NDArray[np.int64], is_predicted: _Mask, compared: HeldOutPairs
) -> tuple[float, _Floats]:
    """Return the penalty with the highest R² of held-out pairs, and their predicted differences."""
    results = []
    for penalty in _PENALTIES:
        predicted = np.zeros(len(pairs))
        for number in range(_FOLDS):
            test = pairs[fold == number]
            scores = scores_under(link, pairs[fold != number], penalty)
            predicted[fold == number] = find_link(link).difference(scores[test.left], scores[test.right])
        results.append((compared.r2(predicted[is_predicted]).value, penalty, predicted[is_predicted]))
    _, penalty, predicted = max(results, key=lambda result: result[0])
    return penalty, predicted


def _link_fits(predicted: dict[str, _Floats], compared: HeldOutPairs) -> tuple[LinkFit, ...]:
    r2 = {link: compared.r2(values).value for link, values in predicted.items()}
    best = predicted[max(r2, key=lambda link: r2[link])]
    gaps = {link: compared.r2_gain(best, values) for link, values in predicted.items()}
    return tuple(_link_fit(link, r2[link], gap) for link, gap in gaps.items())


def _link_fit(link: str, r2: float, gap: Estimate) -> LinkFit:
    return LinkFit(link=link, r2=r2, gap=gap.value, gap_error=gap.error)


def _supported(links: tuple[LinkFit, ...], span: float) -> tuple[str, ...]:
    """Return the names of the links that are supported.

    Points are, wherever probabilities are, and probabilities are, wherever points stay within their range.
    """
    names = {fit.link for fit in links if fit.is_supported}
    if "probability" in names or ("score" in names and span <= _LARGEST_SPAN):
        names |= {"probability", "score"}
    return tuple(name for name in LINKS if name in names)


def meaning_statement(measure: Meaning | None) -> str:
    """Return what the judgements say about their meaning, in words."""
    if measure is None:
        return (
            "Too few judgements can be checked against others, so they do not show what they mean. Declare what was "
            "asked, with link='...'; otherwise `fit` compares the links on held-out pairs."
        )
    if measure.proposal is not None:
        link = find_link(measure.proposal)
        return f"The judgements support one meaning, link={link.name!r}: {_REASONS[link.name].format(measure.span)}."
    names = " and ".join(f"link={name!r}" for name in measure.supported)
    return (
        f"The judgements fit {names} about equally well. The question that was asked decides: declare it, with "
        "link='...'; otherwise `fit` compares the links on held-out pairs."
    )


_REASONS = {
    "preference": "differences do not add up, but saturate as shares of votes do",
    "score": "differences add up to scores with a range of {:.2f}, and probabilities have at most 1",
}
"""Link -> why the judgements support it alone."""


def meaning_findings(data: CheckData, measure: Meaning | None) -> list[Finding]:
    """Return a finding if the declared meaning, or probabilities, do not fit the judgements."""
    if measure is None or not measure.supported:
        return []
    if measure.declared is not None:
        return [] if measure.declared in measure.supported else [_contradicted(measure, measure.declared)]
    return [] if "probability" in measure.supported else [_no_probabilities(measure)]


def _contradicted(measure: Meaning, declared: str) -> Finding:
    fit = next(fit for fit in measure.links if fit.link == declared)
    better = " or ".join(f"link={name!r}" for name in measure.supported)
    return Finding(
        kind="other-meaning",
        severity="warning",
        count=measure.pairs,
        text=f"The judgements do not fit link={declared!r}, which was declared: the R² of held-out pairs is lower than "
        f"that of other links by {fit.gap:.3f} ± {fit.gap_error:.3f}.",
        action=f"`fit` uses what was declared. If the question was another one, declare {better}.",
    )


def _no_probabilities(measure: Meaning) -> Finding:
    fit = next(fit for fit in measure.links if fit.link == "probability")
    better = " or ".join(f"link={name!r}" for name in measure.supported)
    return Finding(
        kind="not-probabilities",
        severity="note",
        count=measure.pairs,
        text="The judgements are not differences of class probabilities: as such, they predict held-out pairs worse "
        f"(R² lower by {fit.gap:.3f} ± {fit.gap_error:.3f}). {better} fits better.",
        action=f"`fit` compares the links on held-out pairs. To declare what was asked, pass {better}.",
    )
