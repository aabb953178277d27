"""Constant columns, and the scaling of columns."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from confdiff.standardisation import fit_scaling, is_constant


@pytest.mark.parametrize("value", [0.0, 0.1 + 0.2, -1e9, 1e-300, 1.5e308, 1700000000.123])
def test_a_repeated_value_is_constant(value):
    column = np.full((1000, 1), value)
    assert is_constant(column).all()
    column[3] = np.nextafter(value, np.inf)
    assert is_constant(column).all() == (value != 0)


@pytest.mark.parametrize("values", [[0.0, 1e-300], [1e9, 1e9 + 1e-3], [-1.7e308, 1.7e308], [1, 2]])
def test_small_and_large_differences_are_not_constant(values):
    assert not is_constant(np.array(values)[:, None]).any()


def test_the_precision_is_that_of_the_values():
    near = np.array([[1.0], [1.0 + 1e-7]])
    assert is_constant(near.astype(np.float32)).all()
    assert not is_constant(near).any()


@pytest.mark.parametrize("rows", [None, np.array([0, 2, 2, 5, 7])])
def test_a_scaling_makes_mean_0_and_standard_deviation_1(rows):
    matrix = np.random.default_rng(0).normal(5, [1e-3, 1.0, 1e6], size=(8, 3))
    scaling = fit_scaling(matrix, rows)
    scaled = scaling.apply(matrix if rows is None else matrix[rows])
    assert scaled.dtype == np.float32
    assert np.allclose(scaled.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(scaled.std(axis=0), 1, atol=1e-3)


def test_a_scaling_depends_on_the_sequence_of_rows_and_not_on_their_place():
    matrix = np.random.default_rng(0).normal(size=(9000, 2)).astype(np.float32)
    rows = np.random.default_rng(1).integers(0, 9000, 12_000)
    first = fit_scaling(matrix, rows)
    second = fit_scaling(matrix[rows])
    assert (first.centre == second.centre).all()
    assert (first.factor == second.factor).all()


def test_constant_columns_are_set_to_0():
    matrix = np.array([[0.3, 1.0], [0.1 + 0.2, 2.0]])
    assert fit_scaling(matrix).apply(np.array([[9.0, 1.5]])).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("rows", [None, np.array([0, 2, 2, 5, 7])])
def test_sparse_columns_are_scaled_and_stay_sparse(rows):
    rng = np.random.default_rng(0)
    dense = (rng.normal(size=(8, 4)) * (rng.uniform(size=(8, 4)) < 0.6)).astype(np.float32)
    dense[:, 3] = 0
    scaling = fit_scaling(csr_array(dense), rows)
    assert (scaling.centre == 0).all()
    assert np.allclose(scaling.factor, fit_scaling(dense, rows).factor, rtol=1e-5)
    scaled = scaling.apply(csr_array(dense))
    assert scaled.format == "csr"
    assert np.allclose(scaled.toarray(), dense * scaling.factor, rtol=1e-5)
