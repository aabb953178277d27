r"""Solve the ridge problem of one connected component: exactly, or by conjugate gradients and Lanczos quadrature.

Symbols: :math:`L` the weighted Laplacian of the component, :math:`\lambda` the ridge, :math:`A = L + \lambda I`.

Scores are deviations from the mean of their component, because differences do not determine that mean. The constant
vector is an eigenvector of :math:`A`, so its part of the variance, :math:`1 / (\lambda n)`, can be removed exactly.
"""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from confdiff.ranking.krylov import lanczos_quadrature, solve_by_gradients

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
MOST_DENSE = 1_000
"""The largest component, in items, whose Laplacian is decomposed exactly."""
_STEPS = 60  # of Lanczos
_PROBES = 8  # random vectors for the log determinant
_BATCH = 20  # right-hand sides that are solved at once
_FINE = 1e-7  # tolerance of the residual, relative to the right-hand side
_ROUGH = 1e-5  # tolerance of solutions that are draws, or serve to compare proposals


@dataclass(frozen=True, eq=False)
class Quadrature:
    """Nodes and weights by which a quadratic form or a trace of a function of L is the sum of its values.

    Attributes
    ----------
    nodes : ndarray, shape (m,)
        Eigenvalues of L, or estimates of them.
    weights : ndarray, shape (m,)
        Their weights.
    """

    nodes: _Floats
    weights: _Floats


class ComponentBlock(Protocol):
    """A connected component: its items, and what is computed with its Laplacian."""

    rows: _Rows

    def trace(self, rng: np.random.Generator) -> Quadrature:
        """Return the quadrature of the trace of a function of L."""
        ...

    def form(self, first: _Floats, second: _Floats) -> Quadrature:
        """Return the quadrature of the form first' f(L) second."""
        ...

    def solve(self, ridge: float, sums: _Floats, *, is_rough: bool = False) -> _Floats:
        """Return the solutions x of A x = sums, shape (n, k), to about seven digits, or five if rough."""
        ...

    def posterior(self, ridge: float, count: int, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
        """Return the variances, shape (n,), and draws, shape (n, count), of centred scores with precision A."""
        ...


class DenseBlock:
    """A component of few items, by the eigenvalues of its Laplacian.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        The items.
    incidence : sparse array of shape (comparisons, n)
        The weighted incidence matrix.
    """

    def __init__(self, rows: _Rows, incidence: Any) -> None:
        self.rows = rows
        values, self._vectors = np.linalg.eigh((incidence.T @ incidence).toarray())
        self._values = values.clip(min=0)
        self._values[0] = 0  # the constant vector

    def trace(self, rng: np.random.Generator) -> Quadrature:
        """Return the eigenvalues, with weight 1."""
        return Quadrature(nodes=self._values, weights=np.ones(len(self._values)))

    def form(self, first: _Floats, second: _Floats) -> Quadrature:
        """Return the eigenvalues with the products of the coordinates of both vectors."""
        weights = (first @ self._vectors) * (second @ self._vectors)
        return Quadrature(nodes=self._values, weights=weights)

    def solve(self, ridge: float, sums: _Floats, *, is_rough: bool = False) -> _Floats:
        """Return the exact solutions."""
        coordinates = self._vectors.T @ sums
        solutions: _Floats = self._vectors @ (coordinates / (self._values + ridge)[:, None])
        return solutions

    def posterior(self, ridge: float, count: int, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
        """Return exact variances, and draws."""
        root = 1 / np.sqrt(self._values + ridge)
        root[0] = 0
        scaled = self._vectors * root
        variance: _Floats = (scaled**2).sum(axis=1)
        draws: _Floats = scaled @ rng.standard_normal((len(root), count))
        return variance, draws


class SparseBlock:
    """A component of many items; nothing of size n x n is stored.

    Parameters
    ----------
    rows : ndarray of int, shape (n,)
        The items.
    incidence : sparse array of shape (comparisons, n)
        The weighted incidence matrix.
    """

    def __init__(self, rows: _Rows, incidence: Any) -> None:
        self.rows = rows
        self._incidence = incidence
        self._laplacian = (incidence.T @ incidence).tocsr()

    def trace(self, rng: np.random.Generator) -> Quadrature:
        """Return a stochastic Lanczos quadrature (Ubaru, Chen and Saad, 2017)."""
        size = len(self.rows)
        probes = rng.choice([-1.0, 1.0], size=(size, _PROBES))
        nodes, weights = lanczos_quadrature(self._laplacian, probes, _STEPS)
        return Quadrature(nodes=nodes.ravel(), weights=weights.ravel() / _PROBES)

    def form(self, first: _Floats, second: _Floats) -> Quadrature:
        """Return Gauss quadratures of first + second and first - second, whose difference is the form."""
        starts = np.stack([first + second, first - second], axis=1)
        nodes, weights = lanczos_quadrature(self._laplacian, starts, _STEPS)
        signed = weights * np.array([[0.25], [-0.25]])
        return Quadrature(nodes=nodes.ravel(), weights=signed.ravel())

    def solve(self, ridge: float, sums: _Floats, *, is_rough: bool = False) -> _Floats:
        """Return the solutions by conjugate gradients."""
        tolerance = _ROUGH if is_rough else _FINE
        return solve_by_gradients(self._laplacian, ridge, sums, tolerance=tolerance)

    def posterior(self, ridge: float, count: int, rng: np.random.Generator) -> tuple[_Floats, _Floats]:
        r"""Return variances by Rao-Blackwellised sampling (Sidén et al., 2018), and draws.

        A draw solves :math:`A x = r` with a random r of covariance A. Given the other scores, a score has the mean
        :math:`x_i - r_i / A_{ii}` and the variance :math:`1 / A_{ii}`. The variance of that mean over the draws is
        added to the latter, so that only a small part of the variance is sampled.
        """
        size = len(self.rows)
        conditional = 1 / (self._laplacian.diagonal() + ridge)
        draws = np.empty((size, count))
        squares = np.zeros(size)
        for start in range(0, count, _BATCH):
            width = min(_BATCH, count - start)
            noise = self._incidence.T @ rng.standard_normal((self._incidence.shape[0], width))
            noise += np.sqrt(ridge) * rng.standard_normal((size, width))
            batch = self.solve(ridge, noise, is_rough=True)
            squares += ((batch - noise * conditional[:, None]) ** 2).sum(axis=1)
            draws[:, start : start + width] = batch - batch.mean(axis=0)
        variance = conditional + squares / count - 1 / (ridge * size)
        return np.maximum(variance, conditional * (1 - 1 / size)), draws


def new_block(rows: _Rows, incidence: Any) -> ComponentBlock:
    """Return the block of a component, which is exact up to :data:`MOST_DENSE` items."""
    return DenseBlock(rows, incidence) if len(rows) <= MOST_DENSE else SparseBlock(rows, incidence)
