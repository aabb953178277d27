"""Logistic regression from differences."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from confdiff import ConfDiffClassifier, ConfDiffLogisticRegression
from confdiff.estimators.checks import pair_estimator_checks
from easy import easy_pairs

CHECKS = dict(pair_estimator_checks())


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")  # of 80 pairs
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("prior", [0.5, None])
def test_our_checks(prior, check):
    CHECKS[check](ConfDiffLogisticRegression(prior=prior, C=100))


def test_logistic_regression_finds_the_weights_with_and_without_the_prior():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2, 3))
    r = 1 / (1 + np.exp(-(X @ [2.0, -1.0, 0.0] - 1.5)))
    c = r[:, 1] - r[:, 0]
    for prior in (None, float(r.mean())):
        model = ConfDiffLogisticRegression(prior=prior, C=1e6).fit(X, c)
        assert model.coef_[0] == pytest.approx([2, -1, 0], abs=0.02 if prior is None else 0.2)
        assert model.intercept_ == pytest.approx(-1.5, abs=0.02 if prior is None else 0.2)


def test_logistic_regression_needs_no_scaling():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2, 3))
    r = 1 / (1 + np.exp(-(X @ [2.0, -1.0, 0.5])))
    wide = X * [12, 15_000, 0.5] + [50, 40_000, 0]
    for prior in (0.5, None):
        plain, raw = (ConfDiffLogisticRegression(prior=prior, C=1e9).fit(x, r[:, 1] - r[:, 0]) for x in (X, wide))
        assert raw.score(wide, r[:, 1] - r[:, 0]) == pytest.approx(plain.score(X, r[:, 1] - r[:, 0]), abs=1e-4)
        assert raw.coef_[0] * [12, 15_000, 0.5] == pytest.approx(plain.coef_[0], abs=1e-3)
    assert raw.coef_[0] * [12, 15_000, 0.5] == pytest.approx([2, -1, 0.5], abs=0.01)


@pytest.mark.parametrize("constant", [0.1 + 0.2, 1e9, -7.0])
@pytest.mark.parametrize("prior", [0.5, None])
def test_a_constant_column_changes_nothing(prior, constant):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2, 2))
    r = 1 / (1 + np.exp(-(2 * X[..., 0])))
    c = r[:, 1] - r[:, 0]
    wide = np.concatenate([X, np.full((700, 2, 1), constant)], axis=2)
    plain = ConfDiffLogisticRegression(prior=prior, C=100).fit(X, c)
    with_constant = ConfDiffLogisticRegression(prior=prior, C=100).fit(wide, c)
    assert with_constant.coef_[0, :2] == pytest.approx(plain.coef_[0], abs=1e-3)
    assert with_constant.coef_[0, 2] == pytest.approx(0, abs=1e-6)


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
@pytest.mark.parametrize("seed", [0, 2])
def test_without_a_prior_the_best_of_several_starts_is_kept(seed):
    """Label differences at a prior of .8: from the solution for 1/2 alone, all items end in one class."""
    rng = np.random.default_rng(seed)
    items = np.exp(2 * rng.normal(size=(800, 30))) * (rng.random((800, 30)) < 0.3)  # long tails, as of word counts
    score = np.log1p(items) @ rng.normal(size=30)
    y = (score > np.quantile(score, 0.2)).astype(float)
    rows = rng.integers(0, 800, (500, 2))
    model = ConfDiffLogisticRegression().fit(rows, y[rows[:, 1]] - y[rows[:, 0]], items=items)
    predicted = model.predict(items) > 0
    assert 0.65 < predicted.mean() < 0.9
    assert (predicted == y).mean() > 0.85


def test_an_unconverged_solver_warns(monkeypatch):
    from scipy import optimize

    def lazy(*arguments, **options):
        return real(*arguments, **(options | {"options": {"maxiter": 1}}))

    real = optimize.minimize
    monkeypatch.setattr(optimize, "minimize", lazy)
    with pytest.warns(ConvergenceWarning, match="the solver did not converge"):
        ConfDiffLogisticRegression(prior=0.5).fit(easy_pairs())


def test_logistic_regression_is_what_the_network_converges_to():
    pairs = easy_pairs()
    solved = ConfDiffLogisticRegression(prior=0.5, C=1e9).fit(pairs)
    trained = ConfDiffClassifier(
        "confdiff-unbiased", prior=0.5, model="linear", batch_size=400, epochs=2000, weight_decay=0.0
    ).fit(pairs)
    items = pairs.items.numpy()
    assert np.abs(solved.decision_function(items) - trained.decision_function(items)).max() < 0.02


def test_another_prior_of_the_items_shifts_the_scores():
    pairs = easy_pairs()
    items = pairs.items.numpy()
    model = ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    before = model.decision_function(items)
    model.set_params(target_prior=0.2)
    np.testing.assert_allclose(model.decision_function(items), before + np.log(0.25))
    contributions, base = model.explain(items)
    np.testing.assert_allclose(base + contributions.sum(axis=1), before + np.log(0.25))
    restored = ConfDiffLogisticRegression.from_state(model.to_state())
    np.testing.assert_array_equal(restored.predict_proba(items), model.predict_proba(items))
    with pytest.raises(ValueError, match=r"target_prior=0.2 would not be used"):
        ConfDiffLogisticRegression(link="score", target_prior=0.2).fit(pairs)
    with pytest.raises(ValueError, match="target_prior must be a probability strictly between 0 and 1"):
        model.set_params(target_prior=1.0).predict(items)
