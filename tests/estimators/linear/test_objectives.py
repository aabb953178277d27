"""Objectives of linear models: gradients, and the same values for dense and sparse items."""

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.sparse import csr_array

from confdiff.estimators.linear.design import make_design
from confdiff.estimators.linear.objectives import preference, regression, score, unbiased

RIDGE = np.array([0.7, 0.1, 2.0])
OBJECTIVES = {
    "unbiased": (lambda w, design: unbiased(w, design, RIDGE, 0.3), 4),
    "regression": (lambda w, design: regression(w, design, RIDGE), 4),
    "regression with a prior": (lambda w, design: regression(w, design, RIDGE, 0.3), 4),
    "preference": (lambda w, design: preference(w, design, RIDGE), 3),
    "score": (lambda w, design: score(w, design, RIDGE), 3),
}


def _arrays():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(6, 3)) * (rng.random((6, 3)) < 0.7)
    left, right = rng.integers(0, 6, (2, 9))
    return items, left, right, rng.uniform(-1, 1, 9), rng.random(9)


def _designs():
    items, *pairs = _arrays()
    sparse = make_design(csr_array(items), *pairs)
    return make_design(items, *pairs), sparse, sparse.with_pair_matrix()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_gradients_are_those_of_finite_differences(name):
    objective, size = OBJECTIVES[name]
    point = np.random.default_rng(1).normal(size=size)
    for design in _designs():
        error = check_grad(lambda w, d: objective(w, d)[0], lambda w, d: objective(w, d)[1], point, design)
        assert error < 1e-6


@pytest.mark.parametrize("name", OBJECTIVES)
def test_sparse_items_give_the_same_values_as_dense_ones(name):
    objective, size = OBJECTIVES[name]
    point = np.random.default_rng(1).normal(size=size)
    dense, sparse, by_pairs = _designs()
    assert by_pairs.pair_matrix is not None
    for design in (sparse, by_pairs):
        value, gradient = objective(point, design)
        assert value == pytest.approx(objective(point, dense)[0], rel=1e-12)
        assert gradient == pytest.approx(objective(point, dense)[1], rel=1e-10, abs=1e-12)


def test_spreads_are_the_weighted_variance_and_mean_squared_difference():
    items, left, right, _, weight = _arrays()
    share = weight / weight.sum()
    ends = np.concatenate([items[left], items[right]])
    both = np.concatenate([share, share]) / 2
    variance = both @ (ends - both @ ends) ** 2
    squares = share @ (items[right] - items[left]) ** 2
    for design in _designs():
        assert design.spread() == pytest.approx(variance)
        assert design.difference_spread() == pytest.approx(squares)


def test_differences_of_often_repeated_sparse_items_are_not_copied():
    rng = np.random.default_rng(0)
    left, right = rng.integers(0, 6, (2, 60))
    design = make_design(csr_array(np.eye(6)), left, right, np.zeros(60), None)
    assert design.with_pair_matrix() is design


def test_some_pairs_of_a_design_are_the_design_of_these_pairs():
    items, left, right, c, weight = _arrays()
    rows = np.array([4, 1, 7])
    point = np.array([0.3, -1.0, 0.4])
    alone = make_design(items, left[rows], right[rows], c[rows], weight[rows])
    for design in _designs():
        assert preference(point, design.of_pairs(rows), RIDGE)[0] == pytest.approx(preference(point, alone, RIDGE)[0])
