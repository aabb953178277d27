r"""Fit one score per item to growing subsets of the pairs, and predict pairs that were held out.

The scores minimise :math:`\sum_i w_i (s'_i - s_i - c_i)^2 + \lambda \sum_j s_j^2`.
"""

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.graph import Edges

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0)
_PRECISION = 1e-3
_MOST_STEPS = 200
HELD_OUT_FRACTION = 0.2
"""Fraction of the pairs that each split holds out."""


def held_out_accuracies(
    edges: Edges, fractions: _Floats, n_splits: int, rng: np.random.Generator
) -> tuple[_Rows, _Floats]:
    """Predict the order of held-out pairs from growing subsets of the other pairs.

    Parameters
    ----------
    edges : Edges
        m distinct pairs.
    fractions : ndarray, shape (S,)
        Sizes of the subsets, as fractions of the pairs that are not held out.
    n_splits : int
        Number of splits.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    pairs : ndarray of int, shape (h,)
        Held-out pairs; a pair occurs once for each split that holds it out. Ties are left out.
    is_right : ndarray, shape (h, S)
        1 where the order was predicted, 0 where it was not, and 1/2 where the scores are equal.
    """
    splits = _splits(len(edges.mean), n_splits, rng)
    penalty = _best_penalty(edges, splits[:3])
    pairs = []
    is_right = []
    for order, n_held_out in splits:
        held_out = order[:n_held_out]
        held_out = held_out[edges.mean[held_out] != 0]
        training = order[n_held_out:]
        sizes = np.round(fractions * len(training)).astype(np.int64)
        predicted = np.stack([_predicted(edges, training[:size], held_out, penalty) for size in sizes], axis=1)
        pairs.append(held_out)
        is_right.append((1 + np.sign(predicted) * np.sign(edges.mean[held_out, None])) / 2)
    return np.concatenate(pairs), np.concatenate(is_right)


def _splits(n_pairs: int, n_splits: int, rng: np.random.Generator) -> list[tuple[_Rows, int]]:
    """Return random orders of the pairs, and how many pairs at their beginning are held out.

    The held-out parts of consecutive splits are a partition of the pairs, as in repeated cross-validation.
    """
    folds = round(1 / HELD_OUT_FRACTION)
    splits: list[tuple[_Rows, int]] = []
    while len(splits) < n_splits:
        shuffled = rng.permutation(n_pairs)
        for held_out in np.array_split(shuffled, folds):
            training = rng.permutation(np.setdiff1d(shuffled, held_out, assume_unique=True))
            splits.append((np.concatenate([held_out, training]), len(held_out)))
    return splits[:n_splits]


def _best_penalty(edges: Edges, splits: list[tuple[_Rows, int]]) -> float:
    """Return the penalty with the least squared error on held-out pairs."""
    errors = []
    for penalty in _PENALTIES:
        residuals = [
            edges.mean[order[:size]] - _predicted(edges, order[size:], order[:size], penalty) for order, size in splits
        ]
        errors.append(float(np.mean(np.concatenate(residuals) ** 2)))
    return _PENALTIES[int(np.argmin(errors))]


def _predicted(edges: Edges, training: _Rows, held_out: _Rows, penalty: float) -> _Floats:
    """Return the differences of held-out pairs that the scores of the training pairs imply."""
    scores = penalised_scores(edges, training, penalty)
    differences: _Floats = scores[edges.second[held_out]] - scores[edges.first[held_out]]
    return differences


def penalised_scores(edges: Edges, rows: _Rows, penalty: float) -> _Floats:
    """Return the score of each item, fitted to some of the pairs; 0 for items that occur in none of them."""
    from scipy.sparse import coo_array, diags_array
    from scipy.sparse.linalg import cg

    n_items = edges.n_items
    first = edges.first[rows]
    second = edges.second[rows]
    weight = edges.count[rows].astype(np.float64)
    pull = weight * edges.mean[rows]
    right = np.bincount(second, pull, n_items) - np.bincount(first, pull, n_items)
    diagonal = np.bincount(second, weight, n_items) + np.bincount(first, weight, n_items) + penalty
    links = coo_array((weight, (first, second)), shape=(n_items, n_items)).tocsr()
    matrix = diags_array(diagonal) - links - links.T
    scores: _Floats = cg(matrix, right, rtol=_PRECISION, maxiter=_MOST_STEPS, M=diags_array(1 / diagonal))[0]
    return scores
