"""The result of a ranking: scores and ranks with intervals, and what all items share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.io.lookup import find_rows
from confdiff.ranking.proposing import Proposal
from confdiff.spacing import Spacing

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


@dataclass(frozen=True)
class SideBias:
    """The bias towards the item shown second, with its interval; below 0, the item shown first is favoured."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RankedComponent:
    """The sizes of a connected component, and the first groups of its pairs."""

    items: int
    pairs: int
    groups: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Items ranked by scores, the largest connected component first and the best item first in each.

    Scores are in units of the judgements, relative to the mean of their connected component. Items of different
    components cannot be compared: each component has its own ranks.

    Attributes
    ----------
    id : ndarray, shape (N,)
        Ids of the items.
    rank, rank_low, rank_high : ndarray of int, shape (N,)
        Rank in the connected component, from 1, and the ends of its interval.
    score, sd, low, high : ndarray, shape (N,)
        Posterior mean and standard deviation of the score, and the ends of its interval.
    comparisons : ndarray of int, shape (N,)
        Number of comparisons of each item.
    component : ndarray of int, shape (N,)
        Number of the connected component, from 1 for the largest.
    group : ndarray, shape (N,), or None
        The group, if each group is ranked separately.
    level : float
        Probability of the intervals.
    n_pairs : int
        Number of comparisons.
    scale : str
        The scale of the judgements.
    spread : float
        Standard deviation of the scores a priori.
    noise : float
        Standard deviation of the noise of a comparison.
    ridge : float
        Variance of the noise relative to that of the scores.
    ridge_given : bool
        Whether the user gave the ridge.
    side_bias : SideBias or None
        None if no side is declared.
    spacing : Spacing or None
        The values of the grades; None if they are as the scale defines them.
    spacing_text : str
        The same in words.
    annotators : Any
        Estimates of annotators, or None.
    n_components : int
        Number of connected components.
    components : tuple of RankedComponent
        The largest components.
    proposals : tuple of Proposal
        Pairs whose comparison would help most.
    is_exact : bool
        Whether standard deviations are exact; in components of many items they are sampled.
    """

    id: NDArray[Any]
    rank: _Rows
    rank_low: _Rows
    rank_high: _Rows
    score: _Floats
    sd: _Floats
    low: _Floats
    high: _Floats
    comparisons: _Rows
    component: _Rows
    group: NDArray[Any] | None
    level: float
    n_pairs: int
    scale: str
    spread: float
    noise: float
    ridge: float
    ridge_given: bool
    side_bias: SideBias | None
    n_components: int
    components: tuple[RankedComponent, ...]
    proposals: tuple[Proposal, ...]
    is_exact: bool
    annotators: Any = field(default=None)
    spacing: Spacing | None = None
    spacing_text: str = ""

    def __len__(self) -> int:
        return len(self.id)

    def __repr__(self) -> str:
        components = "" if self.n_components == 1 else f", {self.n_components:,} connected components"
        return f"Ranking({len(self):,} items from {self.n_pairs:,} comparisons{components})"

    @property
    def reliability(self) -> float:
        """The fraction of the variance of the scores within components that the comparisons determine, from 0 to 1."""
        prior = self.spread**2 * (len(self) - self.n_components)
        return float(np.clip(1 - np.sum(self.sd**2) / prior, 0, 1)) if prior > 0 else 0.0

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the table of items: name -> column."""
        names = ("rank", "id", "score", "low", "high", "sd", "rank_low", "rank_high", "comparisons", "component")
        table = {name: getattr(self, name) for name in names}
        return table if self.group is None else {"group": self.group, **table}

    def differences(self, left: ArrayLike, right: ArrayLike, side: ArrayLike | None = None) -> _Floats:
        """Return the expected judgements of pairs, in units of the judgements around "equal".

        Parameters
        ----------
        left, right : array-like of shape (n,)
            Ids of the items.
        side : array-like of shape (n,), optional
            +1 where the left item is shown first, -1 where the right one is, 0 if not known.

        Returns
        -------
        ndarray of shape (n,)
            NaN for unknown items, and for items of different connected components.
        """
        if self.group is not None:
            raise ValueError(
                "each group has its own ranking, so an id alone does not name a score; rank without groups."
            )
        first = find_rows(self.id, np.asarray(left))
        second = find_rows(self.id, np.asarray(right))
        is_comparable = (first >= 0) & (second >= 0) & (self.component[first] == self.component[second])
        expected = np.where(is_comparable, self.score[second] - self.score[first], np.nan)
        if side is None or self.side_bias is None:
            return expected
        return expected + self.side_bias.value * np.asarray(side, dtype=np.float64)

    def as_dict(self) -> Mapping[str, Any]:
        """Return the ranking as a dictionary that can be written as JSON."""
        columns = {name: column.tolist() for name, column in self.columns().items()}
        side = self.side_bias
        return {
            "items": [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)],
            "pairs": self.n_pairs,
            "scale": self.scale,
            "level": self.level,
            "spread": self.spread,
            "noise": self.noise,
            "ridge": self.ridge,
            "ridge_given": self.ridge_given,
            "reliability": self.reliability,
            "side_bias": None if side is None else vars(side),
            "spacing": None if self.spacing is None else self.spacing.to_json(),
            "annotators": None if self.annotators is None else self.annotators.to_dict(),
            "components": {"count": self.n_components, "largest": [vars(component) for component in self.components]},
            "proposals": [vars(proposal) for proposal in self.proposals],
            "sd": "exact" if self.is_exact else "sampled in components of many items",
        }
