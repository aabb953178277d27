"""The graph of judged pairs: what is judged more than once, and parts that no pair connects.

Symbols: N items, n judgements, m edges. An edge u < v holds the judgements of the items u and v, whichever of them came
first, each turned so that its difference goes from u to v.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs.describe import NEAR_TIE

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judgements that can be used.

    n_items: N. rows: (n,) where each stands in the table of pairs. left, right: (n,) rows of the items.
    c: (n,) differences in [-1, 1]. weight: (n,) how much each counts.
    """

    n_items: int
    rows: Rows
    left: Rows
    right: Rows
    c: Floats
    weight: Floats

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, chosen: NDArray[np.bool_]) -> "Judgements":
        rows, left, right = self.rows[chosen], self.left[chosen], self.right[chosen]
        return Judgements(self.n_items, rows, left, right, self.c[chosen], self.weight[chosen])


@dataclass(frozen=True, eq=False)
class Edges:
    """The different pairs among judgements, sorted by u and then by v.

    first, second: (m,) u < v. mean: (m,) of the differences of each. count: (m,) of its judgements.
    of: (n,) the edge of each judgement. turned: (n,) its difference from u to v. forward: (n,) whether u came first.
    """

    n_items: int
    first: Rows
    second: Rows
    mean: Floats
    count: Rows
    of: Rows
    turned: Floats
    forward: NDArray[np.bool_]


def edges_of(judged: Judgements) -> Edges:
    """The different pairs among judgements."""
    forward = judged.left < judged.right
    low, high = np.minimum(judged.left, judged.right), np.maximum(judged.left, judged.right)
    turned = np.where(forward, judged.c, -judged.c)
    keys, of, count = np.unique(low * judged.n_items + high, return_inverse=True, return_counts=True)
    first, second = np.divmod(keys, judged.n_items)
    return Edges(judged.n_items, first, second, np.bincount(of, turned) / count, count, of, turned, forward)


@dataclass(frozen=True)
class Repeats:
    """Pairs that were judged more than once.

    pairs, judgements: how many such pairs, and how many judgements of them. contradictions: how many of these pairs
    have judgements of both signs, near ties apart. spread: the standard deviation of the judgements of one pair,
    pooled. both_ways: how many were judged as (a, b) and as (b, a). asymmetry, largest_asymmetry: the mean and the
    largest |c(a, b) + c(b, a)|, which would be 0. second_favoured: the mean of (c(a, b) + c(b, a)) / 2 without the
    bars: what standing second adds.
    """

    pairs: int
    judgements: int
    contradictions: int
    spread: float | None
    both_ways: int
    asymmetry: float | None
    largest_asymmetry: float | None
    second_favoured: float | None


def repeats_of(edges: Edges) -> Repeats:
    """How far judgements of the same pair agree."""
    many = edges.count > 1
    spare = int((edges.count - 1).sum())
    squares = float(((edges.turned - edges.mean[edges.of]) ** 2).sum())
    sums = both_ways(edges)
    sums = sums[np.isfinite(sums)]
    return Repeats(
        pairs=int(many.sum()),
        judgements=int(edges.count[many].sum()),
        contradictions=int(contradicted(edges).sum()),
        spread=(squares / spare) ** 0.5 if spare else None,
        both_ways=len(sums),
        asymmetry=float(np.abs(sums).mean()) if len(sums) else None,
        largest_asymmetry=float(np.abs(sums).max()) if len(sums) else None,
        second_favoured=float(sums.mean() / 2) if len(sums) else None,
    )


def contradicted(edges: Edges) -> NDArray[np.bool_]:
    """(m,) which edges have judgements of both signs, near ties apart."""
    up, down = (np.bincount(edges.of, edges.turned * sign >= NEAR_TIE, len(edges.mean)) for sign in (1, -1))
    both: NDArray[np.bool_] = (up > 0) & (down > 0)
    return both


def both_ways(edges: Edges) -> Floats:
    """(m,) c(a, b) + c(b, a), each the mean of its judgements; NaN for edges that were not judged both ways round."""
    sums = np.zeros(len(edges.mean))
    for way, sign in ((edges.forward, 1), (~edges.forward, -1)):
        count = np.bincount(edges.of, way, len(sums))
        sums += sign * np.bincount(edges.of, edges.turned * way, len(sums)) / np.where(count > 0, count, np.nan)
    return sums


def parts_of(left: Rows, right: Rows, n_items: int) -> Rows:
    """(N,) the part that each item lies in, the largest being 0; -1 for items that stand in no pair.

    >>> parts_of(np.array([0, 2]), np.array([1, 4]), 5)
    array([ 0,  0,  1, -1,  1])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(n_items, n_items))
    found = connected_components(graph, directed=False)[1]
    compared = np.zeros(n_items, dtype=bool)
    compared[left] = compared[right] = True
    sizes = np.bincount(found[compared], minlength=n_items)
    rank = np.empty(n_items, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_items)
    return np.where(compared, rank[found], -1)


@dataclass(frozen=True)
class Part:
    """Items that pairs connect with each other: how many, by how many pairs, and the first groups of these pairs."""

    items: int
    pairs: int
    groups: tuple[str, ...]


@dataclass(frozen=True)
class Parts:
    """Into what parts the compared items fall. Differences do not tell the offsets between parts.

    number: of parts. largest: how many items the largest has. in_no_pair: how many items stand in no pair.
    groups: how many groups the pairs name. by_group: whether each part is one group and each group one part.
    shown: the largest parts.
    """

    number: int
    largest: int
    in_no_pair: int
    groups: int
    by_group: bool
    shown: tuple[Part, ...]


def describe_parts(parts: Rows, left: Rows, names: list[str], group: Rows, *, most: int = 10) -> Parts:
    """The parts of :func:`parts_of`; left: (n,) an item of each pair; group: (n,) which of the names it has, or -1."""
    of, items = parts[left], np.bincount(parts[parts >= 0])
    pairs, shown = np.bincount(of), []
    for part in range(min(most, len(items))):
        found = np.unique(group[(of == part) & (group >= 0)])
        shown.append(Part(int(items[part]), int(pairs[part]), tuple(names[code] for code in found[:3])))
    together = len(np.unique(of * (len(names) + 1) + group))  # different parts and groups that meet
    by_group = together == len(items) == len(names) and bool((group >= 0).all())
    largest, in_no_pair = int(items.max(initial=0)), int((parts < 0).sum())
    return Parts(len(items), largest, in_no_pair, len(names), by_group, tuple(shown))
