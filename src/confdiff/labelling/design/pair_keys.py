"""Numbers of unordered pairs: one integer per pair, whatever the order of its items."""

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]


def pair_keys(pairs: _Ints, n_items: int) -> _Ints:
    """Return the key of each pair, ``smaller * n_items + larger``.

    Parameters
    ----------
    pairs : ndarray of int, shape (n, 2)
        Item numbers.
    n_items : int
        Number of items.

    Returns
    -------
    ndarray of int, shape (n,)
    """
    keys: _Ints = pairs.min(axis=1) * n_items + pairs.max(axis=1) if len(pairs) else np.empty(0, dtype=np.int64)
    return keys


def pairs_of_keys(keys: _Ints, n_items: int) -> _Ints:
    """Return the pairs of keys, the smaller item first."""
    return np.stack([keys // n_items, keys % n_items], axis=1)


def is_in_sorted(values: _Ints, sorted_values: _Ints) -> NDArray[np.bool_]:
    """Return which values occur in an ascending array."""
    if not len(sorted_values):
        return np.zeros(len(values), dtype=bool)
    positions = np.searchsorted(sorted_values, values).clip(max=len(sorted_values) - 1)
    result: NDArray[np.bool_] = sorted_values[positions] == values
    return result


def number_of_pairs(n_items: int) -> int:
    """Return how many pairs of different items exist."""
    return n_items * (n_items - 1) // 2


def all_pair_keys(n_items: int) -> _Ints:
    """Return the keys of all pairs of different items, ascending."""
    smaller, larger = np.triu_indices(n_items, 1)
    return (smaller * n_items + larger).astype(np.int64)


def turned_at_random(pairs: _Ints, rng: np.random.Generator) -> _Ints:
    """Return the pairs with the order of the items tossed in each of them."""
    turn = rng.random(len(pairs)) < 0.5
    return np.where(turn[:, None], pairs[:, ::-1], pairs)
