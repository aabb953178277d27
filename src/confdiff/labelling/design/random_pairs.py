"""Purely random pairs, for the reserve on which quality is reported and for the random design."""

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


def random_pairs(n_items: int, count: int, rng: np.random.Generator, taken: _Ints) -> _Ints:
    """Draw pairs uniformly from all pairs that are not taken, none twice.

    Parameters
    ----------
    n_items : int
        Number of items.
    count : int
        Number of pairs; at most as many as are free.
    rng : numpy.random.Generator
        Source of random numbers.
    taken : ndarray of int, shape (n,)
        Keys of pairs that are not to be drawn, see :func:`~confdiff.labelling.design.pair_keys.pair_keys`.

    Returns
    -------
    ndarray of int, shape (count, 2)
    """
    if 2 * (count + len(taken)) > number_of_pairs(n_items):
        free = np.setdiff1d(all_pair_keys(n_items), taken)
        return pairs_of_keys(rng.permutation(free)[:count], n_items)
    sorted_taken = np.sort(taken)
    keys = np.empty(0, dtype=np.int64)
    while len(keys) < count:
        drawn = rng.integers(0, n_items, (2 * (count - len(keys)) + 10, 2))
        fresh = pair_keys(drawn[drawn[:, 0] != drawn[:, 1]], n_items)
        fresh = fresh[~is_in_sorted(fresh, sorted_taken)]
        keys = _first_occurrences(np.concatenate([keys, fresh]))
    return pairs_of_keys(keys[:count], n_items)


def _first_occurrences(keys: _Ints) -> _Ints:
    return keys[np.sort(np.unique(keys, return_index=True)[1])]
