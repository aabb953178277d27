"""Pairs as the solver of linear models takes them. Sparse items are neither made dense nor centred explicitly."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.standardisation import is_constant
from confdiff.validation import no_weight

Vector = NDArray[np.float64]
Rows = NDArray[np.int64]
_CHUNK = 4096  # pairs whose feature differences are in memory at a time, if items are dense
_MOST_COPIES = 4  # entries of sparse feature differences, as a multiple of those of the items


@dataclass(frozen=True, eq=False)
class Design:
    """n pairs over m items with d features.

    Attributes
    ----------
    matrix : array or scipy.sparse.csr_array of shape (m, d)
        The items; dense items are centred.
    centre : array of shape (d,)
        The mean of the features over the items of all pairs.
    left, right : arrays of shape (n,)
        The rows of the first and of the second items.
    c : array of shape (n,)
        The observed differences.
    weight : array of shape (n,)
        The weights of the pairs, which sum to 1.
    pair_matrix : scipy.sparse.csr_array of shape (n, d) or None
        The feature differences of the pairs, where they are cheaper than the items.
    """

    matrix: Any
    centre: Vector
    left: Rows
    right: Rows
    c: Vector
    weight: Vector
    pair_matrix: Any = None

    def __len__(self) -> int:
        return len(self.c)

    @property
    def is_sparse(self) -> bool:
        """Whether the items are sparse, and thus not centred."""
        return not isinstance(self.matrix, np.ndarray)

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.matrix.shape[1])

    def scores(self, w: Vector) -> Vector:
        """Return the scores w.(x - centre) of the items, (m,)."""
        scores: Vector = self.matrix @ w
        return scores - self.centre @ w if self.is_sparse else scores

    def pull_scores(self, slopes: Vector) -> Vector:
        """Return the derivative by the weights, (d,), from the derivatives by the scores of the items, (m,)."""
        gradient: Vector = self.matrix.T @ slopes
        return gradient - slopes.sum() * self.centre if self.is_sparse else gradient

    def differences(self, w: Vector) -> Vector:
        """Return the score differences w.(x' - x) of the pairs, (n,)."""
        if self.pair_matrix is not None:
            differences: Vector = self.pair_matrix @ w
            return differences
        scores = self.matrix @ w
        return scores[self.right] - scores[self.left]  # type: ignore[no-any-return]

    def pull_differences(self, slopes: Vector) -> Vector:
        """Return the derivative by the weights, (d,), from the derivatives by the score differences, (n,)."""
        if self.pair_matrix is not None:
            gradient: Vector = self.pair_matrix.T @ slopes
            return gradient
        return self.matrix.T @ self.on_items(-slopes, slopes)  # type: ignore[no-any-return]

    def on_items(self, left: Vector, right: Vector) -> Vector:
        """Return the sum for each item, (m,), of values for the first and the second items of the pairs."""
        count = self.matrix.shape[0]
        return _sums(self.left, left, count) + _sums(self.right, right, count)

    def spread(self) -> Vector:
        """Return the variance of each feature over the items of all pairs, (d,)."""
        frequencies = self.on_items(self.weight, self.weight) / 2
        squares = self.matrix.multiply(self.matrix) if self.is_sparse else self.matrix**2
        mean_square: Vector = squares.T @ frequencies
        return np.maximum(mean_square - self.centre**2, 0) if self.is_sparse else mean_square

    def difference_spread(self) -> Vector:
        """Return the mean squared difference of each feature over the pairs, (d,)."""
        if self.pair_matrix is not None:
            squares: Vector = self.pair_matrix.multiply(self.pair_matrix).T @ self.weight
            return squares
        total = np.zeros(self.n_features)
        for start in range(0, len(self), _CHUNK):
            rows = slice(start, start + _CHUNK)
            differences = self.matrix[self.right[rows]] - self.matrix[self.left[rows]]
            squares = differences.multiply(differences) if self.is_sparse else differences**2
            total += squares.T @ self.weight[rows]
        return total

    def of_pairs(self, rows: Rows) -> "Design":
        """Return the design of some of the pairs, over the same items."""
        return replace(
            self,
            left=self.left[rows],
            right=self.right[rows],
            c=self.c[rows],
            weight=_normalised(self.weight[rows]),
            pair_matrix=None if self.pair_matrix is None else self.pair_matrix[rows],
        )

    def with_pair_matrix(self) -> "Design":
        """Return the design with the feature differences, if items are sparse and rarely repeated.

        Texts that share words, such as versions of one headline, have far fewer differences than words.
        """
        if not self.is_sparse:
            return self
        lengths = np.diff(self.matrix.indptr)
        if lengths[self.left].sum() + lengths[self.right].sum() > _MOST_COPIES * self.matrix.nnz:
            return self
        differences = self.matrix[self.right] - self.matrix[self.left]
        differences.eliminate_zeros()
        return replace(self, pair_matrix=differences)


def make_design(
    items: Any, left: Rows, right: Rows, c: Vector, weight: Vector | None, *, centre: Vector | None = None
) -> Design:
    """Return the design of pairs.

    Parameters
    ----------
    items : array or scipy.sparse.csr_array of shape (m, d)
        The items of the pairs.
    left, right : arrays of shape (n,)
        The rows of the first and of the second items.
    c : array of shape (n,)
        The observed differences.
    weight : array of shape (n,) or None
        The weights of the pairs.
    centre : array of shape (d,), optional
        The features to subtract; by default their mean over the items of the pairs.

    Raises
    ------
    ValueError
        All weights are 0.
    """
    matrix = items.astype(np.float64)
    weights = _normalised(np.ones(len(c)) if weight is None else weight)
    if centre is None:
        centre = _mean_features(matrix, left, right, weights)
    if isinstance(matrix, np.ndarray):
        matrix -= centre
    return Design(matrix=matrix, centre=centre, left=left, right=right, c=c, weight=weights)


def _mean_features(matrix: Any, left: Rows, right: Rows, weight: Vector) -> Vector:
    """Return the mean of each feature over the items of all pairs; that of constant features is exact."""
    count = matrix.shape[0]
    frequencies = (_sums(left, weight, count) + _sums(right, weight, count)) / 2
    centre: Vector = matrix.T @ frequencies
    if isinstance(matrix, np.ndarray):
        centre = np.where(is_constant(matrix), matrix[0], centre)
    return centre


def _sums(rows: Rows, values: Vector, count: int) -> Vector:
    """Return the sum of the values of each row, (count,)."""
    return np.bincount(rows, values, count).astype(np.float64, copy=False)


def _normalised(weight: Vector) -> Vector:
    total = weight.sum()
    if total == 0:
        raise no_weight()
    normalised: Vector = weight / total
    return normalised
