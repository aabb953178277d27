import numpy as np
import pytest
from scipy.sparse import csr_array, diags_array

from confdiff.ranking import krylov
from confdiff.ranking.krylov import lanczos_quadrature, solve_by_gradients


def path(size):
    """Return the Laplacian of a chain of items."""
    ends = np.r_[1.0, np.full(size - 2, 2.0), 1.0]
    return csr_array(diags_array([-np.ones(size - 1), ends, -np.ones(size - 1)], offsets=[-1, 0, 1]))


@pytest.mark.parametrize("most", [5_000, 3])
def test_solutions_also_where_gradients_do_not_converge(monkeypatch, most):
    monkeypatch.setattr(krylov, "_MAX_ITERATIONS", most)
    matrix = path(50)
    right = np.random.default_rng(0).normal(size=(50, 3))
    right[:, 2] = 0
    expected = np.linalg.solve(matrix.toarray() + 0.01 * np.eye(50), right)
    np.testing.assert_allclose(solve_by_gradients(matrix, 0.01, right, tolerance=1e-7), expected, atol=1e-5)


def test_quadrature_is_exact_for_small_matrices():
    matrix = path(12)
    start = np.random.default_rng(0).normal(size=(12, 2))
    nodes, weights = lanczos_quadrature(matrix, start, 40)
    forms = (weights / (nodes + 0.5)).sum(axis=1)
    expected = np.diag(start.T @ np.linalg.solve(matrix.toarray() + 0.5 * np.eye(12), start))
    np.testing.assert_allclose(forms, expected, rtol=1e-6)
