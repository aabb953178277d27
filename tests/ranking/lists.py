"""Simulated lists of items and their comparisons."""

import numpy as np

from confdiff.ranking.design import ComparisonDesign


def simulate(n_items, n_pairs, *, spread=0.3, noise=0.2, side_bias=None, seed=0):
    """Return a design of random comparisons, and the true scores."""
    rng = np.random.default_rng(seed)
    score = rng.normal(0, spread, n_items)
    left = np.concatenate([np.arange(n_items - 1), rng.integers(0, n_items, n_pairs - n_items + 1)])
    others = rng.integers(1, n_items, n_pairs - n_items + 1)
    right = np.concatenate([np.arange(1, n_items), (left[n_items - 1 :] + others) % n_items])
    c = score[right] - score[left] + rng.normal(0, noise, n_pairs)
    side = None
    if side_bias is not None:
        side = rng.choice([-1.0, 0.0, 1.0], n_pairs)
        c = c + side_bias * side
    design = ComparisonDesign(
        n_items=n_items, left=left, right=right, c=c, weight=rng.uniform(0.5, 1.5, n_pairs), side=side
    )
    return design, score - score.mean()


def dense_matrices(design):
    """Return the incidence matrix, (n, N), and the diagonal matrix of weights, as dense arrays."""
    incidence = np.zeros((len(design), design.n_items))
    rows = np.arange(len(design))
    incidence[rows, design.left] = -1
    incidence[rows, design.right] = 1
    return incidence, np.diag(design.weight)
