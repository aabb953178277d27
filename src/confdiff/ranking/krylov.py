"""Conjugate gradients and Lanczos quadrature for a sparse symmetric matrix and several vectors at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_MAX_ITERATIONS = 5_000


def solve_by_gradients(matrix: Any, shift: float, right: _Floats, *, tolerance: float) -> _Floats:
    """Solve (matrix + shift I) x = right by conjugate gradients with a diagonal preconditioner.

    Parameters
    ----------
    matrix : sparse array of shape (N, N)
        A positive semi-definite matrix.
    shift : float
        A positive number.
    right : ndarray of shape (N, k)
        The right-hand sides.
    tolerance : float
        Length of the residual, relative to the right-hand side.

    Returns
    -------
    ndarray of shape (N, k)

    Notes
    -----
    A system that has not converged after many iterations, such as a long chain of items with a tiny shift, is solved
    by a sparse factorisation, which is cheap for such matrices.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> solve_by_gradients(csr_array([[1.0, -1.0], [-1.0, 1.0]]), 1.0, np.array([[3.0], [0.0]]), tolerance=1e-7)
    array([[2.],
           [1.]])
    """
    inverse = 1 / (matrix.diagonal() + shift)[:, None]
    limit = tolerance**2 * np.maximum((right**2).sum(axis=0), np.finfo(float).tiny)
    solution = np.zeros_like(right)
    residual = right.copy()
    scaled = inverse * residual
    direction = scaled.copy()
    product = (residual * scaled).sum(axis=0)
    for _ in range(_MAX_ITERATIONS):
        if ((residual**2).sum(axis=0) <= limit).all():
            return solution
        image = matrix @ direction + shift * direction
        step = _ratio(product, (direction * image).sum(axis=0))
        solution += step * direction
        residual -= step * image
        scaled = inverse * residual
        previous = product
        product = (residual * scaled).sum(axis=0)
        direction = scaled + _ratio(product, previous) * direction
    return _solve_by_factors(matrix, shift, right)


def _ratio(numerator: _Floats, denominator: _Floats) -> _Floats:
    """Return quotients, with 0 for columns that have converged exactly."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _solve_by_factors(matrix: Any, shift: float, right: _Floats) -> _Floats:
    from scipy.sparse import eye_array
    from scipy.sparse.linalg import splu

    solution: _Floats = splu((matrix + shift * eye_array(len(right))).tocsc()).solve(right)
    return solution


def lanczos_quadrature(matrix: Any, starts: _Floats, steps: int) -> tuple[_Floats, _Floats]:
    """Return Gauss quadratures of the forms x' f(matrix) x (Golub and Meurant, 1994).

    Parameters
    ----------
    matrix : sparse array of shape (N, N)
        A positive semi-definite matrix.
    starts : ndarray of shape (N, k)
        The vectors x.
    steps : int
        Number of products with the matrix.

    Returns
    -------
    nodes, weights : ndarray of shape (k, steps)
        The form is the sum of the weights times the values of f at the nodes. The weights of a vector sum to x'x.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> nodes, weights = lanczos_quadrature(csr_array([[2.0, -1.0], [-1.0, 2.0]]), np.array([[1.0], [0.0]]), 2)
    >>> nodes, weights
    (array([[1., 3.]]), array([[0.5, 0.5]]))
    """
    steps = min(steps, len(starts))
    count = starts.shape[1]
    diagonal = np.zeros((count, steps))
    off_diagonal = np.zeros((count, steps))
    lengths = np.linalg.norm(starts, axis=0)
    current = starts * _ratio(np.ones(count), lengths)
    previous = np.zeros_like(current)
    beta = np.zeros(count)
    for step in range(steps):
        image = matrix @ current - beta * previous
        alpha = (image * current).sum(axis=0)
        image -= alpha * current
        beta = np.linalg.norm(image, axis=0)
        beta[beta < 1e-10 * np.abs(diagonal).max(axis=1, initial=1.0)] = 0  # an invariant subspace
        diagonal[:, step] = alpha
        off_diagonal[:, step] = beta
        previous = current
        current = image * _ratio(np.ones(count), beta)
    tridiagonal = diagonal[:, :, None] * np.eye(steps)
    for step in range(steps - 1):
        tridiagonal[:, step, step + 1] = off_diagonal[:, step]
        tridiagonal[:, step + 1, step] = off_diagonal[:, step]
    nodes, vectors = np.linalg.eigh(tridiagonal)
    weights: _Floats = vectors[:, 0, :] ** 2 * lengths[:, None] ** 2
    return nodes.clip(min=0), weights
