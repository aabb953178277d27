"""Summaries of pairs: histogram, near ties, connected components and the class priors that the differences allow."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.pairs import Pairs

NEAR_TIE = 0.05
"""A pair is a near tie if its difference is smaller than this in size."""
NEAR_CERTAIN = 0.95
"""A pair is nearly certain if its difference is larger than this in size."""
CENTRES = tuple(tenth / 10 for tenth in range(-10, 11))
"""Centres of the bins of the histogram."""


@dataclass(frozen=True)
class PairsDescription:
    """Summary of pairs.

    Attributes
    ----------
    n_pairs, n_items : int
        Number of pairs, and of items that occur in them.
    components : int
        Number of connected components of the graph of pairs; offsets between components are not identified.
    mean, standard_deviation, mean_size, least, greatest : float
        Statistics of the differences c; ``mean_size`` is the mean of abs(c).
    near_ties, near_certain : float
        Fraction of the differences with a size below .05, and above .95.
    beyond : float
        Fraction of the differences outside [-1, 1], which occur only with unclipped noise.
    prior_interval : tuple of two floats or None
        95% interval of the class prior if the differences are exact and the items of a pair independent: then
        pi (1 - pi) >= E[c^2] / 2. None if no prior allows differences as large as these.
    prior : float or None
        Fraction of positives among the items of the pairs, if labels are known.
    mean_posterior : float or None
        Mean posterior of the items of the pairs, if posteriors are known.
    histogram : tuple of 21 ints
        Number of differences around each of -1, -0.9, ... 1; the bin around 0 holds the near ties.
    """

    n_pairs: int
    n_items: int
    components: int
    mean: float
    standard_deviation: float
    mean_size: float
    least: float
    greatest: float
    near_ties: float
    near_certain: float
    beyond: float
    prior_interval: tuple[float, float] | None
    prior: float | None
    mean_posterior: float | None
    histogram: tuple[int, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the summary as a dictionary that can be written as JSON."""
        return asdict(self)


def describe_pairs(pairs: Pairs) -> PairsDescription:
    """Summarise pairs.

    Parameters
    ----------
    pairs : Pairs
        Pairs with one difference each.

    Returns
    -------
    PairsDescription

    Raises
    ------
    ValueError
        If the pairs have no differences, or differences of several classes.

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0], [2.0]], left=[0, 1], right=[1, 2], difference=[0.8, 0.0])
    >>> describe_pairs(pairs).near_ties
    0.5
    """
    if pairs.has_vectors:
        raise ValueError("these pairs have differences of several classes; pass one class, pairs.of_class(k).")
    pairs = pairs.carrying("differences")
    (c,) = pairs.targets("differences").double().numpy()
    size = np.abs(c)
    edges = np.linspace(-1.05, 1.05, len(CENTRES) + 1)
    return PairsDescription(
        n_pairs=len(pairs),
        n_items=len(torch.unique(torch.stack([pairs.left, pairs.right]))),
        components=pairs.n_components(),
        mean=float(c.mean()),
        standard_deviation=float(c.std()),
        mean_size=float(size.mean()),
        least=float(c.min()),
        greatest=float(c.max()),
        near_ties=float((size < NEAR_TIE).mean()),
        near_certain=float((size > NEAR_CERTAIN).mean()),
        beyond=float((size > 1 + 1e-6).mean()),
        prior_interval=_prior_interval(c**2),
        prior=None if pairs.labels is None else float(pairs.targets("labels").double().mean()),
        mean_posterior=None if pairs.posteriors is None else float(pairs.targets("posteriors").double().mean()),
        histogram=tuple(np.histogram(c.clip(-1, 1), edges)[0].tolist()),
    )


def _prior_interval(squares: NDArray[np.float64]) -> tuple[float, float] | None:
    """Return the interval of priors with pi (1 - pi) >= E[c^2] / 2, from the squares of the differences.

    c is a difference of two independent posteriors, and the variance of each is at most pi (1 - pi). E[c^2] is
    replaced by the lower end of its one-sided 95% confidence interval.

    >>> _prior_interval(np.full(9, 0.32)), _prior_interval(np.zeros(9)), _prior_interval(np.ones(9))
    ((0.2, 0.8), (0.0, 1.0), None)
    """
    margin = 1.645 * float(squares.std()) / math.sqrt(len(squares))
    inside = 1 - 2 * max(0.0, float(squares.mean()) - margin)
    if inside < 0:
        return None
    return round(0.5 - math.sqrt(inside) / 2, 6), round(0.5 + math.sqrt(inside) / 2, 6)
