"""How well the probabilities of items go with judged pairs: no labels needed."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.metrics import difference_r2, pairwise_accuracy

Vector = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Agreement:
    """What probabilities say of judged pairs, beside the judgements.

    explained: 1 - sum((p' - p - c)^2) / sum(c^2); 1 is perfect, 0 what a constant gets.
    order: the share of pairs that are no ties whose order is right; half where both have one probability.
    order_low, order_high: its 95 % interval (Wilson), as if the pairs were independent.
    error: the root of the mean squared difference between p' - p and c. correlation: of p' - p and c.
    """

    pairs: int
    explained: float
    order: float
    order_low: float
    order_high: float
    error: float
    correlation: float

    def as_dict(self) -> dict[str, Any]:
        """As JSON takes it."""
        return asdict(self)


def agreement(p: Vector, p_prime: Vector, c: Vector, weight: Vector | None = None) -> Agreement:
    """Compare p' - p with the judged differences. Shapes: (n,).

    >>> agreement(np.array([0.2, 0.6]), np.array([0.7, 0.5]), np.array([0.5, -0.1])).order
    1.0
    """
    said, given = (np.asarray(values, dtype=np.float64) for values in (p_prime - p, c))
    order = pairwise_accuracy(said, given)
    low, high = wilson(order, int(np.count_nonzero(given)))
    spread = said.std() > 0 and given.std() > 0
    return Agreement(
        pairs=len(given),
        explained=difference_r2(said, given, weight),
        order=order,
        order_low=low,
        order_high=high,
        error=float(np.sqrt(np.mean((said - given) ** 2))),
        correlation=float(np.corrcoef(said, given)[0, 1]) if spread else float("nan"),
    )


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share that was seen in ``count`` cases (Wilson 1927).

    >>> tuple(round(end, 3) for end in wilson(0.5, 100))
    (0.404, 0.596)
    """
    if not count:
        return 0.0, 1.0
    z2 = 1.959964**2 / count
    centre = (share + z2 / 2) / (1 + z2)
    reach = np.sqrt(share * (1 - share) * z2 + z2**2 / 4) / (1 + z2)
    return float(centre - reach), float(centre + reach)


def difference_reliability(p: Vector, p_prime: Vector, c: Vector, *, bins: int = 10) -> list[tuple[float, float, int]]:
    """For each bin of the predicted difference that is not empty: its mean, the mean of those given, and the number."""
    said = np.asarray(p_prime - p, dtype=np.float64)
    place = np.minimum(((said + 1) / 2 * bins).astype(int), bins - 1)
    return [
        (float(said[place == k].mean()), float(c[place == k].mean()), int((place == k).sum()))
        for k in range(bins)
        if (place == k).any()
    ]
