"""Divide the score of an item among groups of its features: contributions that add up to the score.

Three kinds of models, one result:

- trees: the exact Shapley values that LightGBM computes from the cover of the branches;
- linear models: ``coef * (x - mean)``, exactly;
- all others: Shapley values by sampling. A path leads from a background item to the item and exchanges one group of
  features per step, in random order. The change of the score at a step is the contribution of its group, and the mean
  over all paths is the result (Strumbelj and Kononenko 2014). Every path adds up exactly, and so does their mean.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.randomness import derived_seed
from confdiff.threads import follow_policy

_Matrix = NDArray[np.float64]
BACKGROUND_ITEMS = 32
"""Number of background items, and so of paths, that the scores of networks are divided by."""
_CHUNK = 2**22  # numbers of the intermediate items of all paths that are in memory at once


@dataclass(frozen=True, eq=False)
class Contributions:
    """The scores of items, divided.

    Attributes
    ----------
    base : float
        The mean score of the background, which all items share.
    values : array of shape (m, k)
        The contribution of each of k groups of features to the score of each item. ``base + values.sum(axis=1)`` is
        the score.
    """

    base: float
    values: _Matrix


@follow_policy
def divide_scores(
    estimator: Any, X: Any, groups: NDArray[np.int64], *, background: Any = None, seed: int = 0
) -> Contributions:
    """Divide the scores of items among groups of features.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator with ``decision_function``.
    X : array or sparse matrix of shape (m, d)
        Items.
    groups : array of int, shape (d,)
        The group of each feature, from 0.
    background : array of shape (b, d), optional
        Background items, see :func:`draw_background`; trees and linear models need none.
    seed : int
        Seed of the orders in which groups are exchanged.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> X = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> model = SimpleNamespace(decision_function=lambda X: X @ [2.0, 1.0])
    >>> divide_scores(model, X, np.array([0, 1]), background=X).values
    array([[-2., -1.],
           [ 2.,  1.]])
    """
    if hasattr(estimator, "coef_"):
        return _of_linear_model(estimator, X, groups)
    if hasattr(estimator, "explain"):
        return _of_trees(estimator, X, groups)
    if background is None:
        raise ValueError(f"{type(estimator).__name__} is explained against background items; pass background=...")
    return _sampled(estimator, X, groups, background, seed)


def draw_background(estimator: Any, X: Any, groups: NDArray[np.int64], *, seed: int = 0) -> Any:
    """Return the background items that the scores of an estimator are divided against, from training items.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    X : array or sparse matrix of shape (N, d)
        Training items.
    groups : array of int, shape (d,)
        The group of each feature.
    seed : int
        Seed of the draws.

    Returns
    -------
    array of shape (b, d), or None
        None for trees and linear models. Otherwise :data:`BACKGROUND_ITEMS` items: the values of each group are drawn
        from the training items independently of the other groups, so none of them is a training item.
    """
    if hasattr(estimator, "explain") or hasattr(estimator, "coef_"):
        return None
    rng = np.random.default_rng(derived_seed(seed, "background items"))
    background = np.empty((BACKGROUND_ITEMS, X.shape[1]), dtype=np.float32)
    for features in _features_of(groups):
        rows = rng.integers(0, X.shape[0], BACKGROUND_ITEMS)
        background[:, features] = as_dense(X[rows])[:, features]
    return background


def as_dense(X: Any) -> NDArray[Any]:
    """Return an array, or a sparse matrix as an array."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def _of_trees(estimator: Any, X: Any, groups: NDArray[np.int64]) -> Contributions:
    """Return the sums of the contributions of features; the last column of ``explain`` is the base."""
    contributions = estimator.explain(X)
    values = np.asarray(contributions[:, :-1] @ _members(groups), dtype=np.float64)
    return Contributions(base=float(contributions[0, -1]), values=values)


def _of_linear_model(estimator: Any, X: Any, groups: NDArray[np.int64]) -> Contributions:
    """Return the weighted distances from the mean of the training items; sparse items are not made dense."""
    mean = np.asarray(estimator.mean_, dtype=np.float64).reshape(1, -1)
    weights = _members(groups, np.asarray(estimator.coef_, dtype=np.float64).reshape(-1))
    base = float(estimator.decision_function(mean)[0])
    return Contributions(base=base, values=as_dense(X.astype(np.float64) @ weights) - mean @ weights)


def _members(groups: NDArray[np.int64], weights: NDArray[np.float64] | None = None) -> Any:
    """Return a sparse matrix (d, k) with the weight of each feature, or 1, in the column of its group."""
    from scipy.sparse import csr_array

    values = np.ones(len(groups)) if weights is None else weights
    return csr_array((values, (np.arange(len(groups)), groups)), shape=(len(groups), int(groups.max()) + 1))


def _sampled(estimator: Any, X: Any, groups: NDArray[np.int64], background: Any, seed: int) -> Contributions:
    """Return the mean contributions over one path from each background item."""
    origins = as_dense(background)
    base = float(_scores(estimator, origins).mean())
    orders = _orders(int(groups.max()) + 1, len(origins), seed)
    size = max(1, _CHUNK // origins.size)
    parts = [
        _along_paths(estimator, as_dense(X[start : start + size]), _features_of(groups), origins, orders)
        for start in range(0, X.shape[0], size)
    ]
    return Contributions(base=base, values=np.concatenate(parts))


def _orders(n_groups: int, n_paths: int, seed: int) -> NDArray[np.int64]:
    """Return an order of the groups for each path, (paths, k); every second one is the reverse of the one before."""
    rng = np.random.default_rng(derived_seed(seed, "orders of explanations"))
    orders = np.empty((n_paths, n_groups), dtype=np.int64)
    for path in range(n_paths):
        orders[path] = orders[path - 1][::-1] if path % 2 else rng.permutation(n_groups)
    return orders


def _along_paths(
    estimator: Any,
    items: NDArray[Any],
    features: list[NDArray[np.int64]],
    origins: NDArray[Any],
    orders: NDArray[np.int64],
) -> _Matrix:
    """Walk from every origin to every item, and return the mean change of the score by group, (m, k)."""
    n_paths, n_groups = orders.shape
    position = np.repeat(origins[:, None], len(items), axis=1)
    before = np.repeat(_scores(estimator, origins)[:, None], len(items), axis=1)
    changes = np.zeros((len(items), n_groups))
    for step in range(n_groups):
        for path in range(n_paths):
            exchanged = features[orders[path, step]]
            position[path][:, exchanged] = items[:, exchanged]
        at_items = step == n_groups - 1
        after = np.tile(_scores(estimator, items), (n_paths, 1)) if at_items else _path_scores(estimator, position)
        np.add.at(changes.T, orders[:, step], after - before)
        before = after
    mean_changes: _Matrix = changes / n_paths
    return mean_changes


def _path_scores(estimator: Any, position: NDArray[Any]) -> _Matrix:
    """Return the scores of the items (paths, m, d) at one step, (paths, m)."""
    n_paths, count, width = position.shape
    scores: _Matrix = _scores(estimator, position.reshape(n_paths * count, width)).reshape(n_paths, count)
    return scores


def _scores(estimator: Any, X: NDArray[Any]) -> _Matrix:
    """Return the scores of items as double-precision numbers, (m,)."""
    return np.asarray(estimator.decision_function(X), dtype=np.float64)


def _features_of(groups: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the features of each group."""
    return [np.flatnonzero(groups == group) for group in range(int(groups.max()) + 1)]
