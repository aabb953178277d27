"""What pairs look like: numbers that can be read by people and by programs."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs

NEAR_TIE, NEAR_CERTAIN = 0.05, 0.95
CENTRES = tuple(tenth / 10 for tenth in range(-10, 11))  # of the bins of the histogram


@dataclass(frozen=True)
class PairsDescription:
    """What pairs look like.

    histogram: how many differences lie around each of -1, -0.9, ... 1; the bin around 0 holds the near ties.
    near_ties, near_certain: the share of differences with a size below .05, and above .95.
    components: into how many parts the graph of pairs falls; offsets between parts are not identified.
    beyond: the share of differences beyond [-1, 1], which only unclipped noise gives.
    prior_interval: where the class prior lies if the differences are exact and the items of a pair independent, as then
        pi (1 - pi) >= E[c^2] / 2, up to chance (95 %). None where no prior allows differences as large as these.
    prior: the share of positives among the items of the pairs, where labels are known.
    mean_posterior: the mean posterior of the items of the pairs, where posteriors are known.
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
        """As JSON takes it."""
        return asdict(self)


def describe_pairs(pairs: Pairs) -> PairsDescription:
    """What these pairs look like.

    >>> pairs = Pairs([[0.0], [1.0], [2.0]], left=[0, 1], right=[1, 2], difference=[0.8, 0.0])
    >>> describe_pairs(pairs).near_ties
    0.5
    """
    if pairs.has_vectors:
        raise ValueError("these pairs have differences of several classes: describe pairs.of_class(k), one at a time.")
    (c,) = pairs.targets("differences").double().numpy()
    size = np.abs(c)
    edges = np.linspace(-1.05, 1.05, len(CENTRES) + 1)
    return PairsDescription(
        n_pairs=len(pairs),
        n_items=len(pairs.compact().items),
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
    """The priors with pi (1 - pi) >= E[c^2] / 2: c is a difference of two posteriors, whose variance is at most that.

    What enters is not the mean of the squares but the end of its one-sided confidence interval.

    >>> _prior_interval(np.full(9, 0.32)), _prior_interval(np.zeros(9)), _prior_interval(np.ones(9))
    ((0.2, 0.8), (0.0, 1.0), None)
    """
    margin = 1.645 * float(squares.std()) / math.sqrt(len(squares))
    inside = 1 - 2 * max(0.0, float(squares.mean()) - margin)
    if inside < 0:
        return None
    return round(0.5 - math.sqrt(inside) / 2, 6), round(0.5 + math.sqrt(inside) / 2, 6)
