"""Scores of held-out pairs, from which the class prior is estimated with any learner."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_matrix, distinct_rows

_Vector = NDArray[np.float64]
_Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OutOfFold:
    """Scores of both items of n pairs, by models that were not trained on the pairs, and their differences.

    Attributes
    ----------
    scores : array of shape (2, n)
        Log-odds of the first and of the second items. The models of all folds have the same mean probability.
    c : array of shape (n,)
        Observed differences.
    weight : array of shape (n,)
        Weights of the pairs, at least one above 0.
    rows : array of shape (2, n)
        The items, as numbers: equal numbers are the same item.
    """

    scores: _Vector
    c: _Vector
    weight: _Vector
    rows: _Rows

    @classmethod
    def of_pairs(cls, scores: _Vector, pairs: Pairs) -> "OutOfFold":
        """Return the scores of the pairs that have a weight, with their differences and items."""
        (c,) = pairs.targets("differences").double().numpy()
        weight = np.ones(len(c)) if pairs.weight is None else pairs.weight.double().numpy()
        rows = item_numbers(pairs)
        kept = weight > 0
        return cls(
            scores=np.asarray(scores, dtype=np.float64)[:, kept],
            c=c[kept],
            weight=weight[kept],
            rows=rows[:, kept],
        )

    def __len__(self) -> int:
        return len(self.c)

    @property
    def probabilities(self) -> _Vector:
        """The probabilities of the scores, (2, n)."""
        p: _Vector = expit(self.scores)
        return p

    @property
    def item_weight(self) -> _Vector:
        """The weights of the first and the second items, (2, n)."""
        return np.stack([self.weight, self.weight])

    def design_effect(self, residual: _Vector) -> float:
        """Return how many times the variance of sums of residuals is that of independent pairs; at least 1.

        Pairs that share an item have correlated residuals.
        """
        weighted = self.weight * residual
        _, numbers = np.unique(self.rows, return_inverse=True)
        of_items = np.bincount(numbers.reshape(-1), np.concatenate([-weighted, weighted]))
        squares = 2 * float(weighted @ weighted)
        return max(1.0, float(of_items @ of_items) / squares) if squares else 1.0

    def item_error(self, values: _Vector) -> float:
        """Return the standard error of the mean of values (2, n) over items that are drawn at random."""
        _, numbers = np.unique(self.rows, return_inverse=True)
        of_items = np.bincount(numbers.reshape(-1), self.item_weight.reshape(-1))
        fractions = of_items / of_items.sum()
        mean = np.average(values, weights=self.item_weight)
        variance = np.average((values - mean) ** 2, weights=self.item_weight)
        return float(np.sqrt(variance * (fractions @ fractions)))


def item_numbers(pairs: Pairs) -> _Rows:
    """Return numbers of the first and of the second items of pairs, (2, n); items with equal features are the same."""
    compact = pairs.compact()
    matrix = as_matrix(compact.items)
    numbers = distinct_rows(matrix)[1] if matrix.ndim == 2 else np.arange(len(matrix))
    rows: _Rows = np.stack([numbers[compact.left.numpy()], numbers[compact.right.numpy()]])
    return rows
