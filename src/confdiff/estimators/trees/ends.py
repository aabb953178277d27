"""The pairs of a boosted model as arrays: rows of items, and sums over the pairs of each item."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs

Floats = NDArray[np.float64]
RowNumbers = NDArray[np.int64]


@dataclass(frozen=True)
class Ends:
    """The two ends of n pairs over N items.

    Attributes
    ----------
    left, right : array of shape (n,)
        The rows of the first and of the second items.
    weight : array of shape (n,)
        The weights of the pairs, with mean 1.
    n_items : int
        N.
    precision : array of shape (n,), optional
        The relative precision of the differences.
    """

    left: RowNumbers
    right: RowNumbers
    weight: Floats
    n_items: int
    precision: Floats | None = None

    @classmethod
    def of(cls, pairs: Pairs) -> "Ends":
        """Return the ends of pairs in memory."""
        weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight.double().numpy()
        return cls(
            left=pairs.left.numpy(),
            right=pairs.right.numpy(),
            weight=weight / weight.mean(),
            n_items=len(pairs.items),
            precision=None if pairs.precision is None else pairs.precision.double().numpy(),
        )

    @property
    def n_pairs(self) -> int:
        """The number of pairs."""
        return len(self.left)

    def sums(self, of_left: Floats, of_right: Floats) -> Floats:
        """Add up the values of both ends of the pairs for each item.

        Parameters
        ----------
        of_left, of_right : array of shape (n,) or (n, K)
            Values of the first and of the second items of the pairs.

        Returns
        -------
        array of shape (N,) or (N, K)

        Examples
        --------
        >>> ends = Ends(left=np.array([0, 0]), right=np.array([1, 2]), weight=np.ones(2), n_items=3)
        >>> ends.sums(np.array([1.0, 2.0]), np.array([5.0, 7.0]))
        array([3., 5., 7.])
        """
        if of_left.ndim == 1:
            first: Floats = np.bincount(self.left, of_left, self.n_items).astype(np.float64)
            return first + np.bincount(self.right, of_right, self.n_items)
        columns = [self.sums(of_left[:, k], of_right[:, k]) for k in range(of_left.shape[1])]
        return np.stack(columns, axis=1)

    @cached_property
    def error_weight(self) -> Floats:
        """The weights of the errors of pairs, (n,): the weights times the precision."""
        return self.weight if self.precision is None else self.weight * self.precision

    @cached_property
    def error_degrees(self) -> Floats:
        """The sum of the weights of the errors of the pairs of each item, (N,)."""
        return self.sums(self.error_weight, self.error_weight)

    @cached_property
    def degrees(self) -> Floats:
        """The sum of the weights of the pairs of each item, (N,)."""
        return self.sums(self.weight, self.weight)
