"""Pairs that close triangles, so that judgements can be checked against each other."""

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.pair_keys import is_in_sorted, pair_keys

_Ints = NDArray[np.int64]
_ROUNDS = 30


def closing_pairs(pairs: _Ints, n_items: int, count: int, rng: np.random.Generator) -> _Ints:
    """Return new pairs whose items have a common partner, spread over the items.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2)
        Pairs that exist already.
    n_items : int
        Number of items.
    count : int
        Number of pairs to add.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    ndarray of int, shape (m, 2)
        Fewer than ``count`` pairs if not enough triangles can be closed.
    """
    start, neighbours = _neighbour_lists(pairs, n_items)
    taken = np.sort(pair_keys(pairs, n_items))
    uses = np.zeros(n_items, dtype=np.int64)
    closing = np.empty((0, 2), dtype=np.int64)
    for _ in range(_ROUNDS):
        missing = count - len(closing)
        if missing <= 0:
            break
        candidates = _two_step_pairs(start, neighbours, 4 * missing + 20, rng)
        fresh = candidates[~is_in_sorted(pair_keys(candidates, n_items), taken)]
        added = _spread(fresh, uses, missing)
        closing = np.concatenate([closing, added])
        taken = np.sort(np.concatenate([taken, pair_keys(added, n_items)]))
    return closing


def _neighbour_lists(pairs: _Ints, n_items: int) -> tuple[_Ints, _Ints]:
    """Return where the partners of each item start, and the partners of all items in order."""
    both = np.concatenate([pairs, pairs[:, ::-1]])
    by_item = both[np.argsort(both[:, 0], kind="stable")]
    start = np.concatenate([[0], np.cumsum(np.bincount(by_item[:, 0], minlength=n_items))])
    return start, by_item[:, 1]


def _two_step_pairs(start: _Ints, neighbours: _Ints, count: int, rng: np.random.Generator) -> _Ints:
    """Draw pairs of different partners of random items."""
    degree = np.diff(start)
    centres = np.flatnonzero(degree >= 2)
    if not len(centres):
        return np.empty((0, 2), dtype=np.int64)
    centre = rng.choice(centres, count)
    first = rng.integers(0, degree[centre])
    second = (first + rng.integers(1, degree[centre])) % degree[centre]
    return np.stack([neighbours[start[centre] + first], neighbours[start[centre] + second]], axis=1)


def _spread(candidates: _Ints, uses: _Ints, count: int) -> _Ints:
    """Return up to ``count`` candidates, those of the least-used items first; count the uses in place."""
    n_items = len(uses)
    load = uses[candidates].sum(axis=1)
    ordered = candidates[np.argsort(load, kind="stable")]
    keys = pair_keys(ordered, n_items)
    ordered = ordered[np.sort(np.unique(keys, return_index=True)[1])]
    first_use = _is_first_use(ordered)
    chosen = ordered[first_use][:count]
    np.add.at(uses, chosen.ravel(), 1)
    return chosen


def _is_first_use(pairs: _Ints) -> NDArray[np.bool_]:
    """Return which pairs have two items that no earlier pair has."""
    first = np.zeros(2 * len(pairs), dtype=bool)
    first[np.unique(pairs.ravel(), return_index=True)[1]] = True
    both = first.reshape(-1, 2)
    return both[:, 0] & both[:, 1]
