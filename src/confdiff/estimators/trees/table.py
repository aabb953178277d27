"""The pairs of a fit as arrays over distinct items, and the objectives that methods and links have on them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.corrections import Correction, absolute, identity, relu
from confdiff.estimators.trees.ends import Ends, Floats, RowNumbers
from confdiff.estimators.trees.matrix import distinct_items_of_trees, for_lightgbm
from confdiff.estimators.trees.objectives import (
    ClassDifferences,
    CrossEntropy,
    Objective,
    Preference,
    ProbabilityDifference,
    ScoreDifference,
)
from confdiff.links import Link
from confdiff.methods import Method
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_matrix
from confdiff.validation import is_sparse

_SLOPES: dict[Correction, Callable[[Floats], Floats]] = {
    identity: np.ones_like,
    relu: lambda risk: (risk > 0).astype(np.float64),
    absolute: np.sign,
}
"""Correction -> its derivative."""


_PROBABILITY_METHODS = (
    "confdiff-regression",
    "confdiff-unbiased",
    "confdiff-relu",
    "confdiff-abs",
    "oracle-soft",
    "oracle-hard",
)


def methods_of_trees(link: Link) -> tuple[str, ...]:
    """Return the names of the methods that trees can learn with for a link, the default first."""
    return _PROBABILITY_METHODS if link.has_classes else (link.name,)


@dataclass(frozen=True)
class DistinctPairs:
    """Pairs over distinct items, sorted so that the form of the input and the order of items do not matter.

    Attributes
    ----------
    pairs : Pairs
        The pairs, whose items are the distinct ones.
    targets : array of shape (1, n), (1, n, K), (2, n) or (2, n, K)
        The differences, or the posteriors or labels of both items of each pair.
    """

    pairs: Pairs
    targets: Floats

    @classmethod
    def of(cls, data: Pairs, method: Method, seed: int) -> "DistinctPairs":
        """Return the pairs that count, with the supervision that a method reads."""
        if data.weight is not None:
            data = data[np.flatnonzero(data.weight.numpy() > 0)]
        if method.needs_exchangeable_pairs:
            data = data.shuffled_orientation(seed)
        targets = data.targets(method.learns_from).double().numpy()
        items, left, right = distinct_items_of_trees(data)
        distinct = Pairs(items, left, right, weight=data.weight, allow_missing=True)
        if data.difference is not None:  # those that noise moved beyond [-1, 1] are not refused
            distinct = distinct.with_difference(data.difference)
        if data.difference is not None and data.precision is not None:
            distinct = distinct.with_precision(data.difference, data.precision)
        return cls(pairs=distinct, targets=targets)

    @property
    def items(self) -> Any:
        """The distinct items, an array or a sparse matrix (N, d)."""
        return for_lightgbm(as_matrix(self.pairs.items))

    @property
    def n_values(self) -> int:
        """The number of stored values of the items."""
        items = self.items
        return int(items.nnz if is_sparse(items) else items.size)

    @property
    def n_scores(self) -> int:
        """The number of scores of an item: 1, or K for K classes."""
        return self.targets.shape[2] if self.targets.ndim == 3 else 1

    @property
    def differences(self) -> Floats:
        """The differences of the pairs, (n,) or (n, K)."""
        assert self.pairs.difference is not None
        return self.pairs.difference.double().numpy()

    @property
    def weight(self) -> Floats:
        """The weights of the errors of the pairs, (n,)."""
        weight = self.pairs.with_precision_in_weights().weight
        return np.ones(len(self.pairs)) if weight is None else weight.double().numpy()

    def __getitem__(self, rows: RowNumbers) -> "DistinctPairs":
        """Return the pairs in some rows, over the items that occur in them."""
        return DistinctPairs(pairs=self.pairs[rows].compact(), targets=self.targets[:, rows])


def objective_of(table: DistinctPairs, method: Method, prior: Any) -> Objective:
    """Return the objective of a method.

    Parameters
    ----------
    table : DistinctPairs
        The pairs.
    method : Method
        One of :func:`methods_of_trees`.
    prior : float, array of shape (K,) or None
        The class prior.
    """
    ends = Ends.of(table.pairs)
    if method.link == "preference":
        return Preference(ends, table.targets[0])
    if method.link == "score":
        return ScoreDifference(ends, table.targets[0])
    if method.learns_from != "differences":
        left, right = (_with_both_classes(targets) for targets in table.targets)
        return _cross_entropy(ends, left, right, identity)
    if method.name == "confdiff-regression":
        return difference_error(table, prior)
    c = table.targets[0]
    if table.pairs.precision is not None:  # the risk is linear in c
        c = table.pairs.with_precision_in_differences().targets("differences")[0].double().numpy()
    both = c if c.ndim == 2 else np.stack([-c, c], axis=1)
    priors = prior if c.ndim == 2 else np.array([1 - prior, prior])
    return _cross_entropy(ends, priors - both, priors + both, method.correction)


def held_out_error_of(table: DistinctPairs, method: Method) -> Callable[[Floats], float]:
    """Return the sum of the errors of held-out pairs, as a function of the scores of their items; it needs no prior.

    It is the squared error of the differences, or the cross-entropy for preferences and oracles.
    """
    if method.link == "probability" and method.learns_from == "differences":
        return difference_error(table, None).value
    return objective_of(table, method, None).value


def difference_error(table: DistinctPairs, prior: Any) -> Objective:
    """Return the squared error of differences of probabilities, for two or K classes."""
    ends = Ends.of(table.pairs)
    c = table.targets[0]
    return ClassDifferences(ends, c, prior) if c.ndim == 2 else ProbabilityDifference(ends, c, prior)


def _cross_entropy(ends: Ends, left: Floats, right: Floats, correction: Correction) -> CrossEntropy:
    return CrossEntropy(ends=ends, left=left, right=right, correction=correction, slope=_SLOPES[correction])


def _with_both_classes(positive: Floats) -> Floats:
    return positive if positive.ndim == 2 else np.stack([1 - positive, positive], axis=1)
