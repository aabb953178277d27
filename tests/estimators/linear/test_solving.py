"""Solutions of linear models equal those of scikit-learn."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression, Ridge

from confdiff.estimators.linear.design import make_design
from confdiff.estimators.linear.solving import make_ridge, solve


def _data(scales=(1.0, 1.0, 1.0, 1.0)):
    rng = np.random.default_rng(0)
    items = rng.normal(size=(80, 4)) * scales * (rng.random((80, 4)) < 0.6)
    left, right = rng.integers(0, 80, (2, 200))
    u = (items[right] - items[left]) @ (np.array([2.0, -1.0, 0.5, 0.0]) / scales)
    return items, left, right, u


def _solutions(items, left, right, c, link, C, scale=False, weight=None):
    dense = make_design(items, left, right, c, weight)
    sparse = make_design(csr_array(items), left, right, c, weight)
    for design in (dense, sparse, sparse.with_pair_matrix()):
        yield solve(design, link, make_ridge(design, C, scale), tol=1e-9)


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0, 1.0), (300.0, 1.0, 0.02, 5.0)])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_the_preference_link_with_hard_answers_is_logistic_regression_on_differences(C, scales):
    items, left, right, u = _data(scales)
    c = np.sign(u + np.random.default_rng(1).logistic(size=len(u)))
    model = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=100_000, solver="newton-cholesky")
    expected = model.fit(items[right] - items[left], c).coef_[0]
    for solution in _solutions(items, left, right, c, "preference", C):
        assert solution.w * scales == pytest.approx(expected * scales, abs=1e-5)


def test_the_preference_link_with_shares_of_votes_is_logistic_regression_on_the_votes():
    items, left, right, u = _data()
    c = np.tanh(u / 2)
    differences = np.repeat(items[right] - items[left], 2, axis=0)
    share = np.stack([(1 + c) / 2, (1 - c) / 2], axis=1).reshape(-1)
    votes = LogisticRegression(fit_intercept=False, tol=1e-10, max_iter=10_000)
    expected = votes.fit(differences, np.tile([1, 0], len(c)), share).coef_[0]
    for solution in _solutions(items, left, right, c, "preference", 1.0):
        assert solution.w == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("scales", [(1.0, 1.0, 1.0, 1.0), (300.0, 1.0, 0.02, 5.0)])
@pytest.mark.parametrize("C", [0.01, 100.0])
def test_the_score_link_is_ridge_regression_on_differences(C, scales):
    items, left, right, u = _data(scales)
    rng = np.random.default_rng(1)
    weight = rng.integers(1, 4, len(u)).astype(float)
    c = u + rng.normal(size=len(u))
    ridge = Ridge(alpha=1 / (C * len(u) / weight.sum()), fit_intercept=False)
    expected = ridge.fit(items[right] - items[left], c, weight).coef_
    for solution in _solutions(items, left, right, c, "score", C, weight=weight):
        assert solution.w * scales == pytest.approx(expected * scales, abs=1e-5)


@pytest.mark.parametrize("link", ["preference", "score", "probability"])
def test_a_penalty_on_scaled_features_does_not_depend_on_units(link):
    scales = np.array([300.0, 1.0, 0.02, 5.0])
    items, left, right, u = _data()
    c = np.tanh(u / 2)
    (plain, *_) = _solutions(items, left, right, c, link, 0.1, scale=True)
    for solution in _solutions(items * scales, left, right, c, link, 0.1, scale=True):
        assert solution.w * scales == pytest.approx(plain.w, abs=1e-5)


def test_the_prior_moves_the_probabilities_and_a_start_only_the_path():
    items, left, right, u = _data()
    c = np.tanh(u / 8)
    design = make_design(items, left, right, c, None)
    ridge = make_ridge(design, 1.0, scale=False)
    low, high = (solve(design, "probability", ridge, prior, tol=1e-9) for prior in (0.2, 0.8))
    assert low.b < high.b
    again = solve(design, "probability", ridge, 0.8, start=low, tol=1e-9)
    assert again.w == pytest.approx(high.w, abs=1e-6)
    assert again.b == pytest.approx(high.b, abs=1e-6)
