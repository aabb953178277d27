"""Matrices of items as LightGBM takes them."""

from typing import Any

import numpy as np

from confdiff.estimators.inputs import distinct_items
from confdiff.estimators.trees.ends import RowNumbers
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import SparseItems, as_matrix
from confdiff.validation import is_sparse


def for_lightgbm(items: Any) -> Any:
    """Return an array as it is, and a sparse array as the sparse matrix that LightGBM knows."""
    if not is_sparse(items):
        return items
    from scipy.sparse import csr_matrix

    return csr_matrix(items)


def distinct_items_of_trees(data: Pairs) -> tuple[Any, RowNumbers, RowNumbers]:
    """Return the distinct items of pairs, and the rows in them of the first and second items.

    It differs from :func:`~confdiff.estimators.inputs.distinct_items` in that a missing value equals another one.

    Parameters
    ----------
    data : Pairs
        Pairs over a matrix of floats.

    Returns
    -------
    items : array or scipy.sparse.csr_array of shape (N, d)
    left, right : array of shape (n,)
    """
    if isinstance(data.items, SparseItems):
        return distinct_items(data)
    compact = data.compact()
    items = as_matrix(compact.items) + 0.0  # a copy, with 0 for -0
    items[np.isnan(items)] = np.nan  # one of the many bit patterns
    width = items.dtype.itemsize * items.shape[1]
    keys = np.ascontiguousarray(items).view(np.dtype((np.void, width))).reshape(-1)
    _, first, rows = np.unique(keys, return_index=True, return_inverse=True)
    return items[first], rows[compact.left.numpy()], rows[compact.right.numpy()]
