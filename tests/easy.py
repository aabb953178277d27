"""Pairs that are easy to learn from."""

import numpy as np

from confdiff.pairs import Pairs


def easy_pairs(n_items=300, n_pairs=400, seed=0, **known):
    """Pairs whose posterior is a logistic function of the first of three features."""
    chance = np.random.default_rng(seed)
    items = chance.normal(size=(n_items, 3)).astype(np.float32)
    r = 1 / (1 + np.exp(-2 * items[:, 0]))
    rows = chance.integers(0, n_items, (n_pairs, 2))
    labels = chance.random(n_items) < r
    return Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]], posteriors=r, labels=labels, **known)
