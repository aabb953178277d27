"""Fit one score per item, with its uncertainty and that of its rank."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.ranking.blocks import ComponentBlock, new_block
from confdiff.ranking.design import ComparisonDesign
from confdiff.ranking.evidence import Estimates, RidgeEvidence

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_DRAWS = 1_000  # of the scores of a component, for the intervals of ranks
_FEW_DRAWS = 100  # in components of many items
_MANY = 10_000
_EQUAL = 1e-9  # scores that differ less, relative to the largest, have the same rank


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of N items with their uncertainty.

    Attributes
    ----------
    score, sd : ndarray, shape (N,)
        Posterior mean and standard deviation, relative to the mean of the connected component.
    rank, rank_low, rank_high : ndarray of int, shape (N,)
        Rank in the connected component, from 1 for the highest score, and the ends of its interval.
    component : ndarray of int, shape (N,)
        Connected component, from 0 for the largest.
    estimates : Estimates
        The parameters that all items share.
    blocks : tuple of ComponentBlock
        The connected components.
    half_width : float
        Half the width of an interval of score, in standard deviations.
    """

    score: _Floats
    sd: _Floats
    rank: _Rows
    rank_low: _Rows
    rank_high: _Rows
    component: _Rows
    estimates: Estimates
    blocks: tuple[ComponentBlock, ...]
    half_width: float


def fit_scores(
    design: ComparisonDesign, component: _Rows, *, ridge: float | None = None, level: float = 0.95, seed: int = 0
) -> Scores:
    """Fit scores by ridge regression.

    Parameters
    ----------
    design : ComparisonDesign
        The comparisons. Every item occurs in at least one.
    component : ndarray of int, shape (N,)
        The connected component of each item, from 0.
    ridge : float or None
        The strength of the penalty, in comparisons; learned by marginal likelihood if None.
    level : float
        Probability of the intervals.
    seed : int
        Of the draws.
    """
    from scipy.stats import t

    rng = np.random.default_rng(seed)
    blocks = split_design(design, component)
    evidence = RidgeEvidence(design, blocks, rng)
    estimates = evidence.maximise() if ridge is None else evidence.estimates(ridge)
    sums = np.stack([design.sums(design.c), _side_sums(design)], axis=1)
    score = np.empty(design.n_items)
    variance = np.empty(design.n_items)
    ranks = np.empty((3, design.n_items), dtype=np.int64)
    for block in blocks:
        of_c, of_side = block.solve(estimates.ridge, sums[block.rows]).T
        score[block.rows] = _centred(of_c - estimates.side_bias * of_side)
        own_variance, draws = block.posterior(estimates.ridge, _n_draws(design.n_items), rng)
        shift = _centred(of_side)
        variance[block.rows] = own_variance * estimates.noise + shift**2 * estimates.side_bias_variance
        draws *= np.sqrt(estimates.noise)
        draws += np.outer(shift, rng.normal(0, np.sqrt(estimates.side_bias_variance), draws.shape[1]))
        draws *= _t_factors(estimates.degrees_of_freedom, draws.shape[1], rng)
        ranks[:, block.rows] = _ranks(score[block.rows], draws, level)
    return Scores(
        score=score,
        sd=np.sqrt(variance),
        rank=ranks[0],
        rank_low=ranks[1],
        rank_high=ranks[2],
        component=component,
        estimates=estimates,
        blocks=tuple(blocks),
        half_width=float(t.ppf((1 + level) / 2, estimates.degrees_of_freedom)),
    )


def _side_sums(design: ComparisonDesign) -> _Floats:
    return np.zeros(design.n_items) if design.side is None else design.sums(design.side)


def _centred(values: _Floats) -> _Floats:
    centred: _Floats = values - values.mean()
    return centred


def _t_factors(degrees: float, count: int, rng: np.random.Generator) -> _Floats:
    """Return factors that turn normal draws into those of a t distribution, as the noise is estimated."""
    factors: _Floats = np.sqrt(degrees / rng.chisquare(degrees, count))
    return factors


def _n_draws(n_items: int) -> int:
    return _FEW_DRAWS if n_items > _MANY else _DRAWS


def _ranks(score: _Floats, draws: _Floats, level: float) -> NDArray[np.int64]:
    """Return the ranks and the ends of their intervals, shape (3, n); equal scores share the best rank."""
    from scipy.stats import rankdata

    rank = rankdata(-_rounded(score), method="min")
    drawn = np.empty(draws.shape, dtype=np.int32)
    order = np.argsort(-(score[:, None] + draws), axis=0)
    np.put_along_axis(drawn, order, np.arange(1, len(score) + 1, dtype=np.int32)[:, None], axis=0)
    tail = (1 - level) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], axis=1)
    return np.stack([rank, np.minimum(np.floor(low), rank), np.maximum(np.ceil(high), rank)]).astype(np.int64)


def _rounded(score: _Floats) -> _Floats:
    """Return scores without digits that depend on the order of the computation."""
    unit = _EQUAL * (float(np.abs(score).max()) or 1.0)
    rounded: _Floats = np.round(score / unit)
    return rounded


def split_design(design: ComparisonDesign, component: _Rows) -> Sequence[ComponentBlock]:
    """Return the connected components of a design, the largest first."""
    by_item = np.argsort(component, kind="stable")
    sizes = np.bincount(component)
    ends = np.cumsum(sizes)
    position = np.empty(design.n_items, dtype=np.int64)
    position[by_item] = np.arange(design.n_items) - np.repeat(ends - sizes, sizes)
    of_pair = component[design.left]
    by_pair = np.argsort(of_pair, kind="stable")
    pair_sizes = np.bincount(of_pair, minlength=len(sizes))
    pair_ends = np.cumsum(pair_sizes)
    blocks = []
    for number, size in enumerate(sizes.tolist()):
        rows = by_item[ends[number] - size : ends[number]]
        comparisons = by_pair[pair_ends[number] - pair_sizes[number] : pair_ends[number]]
        blocks.append(new_block(rows, design.incidence(comparisons, position, size)))
    return blocks
