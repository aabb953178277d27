r"""Propose the pairs whose comparison would help most.

Pairs that join connected components come first, because without them their items cannot be compared. Then follow the
pairs of a component whose comparison is expected to reduce the sum of the variances of its scores most. With
:math:`x = A^{-1} (e_j - e_i)`, one comparison of weight 1 reduces it by :math:`v \|x\|^2 / (1 + x_j - x_i)`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.ranking.blocks import ComponentBlock
from confdiff.ranking.scoring import Scores

_Floats = NDArray[np.float64]
_MOST_CANDIDATES = 64  # items of a component that are considered


@dataclass(frozen=True)
class Proposal:
    """A pair to compare next.

    Attributes
    ----------
    left, right : Any
        Ids of the items.
    reason : str
        ``"joins components"`` or ``"reduces uncertainty"``.
    reduction : float or None
        The fraction of the variance of the scores of the component that one comparison removes.
    group : str or None
        The group, if each is ranked separately.
    """

    left: Any
    right: Any
    reason: str
    reduction: float | None = None
    group: str | None = None


def joining_pairs(scores: Scores, count: int) -> list[tuple[int, int]]:
    """Return pairs of rows that join the largest component with others: of each, its most certain item."""
    surest = [int(block.rows[np.argmin(scores.sd[block.rows])]) for block in scores.blocks[: count + 1]]
    return [(surest[0], other) for other in surest[1:]]


def informative_pairs(scores: Scores, count: int) -> list[tuple[int, int, float]]:
    """Return pairs of rows of the largest component and the reduction of each; no item occurs twice."""
    block = scores.blocks[0]
    sd = scores.sd[block.rows]
    candidates = np.argsort(-sd, kind="stable")[:_MOST_CANDIDATES]
    reduction = _reductions(block, candidates, scores.estimates.ridge)
    total = float((sd**2).sum()) / scores.estimates.noise
    pairs: list[tuple[int, int, float]] = []
    used: set[int] = set()
    for flat in np.argsort(-reduction, axis=None, kind="stable").tolist():
        i, j = divmod(flat, len(candidates))
        if len(pairs) == count or not np.isfinite(reduction[i, j]):
            break
        if i not in used and j not in used:
            used |= {i, j}
            rows = block.rows[candidates[[i, j]]].tolist()
            pairs.append((rows[0], rows[1], float(reduction[i, j]) / total))
    return pairs


def _reductions(block: ComponentBlock, candidates: NDArray[np.int64], ridge: float) -> _Floats:
    """Return the reduction of the sum of variances by each pair of candidates; minus infinity below the diagonal."""
    units = np.zeros((len(block.rows), len(candidates)))
    units[candidates, np.arange(len(candidates))] = 1
    columns = block.solve(ridge, units, is_rough=True)
    products = columns.T @ columns
    inverse = columns[candidates]
    squares = np.diag(products)[:, None] + np.diag(products) - 2 * products
    variances = np.diag(inverse)[:, None] + np.diag(inverse) - 2 * inverse
    reduction: _Floats = squares / (1 + variances)
    reduction[np.tril_indices(len(candidates))] = -np.inf
    return reduction
