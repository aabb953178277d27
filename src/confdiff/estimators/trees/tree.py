"""A tree of a boosted model as arrays, checked so that predictions never read outside of them."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_LEAVES = 1024
"""The largest number of leaves of a tree. Contributions of deep trees take memory of the square of their depth."""

_CATEGORICAL = 1
_MISSING_TYPES = (0, 8)  # bits of a decision: missing values are as 0, or have a side of their own
_DEFAULT_LEFT = 2
_LARGEST = 1e300  # of a number in a tree; sums of all trees stay finite
_LARGEST_THRESHOLD = float(np.finfo(np.float64).max)  # where only missing values go to the other side


@dataclass(frozen=True)
class Tree:
    """A binary tree with L leaves and L - 1 splits, in the arrays of LightGBM.

    Attributes
    ----------
    split_feature : array of int, shape (L - 1,)
        The column that a split compares.
    split_gain : array of shape (L - 1,)
        By how much a split improved the objective.
    threshold : array of shape (L - 1,)
        Items with at most this value go left; for categories the number of a set in ``cat_boundaries``.
    decision_type : array of int, shape (L - 1,)
        Bits of LightGBM: 1 for categories, 2 if missing values go left, 8 if missing values are handled.
    left_child, right_child : array of int, shape (L - 1,)
        The number of a split, or ``-1 - leaf``.
    leaf_value : array of shape (L,)
        The contribution of a leaf to the score.
    leaf_count, internal_count : array of int, shape (L,) and (L - 1,)
        The number of training items in a leaf or split.
    cat_boundaries, cat_threshold : array of int
        Set s of categories has the bits ``cat_threshold[cat_boundaries[s]:cat_boundaries[s + 1]]``, 32 per number.
    """

    split_feature: NDArray[np.int64]
    split_gain: NDArray[np.float64]
    threshold: NDArray[np.float64]
    decision_type: NDArray[np.int64]
    left_child: NDArray[np.int64]
    right_child: NDArray[np.int64]
    leaf_value: NDArray[np.float64]
    leaf_count: NDArray[np.int64]
    internal_count: NDArray[np.int64]
    cat_boundaries: NDArray[np.int64]
    cat_threshold: NDArray[np.int64]

    @property
    def n_leaves(self) -> int:
        """L."""
        return len(self.leaf_value)

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Whether each split is one of categories."""
        return (self.decision_type & _CATEGORICAL) > 0

    @property
    def goes_left_if_missing(self) -> NDArray[np.bool_]:
        """Whether missing values go left at each split of numbers; without missing values at fit they count as 0."""
        by_default = (self.decision_type & _DEFAULT_LEFT) > 0
        return np.where(self.decision_type & 12 == 8, by_default, self.threshold >= 0)

    def scaled(self, factor: float) -> "Tree":
        """Return the tree with its contributions multiplied by a factor."""
        return replace(self, leaf_value=self.leaf_value * factor)

    def check(self, n_features: int) -> None:
        """Check that all sizes fit, all numbers are finite, and the children form one tree.

        Raises
        ------
        ValueError
            The tree is not one that LightGBM writes.
        """
        self._check_sizes()
        self._check_numbers(n_features)
        self._check_children()
        self._check_categories()

    def _check_sizes(self) -> None:
        n_leaves = self.n_leaves
        _expect(1 <= n_leaves <= MAX_LEAVES, f"a tree must have 1 to {MAX_LEAVES} leaves; got {n_leaves}")
        _expect(len(self.leaf_count) == n_leaves, "a tree must have one count per leaf")
        for name in _PER_SPLIT:
            length = len(getattr(self, name))
            _expect(length == n_leaves - 1, f"{name} of a tree must have {n_leaves - 1} entries; got {length}")

    def _check_numbers(self, n_features: int) -> None:
        for item in fields(self):
            values = getattr(self, item.name)
            largest = _LARGEST_THRESHOLD if item.name == "threshold" else _LARGEST
            _expect(bool(np.all(np.abs(values) <= largest)), f"{item.name} of a tree must be finite")
        inside = (self.split_feature >= 0) & (self.split_feature < n_features)
        _expect(bool(inside.all()), f"the splits of a tree must be on columns below {n_features}")
        is_known = np.isin(self.decision_type & ~(_CATEGORICAL | _DEFAULT_LEFT), _MISSING_TYPES)
        _expect(bool(is_known.all()), "a tree has a split of an unknown type")
        _expect(bool((self.leaf_count >= 0).all()), "the counts of a tree must be at least 0")

    def _check_children(self) -> None:
        """Check that every split but the first and every leaf is the child of one split with a lower number."""
        n_splits = self.n_leaves - 1
        parents = np.arange(n_splits)
        children = np.concatenate([self.left_child, self.right_child])
        is_later = (children < 0) | (children > np.concatenate([parents, parents]))
        expected = np.concatenate([np.arange(-self.n_leaves, 0), np.arange(1, n_splits)])
        is_tree = bool(is_later.all()) and np.array_equal(np.sort(children), expected)
        _expect(n_splits == 0 or is_tree, "the children of a tree must form one tree")
        for split in reversed(range(n_splits)):
            count = sum(self._count(child) for child in (self.left_child[split], self.right_child[split]))
            _expect(self.internal_count[split] == count, "the counts of a tree must add up")

    def _count(self, child: int) -> int:
        return int(self.internal_count[child] if child >= 0 else self.leaf_count[-1 - child])

    def _check_categories(self) -> None:
        bounds = self.cat_boundaries
        n_sets = max(len(bounds) - 1, 0)
        used = self.threshold[self.is_categorical]
        _expect(bool(np.isin(used, np.arange(n_sets)).all()), "a split of categories must have a set of them")
        if n_sets:
            is_increasing = bounds[0] == 0 and bool((np.diff(bounds) > 0).all())
            _expect(is_increasing and bounds[-1] == len(self.cat_threshold), "the sets of categories must be complete")
        else:
            _expect(len(self.cat_threshold) == 0, "a tree has categories but no sets of them")
        fits = (self.cat_threshold >= 0) & (self.cat_threshold < 2**32)
        _expect(bool(fits.all()), "the sets of categories must have 32 bits")


_PER_SPLIT = (
    "split_feature",
    "split_gain",
    "threshold",
    "decision_type",
    "left_child",
    "right_child",
    "internal_count",
)


def _expect(condition: Any, message: str) -> None:
    if not condition:
        raise ValueError(message)
