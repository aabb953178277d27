"""Settings of boosted trees: check the parameters of an estimator and translate them for LightGBM."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.estimators.trees.ends import Floats
from confdiff.estimators.trees.tree import MAX_LEAVES
from confdiff.randomness import derived_seed
from confdiff.validation import check_count, check_fraction, check_number

_LEAST_HESSIAN = 1e-3
"""Least sum of the Hessian in a leaf. LightGBM estimates the counts of a leaf from the Hessian; without a bound it can
choose an empty leaf where items are in very different numbers of pairs, and fails."""

_CATEGORY_PENALTY = 1.0
"""Regularisation of splits of categories, in units of the Hessian, which is about 1/8 per pair of an item. LightGBM's
default, 10, is meant for Hessians of 1."""

Names = tuple[str, ...] | None
"""The names of the columns, if they have any."""


@dataclass(frozen=True)
class TreeSettings:
    """How trees are grown.

    Attributes
    ----------
    start : float or array of shape (K,)
        The scores before the first tree.
    n_scores : int
        The number of scores of an item: 1, or K for K classes.
    threads : int
        The number of threads.
    categorical : tuple of int
        The columns of categories.
    monotone : tuple of int
        For each column 1, -1 or 0.

    The other attributes are parameters of :class:`~confdiff.ConfDiffBoosting`.
    """

    learning_rate: float
    max_leaf_nodes: int
    min_samples_leaf: int
    l2_regularization: float
    max_features: float
    subsample: float
    seed: int
    threads: int
    start: float | Floats
    n_scores: int
    categorical: tuple[int, ...]
    monotone: tuple[int, ...]

    def __post_init__(self) -> None:
        check_number("learning_rate", self.learning_rate, above=0)
        check_count("min_samples_leaf", self.min_samples_leaf)
        check_number("l2_regularization", self.l2_regularization, least=0)
        check_fraction("max_features", self.max_features)
        check_fraction("subsample", self.subsample)
        if check_count("max_leaf_nodes", self.max_leaf_nodes, least=2) > MAX_LEAVES:
            raise ValueError(f"max_leaf_nodes must be at most {MAX_LEAVES}; got {self.max_leaf_nodes}.")

    def parameters(self, model: int) -> dict[str, Any]:
        """Return the parameters of LightGBM for one of several models."""
        parameters = {
            "objective": "custom",
            "metric": "None",
            "learning_rate": self.learning_rate,
            "num_leaves": self.max_leaf_nodes,
            "min_data_in_leaf": self.min_samples_leaf,
            "min_sum_hessian_in_leaf": _LEAST_HESSIAN,
            "lambda_l2": self.l2_regularization,
            "feature_fraction": self.max_features,
            "bagging_fraction": self.subsample,
            "bagging_freq": 1 if self.subsample < 1 else 0,
            "num_class": self.n_scores,
            "min_data_per_group": self.min_samples_leaf,
            "cat_smooth": _CATEGORY_PENALTY,
            "cat_l2": _CATEGORY_PENALTY,
            "feature_pre_filter": False,
            "deterministic": True,
            "force_row_wise": True,
            "num_threads": self.threads,
            "seed": derived_seed(self.seed, "boosting", model) % 2**31,
            "verbosity": -1,
        }
        return parameters | ({"monotone_constraints": list(self.monotone)} if any(self.monotone) else {})


def monotone_signs(constraints: Any, names: Names, n_features: int) -> tuple[int, ...]:
    """Return 1, -1 or 0 for each column.

    Parameters
    ----------
    constraints : dict, sequence or None
        Names or numbers of columns -> 1 (the score must not fall), -1 (it must not rise) or 0; or one for each column.
    names : tuple of str or None
        The names of the columns.
    n_features : int
        The number of columns.

    Examples
    --------
    >>> monotone_signs({"age": 1}, ("dose", "age"), 2), monotone_signs([-1, 0], None, 2)
    ((0, 1), (-1, 0))
    """
    signs = [0] * n_features
    if constraints is None:
        return tuple(signs)
    if isinstance(constraints, Mapping):
        for column, sign in constraints.items():
            signs[column_number("monotone_constraints", column, names, n_features)] = sign
    else:
        signs = list(constraints)
    if len(signs) != n_features or not all(sign in (-1, 0, 1) for sign in signs):
        raise ValueError(
            "monotone_constraints must map columns to 1, -1 or 0, or have one of these for each of the "
            f"{n_features} columns; got {constraints!r:.100}."
        )
    return tuple(int(sign) for sign in signs)


def column_numbers(parameter: str, columns: Any, names: Names, n_features: int) -> tuple[int, ...]:
    """Return the numbers of columns that are given by number or name, or by a mask of all columns, sorted."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise ValueError(f"{parameter} must be a list of names or numbers of columns; got {columns!r:.100}.")
    entries = list(columns)
    if len(entries) == n_features and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return tuple(np.flatnonzero(entries).tolist())
    return tuple(sorted({column_number(parameter, entry, names, n_features) for entry in entries}))


def column_number(parameter: str, column: Any, names: Names, n_features: int) -> int:
    """Return the number of a column that is given by its name or number."""
    if isinstance(column, str):
        if names is None:
            raise ValueError(f"{parameter} has the name {column!r}, but the items have no column names; pass numbers.")
        if column not in names:
            raise ValueError(f"{parameter} has the unknown column {column!r}; the items have {', '.join(names)}.")
        return names.index(column)
    is_number = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not is_number or not 0 <= column < n_features:
        raise ValueError(f"{parameter} must hold names, or numbers from 0 to {n_features - 1}; got {column!r}.")
    return int(column)
