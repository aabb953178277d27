"""Standardise columns: their centre and spread, and those that are constant up to rounding."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation import is_sparse

_Vector = NDArray[np.float64]
_ROUNDING_STEPS = 16  # values that differ by no more are equal up to rounding
_ROWS = 4096  # that are read at a time


def is_constant(columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each column of a matrix is constant, up to the rounding of its values.

    The standard deviation cannot decide this: that of a constant column may be 1e-17, because its mean is rounded.

    Parameters
    ----------
    columns : array of shape (m, d)
        Finite numbers.

    Returns
    -------
    array of bool of shape (d,)

    Examples
    --------
    >>> is_constant(np.array([[0.3, 5.0], [0.1 + 0.2, 6.0]]))
    array([ True, False])
    """
    values = np.asarray(columns)
    return _is_constant_range(values.min(axis=0), values.max(axis=0))


def _is_constant_range(least: NDArray[Any], greatest: NDArray[Any]) -> NDArray[np.bool_]:
    precision = np.finfo(least.dtype if least.dtype.kind == "f" else np.float64).eps
    size = np.maximum(np.abs(least), np.abs(greatest))
    with np.errstate(over="ignore"):  # a range beyond the largest float is not constant
        constant: NDArray[np.bool_] = greatest - least <= _ROUNDING_STEPS * precision * size
    return constant


@dataclass(frozen=True)
class Scaling:
    """A centre and a factor for each column: ``(x - centre) * factor`` has mean 0 and standard deviation 1.

    Attributes
    ----------
    centre : array of shape (d,)
        The means; 0 for a sparse matrix, which would otherwise become dense.
    factor : array of shape (d,)
        One over the standard deviations; 0 for constant columns, from which nothing can be learned.
    """

    centre: _Vector
    factor: _Vector

    def apply(self, matrix: Any) -> Any:
        """Return the scaled rows of a matrix (m, d), dense or sparse, as 32-bit floats."""
        if is_sparse(matrix):
            scaled = matrix.multiply(self.factor[None]).tocsr()
            scaled.eliminate_zeros()
            return scaled.astype(np.float32)
        return ((matrix - self.centre) * self.factor).astype(np.float32)


def fit_scaling(matrix: Any, rows: NDArray[np.int64] | None = None) -> Scaling:
    """Return the scaling of the columns of a matrix.

    Parameters
    ----------
    matrix : array or scipy.sparse.csr_array of shape (m, d)
        Finite numbers.
    rows : array of int64, optional
        The rows that count, some of them perhaps several times; all of them once by default. The result depends on
        the sequence of these rows, not on how they are stored.

    Returns
    -------
    Scaling

    Examples
    --------
    >>> fit_scaling(np.array([[1.0, 7.0], [5.0, 7.0]]))
    Scaling(centre=array([3., 7.]), factor=array([0.5, 0. ]))
    """
    chosen = np.arange(matrix.shape[0]) if rows is None else rows
    if is_sparse(matrix):
        return _sparse_scaling(matrix, chosen)
    total = np.zeros(matrix.shape[1])
    least = matrix[chosen[0]]
    greatest = least
    for x in _chunks(matrix, chosen):
        total += x.sum(axis=0, dtype=np.float64)
        least = np.minimum(least, x.min(axis=0))
        greatest = np.maximum(greatest, x.max(axis=0))
    centre = total / len(chosen)
    squares = np.zeros(matrix.shape[1])
    for x in _chunks(matrix, chosen):
        squares += ((x - centre) ** 2).sum(axis=0)
    return Scaling(centre=centre, factor=_factor(squares / len(chosen), _is_constant_range(least, greatest)))


def _chunks(matrix: NDArray[Any], rows: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    for start in range(0, len(rows), _ROWS):
        yield matrix[rows[start : start + _ROWS]]


def _sparse_scaling(matrix: Any, rows: NDArray[np.int64]) -> Scaling:
    frequency = np.bincount(rows, minlength=matrix.shape[0]) / len(rows)
    used = matrix[frequency > 0]
    mean = frequency @ matrix.astype(np.float64)
    mean_square = frequency @ matrix.astype(np.float64).power(2)
    least = used.min(axis=0).toarray().reshape(-1)
    greatest = used.max(axis=0).toarray().reshape(-1)
    factor = _factor(mean_square - mean**2, _is_constant_range(least, greatest))
    return Scaling(centre=np.zeros(matrix.shape[1]), factor=factor)


def _factor(variance: _Vector, constant: NDArray[np.bool_]) -> _Vector:
    spread = np.sqrt(np.maximum(variance, 0.0))
    factor = np.zeros(len(spread))
    np.divide(1.0, spread, out=factor, where=~constant & (spread > 0))
    return factor
