"""Pairs and interactions that are easy to learn from."""

import numpy as np

from confdiff.datasets.interactions import from_columns
from confdiff.pairs import Pairs


def easy_pairs(n_items=300, n_pairs=400, seed=0, **columns):
    """Pairs whose posterior is a logistic function of the first of three features."""
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(n_items, 3)).astype(np.float32)
    r = 1 / (1 + np.exp(-2 * items[:, 0]))
    rows = rng.integers(0, n_items, (n_pairs, 2))
    labels = rng.random(n_items) < r
    return Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]], posteriors=r, labels=labels, **columns)


def checkerboard(n_users=30, n_items=24, seed=0, time=True):
    """Users like the items of their own parity: strengths 3 and 0.2, all observed."""
    users, items = np.divmod(np.arange(n_users * n_items), n_items)
    strength = np.where((users + items) % 2 == 0, 3.0, 0.2)
    when = np.random.default_rng(seed).permutation(len(users)) if time else None
    return from_columns(users, items, strength, when)


def pairs_of_three_classes(n_pairs=500):
    """Pairs of items with posteriors of three classes, and the posteriors."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, 3)).astype(np.float32)
    scores = 3 * items
    r = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    rows = rng.integers(0, 400, (n_pairs, 2))
    return Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]]), r
