"""Balanced connected random pairs: a spanning path, then pairs of the least-seen items.

The pairs are made from a sequence of item numbers in which every item comes before any item comes again: consecutive
numbers are a pair. After any number of pairs, the items have occurred equally often, up to one. Pairs of an item with
itself and pairs that exist already are repaired by exchanging partners with other new pairs, which changes no count.
"""

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.pair_keys import (
    all_pair_keys,
    is_in_sorted,
    number_of_pairs,
    pair_keys,
    pairs_of_keys,
)

_Ints = NDArray[np.int64]
_ATTEMPTS = 20
_EXCHANGES = 200
_NEAR_EXCHANGES = 20  # the first exchanges are between neighbours, which are mostly of the same group
_REACH = 8
_ACROSS_GROUPS = 0.2  # fraction of the items of a round that are paired across groups
NO_PAIRS: _Ints = np.empty((0, 2), dtype=np.int64)


def balanced_pairs(n_items: int, count: int, rng: np.random.Generator, groups: _Ints | None = None) -> _Ints:
    """Draw different pairs that connect all items, and in which the items occur equally often, up to one.

    Parameters
    ----------
    n_items : int
        Number of items.
    count : int
        Number of pairs, at most all that exist. Fewer than ``n_items - 1`` pairs cannot connect all items.
    rng : numpy.random.Generator
        Source of random numbers.
    groups : ndarray of int, shape (n_items,), optional
        Group of each item. Every group is connected, the groups are connected, and most pairs are within a group.

    Returns
    -------
    ndarray of int, shape (count, 2)
        The pairs; the first ``n_items - 1`` of them connect all items.
    """
    if 2 * count > number_of_pairs(n_items):
        return _dense_pairs(n_items, count, rng)
    if count < n_items - 1:
        return extended_pairs(NO_PAIRS, n_items, count, rng, groups)
    path = spanning_path(n_items, rng, groups)
    return np.concatenate([path, extended_pairs(path, n_items, count - len(path), rng, groups)])


def spanning_path(n_items: int, rng: np.random.Generator, groups: _Ints | None = None) -> _Ints:
    """Return the pairs of neighbours in a random order of the items, group after group.

    Every second pair comes first: after half of the pairs every item has occurred, and after all of them all items are
    connected.
    """
    order = _random_order(np.arange(n_items), rng, groups, across=0)
    path = np.stack([order[:-1], order[1:]], axis=1)
    return np.concatenate([path[::2], path[1::2]])


def extended_pairs(
    pairs: _Ints, n_items: int, count: int, rng: np.random.Generator, groups: _Ints | None = None
) -> _Ints:
    """Return ``count`` new pairs of the items that occur least often in ``pairs``.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2)
        Pairs that exist already.
    n_items, count, rng, groups
        As in :func:`balanced_pairs`.

    Returns
    -------
    ndarray of int, shape (count, 2)
        Pairs of different items, none of them in ``pairs`` and none twice.
    """
    existing = np.sort(pair_keys(pairs, n_items))
    occurrences = np.bincount(pairs.ravel(), minlength=n_items)
    for _ in range(_ATTEMPTS):
        sequence = _least_seen_first(occurrences, 2 * count, rng, groups)
        drawn = sequence.reshape(count, 2)
        faulty = _exchange_partners(drawn, existing, n_items, rng)
        if not faulty.any():
            return drawn
    return _with_replacements(drawn, faulty, pairs, n_items, rng)


def _least_seen_first(occurrences: _Ints, length: int, rng: np.random.Generator, groups: _Ints | None) -> _Ints:
    """Return item numbers such that every item first reaches the highest count, and then all come in rounds."""
    rounds = []
    missing = length
    level = int(occurrences.min())
    while missing > 0:
        items = np.flatnonzero(occurrences <= level)
        rounds.append(_random_order(items, rng, groups, across=_ACROSS_GROUPS))
        missing -= len(items)
        level += 1
    return np.concatenate(rounds)[:length] if rounds else np.empty(0, dtype=np.int64)


def _random_order(items: _Ints, rng: np.random.Generator, groups: _Ints | None, *, across: float) -> _Ints:
    """Return items in random order, group after group but for a fraction ``across`` at the end."""
    shuffled = rng.permutation(items)
    if groups is None:
        return shuffled
    n_across = int(across * len(shuffled))
    mixed = shuffled[:n_across]
    ordered = shuffled[n_across:]
    rank = rng.permutation(int(groups.max()) + 1)
    by_group = np.argsort(rank[groups[ordered]], kind="stable")
    return np.concatenate([ordered[by_group], mixed])


def _exchange_partners(drawn: _Ints, existing: _Ints, n_items: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Exchange partners in place until no pair is faulty; return which pairs still are."""
    for exchange in range(_EXCHANGES):
        faulty = _faulty_pairs(drawn, existing, n_items)
        rows = np.flatnonzero(faulty)
        if not len(rows):
            break
        partners = _proposed_partners(rows, len(drawn), rng, near=exchange < _NEAR_EXCHANGES)
        rows, partners = _disjoint(rows, partners, faulty)
        _accept_exchanges(drawn, rows, partners, existing, n_items, rng)
    else:
        faulty = _faulty_pairs(drawn, existing, n_items)
    return faulty


def _faulty_pairs(drawn: _Ints, existing: _Ints, n_items: int) -> NDArray[np.bool_]:
    """Return which pairs have one item twice, exist already, or were drawn before."""
    keys = pair_keys(drawn, n_items)
    first = np.zeros(len(keys), dtype=bool)
    first[np.unique(keys, return_index=True)[1]] = True
    faulty: NDArray[np.bool_] = ~first | (drawn[:, 0] == drawn[:, 1]) | is_in_sorted(keys, existing)
    return faulty


def _proposed_partners(rows: _Ints, count: int, rng: np.random.Generator, *, near: bool) -> _Ints:
    if not near:
        return rng.integers(0, count, len(rows))
    steps = rng.integers(1, _REACH + 1, len(rows)) * rng.choice([-1, 1], len(rows))
    partners: _Ints = (rows + steps).clip(0, count - 1)
    return partners


def _disjoint(rows: _Ints, partners: _Ints, faulty: NDArray[np.bool_]) -> tuple[_Ints, _Ints]:
    """Return the proposals whose partners are sound and wanted only once."""
    first = np.unique(partners, return_index=True)[1]
    usable = first[~faulty[partners[first]]]
    return rows[usable], partners[usable]


def _accept_exchanges(
    drawn: _Ints, rows: _Ints, partners: _Ints, existing: _Ints, n_items: int, rng: np.random.Generator
) -> None:
    """Exchange one item of each row with one of its partner where both new pairs are sound."""
    side = rng.integers(0, 2, len(rows))
    mine = np.stack([drawn[rows, 0], drawn[partners, side]], axis=1)
    theirs = np.stack([drawn[partners, 1 - side], drawn[rows, 1]], axis=1)
    taken = np.sort(np.concatenate([existing, pair_keys(drawn, n_items)]))
    proposed = np.concatenate([mine, theirs])
    keys = pair_keys(proposed, n_items)
    _, position, number = np.unique(keys, return_inverse=True, return_counts=True)
    sound = (proposed[:, 0] != proposed[:, 1]) & (number[position] == 1) & ~is_in_sorted(keys, taken)
    both = sound[: len(rows)] & sound[len(rows) :]
    drawn[rows[both]] = mine[both]
    drawn[partners[both]] = theirs[both]


def _with_replacements(
    drawn: _Ints, faulty: NDArray[np.bool_], pairs: _Ints, n_items: int, rng: np.random.Generator
) -> _Ints:
    """Replace faulty pairs by the free pairs whose items occur least often."""
    sound = drawn[~faulty]
    taken = np.sort(pair_keys(np.concatenate([pairs, sound]), n_items))
    occurrences = np.bincount(np.concatenate([pairs, sound]).ravel(), minlength=n_items)
    added: list[_Ints] = []
    for _ in range(int(faulty.sum())):
        pair = _least_seen_pair(occurrences, taken, rng)
        occurrences[pair] += 1
        taken = np.sort(np.append(taken, pair_keys(pair[None], n_items)))
        added.append(pair)
    return np.concatenate([sound, np.stack(added)])


def _least_seen_pair(occurrences: _Ints, taken: _Ints, rng: np.random.Generator) -> _Ints:
    """Return a free pair of the least-seen item that has one, with its least-seen free partner."""
    n_items = len(occurrences)
    order = np.lexsort([rng.random(n_items), occurrences])
    for item in order:
        others = order[order != item]
        candidates = np.stack([np.full(len(others), item), others], axis=1)
        free = ~is_in_sorted(pair_keys(candidates, n_items), taken)
        if free.any():
            pair: _Ints = candidates[np.argmax(free)]
            return pair
    raise ValueError(f"all pairs of {n_items} items are taken")


def _dense_pairs(n_items: int, count: int, rng: np.random.Generator) -> _Ints:
    """Leave out balanced pairs from all pairs; the first pairs that are returned connect all items."""
    keys = all_pair_keys(n_items)
    left_out = extended_pairs(NO_PAIRS, n_items, len(keys) - count, rng)
    pairs = rng.permutation(pairs_of_keys(np.setdiff1d(keys, pair_keys(left_out, n_items)), n_items))
    in_tree = _spanning_tree(pairs, n_items)
    return np.concatenate([pairs[in_tree], pairs[~in_tree]])


def _spanning_tree(pairs: _Ints, n_items: int) -> NDArray[np.bool_]:
    """Return which pairs are in a spanning tree that prefers early pairs."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    order = np.arange(1.0, len(pairs) + 1)
    graph = coo_array((order, (pairs[:, 0], pairs[:, 1])), shape=(n_items, n_items))
    in_tree = np.zeros(len(pairs), dtype=bool)
    in_tree[minimum_spanning_tree(graph).data.astype(np.int64) - 1] = True
    return in_tree
