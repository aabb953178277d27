"""The graph of judged pairs: its edges, and its connected components.

Symbols: N items, n judgements, m edges. An edge u < v holds all judgements of the items u and v, in either order. Each
has the sign of a difference from u to v.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Judgements:
    """Judgements that can be used.

    Attributes
    ----------
    n_items : int
        Number of items N.
    rows : ndarray of int, shape (n,)
        Position of each judgement in the table of pairs.
    left, right : ndarray of int, shape (n,)
        Rows of the items.
    c : ndarray, shape (n,)
        Differences in [-1, 1].
    weight : ndarray, shape (n,)
        Weights, at most 1.
    """

    n_items: int
    rows: _Rows
    left: _Rows
    right: _Rows
    c: _Floats
    weight: _Floats

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, mask: NDArray[np.bool_]) -> "Judgements":
        return Judgements(
            n_items=self.n_items,
            rows=self.rows[mask],
            left=self.left[mask],
            right=self.right[mask],
            c=self.c[mask],
            weight=self.weight[mask],
        )


@dataclass(frozen=True, eq=False)
class Edges:
    """The distinct pairs among judgements, sorted by u and then by v.

    Attributes
    ----------
    n_items : int
        Number of items N.
    first, second : ndarray of int, shape (m,)
        The items u < v of each edge.
    mean : ndarray, shape (m,)
        Mean of the differences from u to v.
    count : ndarray of int, shape (m,)
        Number of judgements of each edge.
    of : ndarray of int, shape (n,)
        Edge of each judgement.
    oriented : ndarray, shape (n,)
        Difference of each judgement from u to v.
    forward : ndarray of bool, shape (n,)
        Whether u came first in the judgement.
    """

    n_items: int
    first: _Rows
    second: _Rows
    mean: _Floats
    count: _Rows
    of: _Rows
    oriented: _Floats
    forward: NDArray[np.bool_]


def edges_of(judgements: Judgements) -> Edges:
    """Return the distinct pairs among judgements."""
    n_items = judgements.n_items
    forward = judgements.left < judgements.right
    low = np.minimum(judgements.left, judgements.right)
    high = np.maximum(judgements.left, judgements.right)
    oriented = np.where(forward, judgements.c, -judgements.c)
    keys, of, count = np.unique(low * n_items + high, return_inverse=True, return_counts=True)
    first, second = np.divmod(keys, n_items)
    return Edges(
        n_items=n_items,
        first=first,
        second=second,
        mean=np.bincount(of, oriented) / count,
        count=count,
        of=of,
        oriented=oriented,
        forward=forward,
    )


def components_of(left: _Rows, right: _Rows, n_items: int) -> _Rows:
    """Return the connected component of each item, with 0 for the largest and -1 for items that occur in no pair.

    Parameters
    ----------
    left, right : ndarray of int, shape (n,)
        Rows of the items of each pair.
    n_items : int
        Number of items N.

    Returns
    -------
    ndarray of int, shape (N,)

    Examples
    --------
    >>> components_of(np.array([0, 2]), np.array([1, 4]), 5)
    array([ 0,  0,  1, -1,  1])
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(left), dtype=bool), (left, right)), shape=(n_items, n_items))
    labels = connected_components(graph, directed=False)[1]
    compared = np.zeros(n_items, dtype=bool)
    compared[left] = True
    compared[right] = True
    sizes = np.bincount(labels[compared], minlength=n_items)
    rank = np.empty(n_items, dtype=np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(n_items)
    return np.where(compared, rank[labels], -1)
