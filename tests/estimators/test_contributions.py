"""Contributions of groups of features to scores: they add up, and equal Shapley values by enumeration."""

from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

from confdiff import LINKS, ConfDiffBoosting, ConfDiffClassifier, ConfDiffLogisticRegression, Pairs
from confdiff.estimators.contributions import BACKGROUND_ITEMS, divide_scores, draw_background

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 5)).astype(np.float32)
GROUPS = np.array([0, 1, 1, 2, 0])
FEATURES_OF = ([0, 4], [1, 2], [3])


def curved(items):
    """A score with products of features of different groups."""
    return items[:, 0] * items[:, 1] + np.exp(items[:, 2] * items[:, 3] / 4) - items[:, 4] ** 2 * items[:, 1]


CURVED = SimpleNamespace(decision_function=curved)


def shapley_values(item, origin, groups):
    """Return the mean change of the score by group, over all orders of the groups."""
    n_groups = groups.max() + 1
    values = np.zeros(n_groups)
    orders = list(permutations(range(n_groups)))
    for order in orders:
        position = origin.copy()
        for group in order:
            before = curved(position[None])[0]
            position[groups == group] = item[groups == group]
            values[group] += curved(position[None])[0] - before
    return values / len(orders)


def test_two_groups_are_divided_as_by_enumeration():
    """With two groups, an order and its reverse are all orders: sampling is exact for each background item."""
    groups = np.array([0, 1, 1, 0, 0])
    background = np.repeat(X[50:54].astype(np.float64), 2, axis=0)
    result = divide_scores(CURVED, X[:6].astype(np.float64), groups, background=background)
    expected = [np.mean([shapley_values(item, origin, groups) for origin in background], axis=0) for item in X[:6]]
    np.testing.assert_allclose(result.values, expected, rtol=1e-10, atol=1e-12)


def test_sampling_approaches_the_values_of_enumeration():
    origin = X[50].astype(np.float64)
    background = np.tile(origin, (3000, 1))
    result = divide_scores(CURVED, X[:3].astype(np.float64), GROUPS, background=background)
    expected = [shapley_values(item.astype(np.float64), origin, GROUPS) for item in X[:3]]
    np.testing.assert_allclose(result.values, expected, atol=0.05)


def test_chunks_of_items_do_not_change_the_result(monkeypatch):
    background = X[40:].astype(np.float64)
    whole = divide_scores(CURVED, X[:7], GROUPS, background=background)
    monkeypatch.setattr("confdiff.estimators.contributions._CHUNK", 2 * background.size)
    in_parts = divide_scores(CURVED, X[:7], GROUPS, background=background)
    np.testing.assert_allclose(in_parts.values, whole.values, rtol=1e-12)


def fitted(estimator):
    risk = 1 / (1 + np.exp(-(X[:, 0] * X[:, 1] + X[:, 3])))
    return estimator.fit(Pairs(X, range(30), range(30, 60)).graded_by(risk))


ESTIMATORS = {
    "network": ConfDiffClassifier(prior=0.5, epochs=2),
    "shifted network": ConfDiffClassifier(prior=0.5, epochs=2, target_prior=0.2),
    "trees of a prior": ConfDiffBoosting(prior=0.3, max_iter=20, early_stopping=False, target_prior=0.2),
    **{f"trees, {link}": ConfDiffBoosting(link=link, max_iter=20, early_stopping=False) for link in LINKS},
    **{f"linear, {link}": ConfDiffLogisticRegression(link=link) for link in LINKS},
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_base_and_contributions_add_up_to_the_score(name):
    estimator = fitted(ESTIMATORS[name])
    background = draw_background(estimator, X, GROUPS)
    result = divide_scores(estimator, X[:10], GROUPS, background=background)
    assert result.values.shape == (10, 3)
    assert np.abs(result.values).max() > 0
    np.testing.assert_allclose(result.base + result.values.sum(axis=1), estimator.decision_function(X[:10]), atol=1e-5)
    again = divide_scores(estimator, X[:10], GROUPS, background=background)
    np.testing.assert_array_equal(again.values, result.values)


def test_the_base_of_a_link_without_classes_is_zero():
    """The scores of preferences have a mean of 0 over the training items, and a linear model is divided around it."""
    estimator = fitted(ConfDiffLogisticRegression(link="preference"))
    result = divide_scores(estimator, X, GROUPS)
    assert result.base == pytest.approx(0, abs=1e-6)


def test_linear_contributions_are_weighted_distances_from_the_mean():
    estimator = fitted(ConfDiffLogisticRegression(prior=0.5))
    result = divide_scores(estimator, X, GROUPS)
    of_features = estimator.coef_[0] * (X - X.mean(axis=0))
    expected = np.stack([of_features[:, FEATURES_OF[group]].sum(axis=1) for group in range(3)], axis=1)
    np.testing.assert_allclose(result.values, expected, atol=1e-6)
    assert result.base == pytest.approx(float(estimator.decision_function(X).mean()), abs=1e-6)
    sparse = divide_scores(estimator, csr_array(X), GROUPS)
    np.testing.assert_allclose(sparse.values, result.values, atol=1e-6)


def test_background_items_mix_the_groups_of_training_items():
    background = draw_background(CURVED, X, GROUPS)
    assert background.shape == (BACKGROUND_ITEMS, 5)
    sources = []
    for group in (0, 1):
        features = FEATURES_OF[group]
        is_source = (X[:, features] == background[:, None, features]).all(axis=2)
        sources.append(is_source.argmax(axis=1))
        np.testing.assert_array_equal(X[sources[-1]][:, features], background[:, features])
    assert (sources[0] != sources[1]).mean() > 0.8


def test_trees_bring_contributions_of_features():
    trees = SimpleNamespace(explain=lambda items: np.column_stack([np.arange(5.0) * items, np.full(len(items), 0.25)]))
    result = divide_scores(trees, X, GROUPS)
    assert result.base == 0.25
    np.testing.assert_allclose(result.values[:, 1], X[:, 1] + 2 * X[:, 2], rtol=1e-6)
    assert draw_background(trees, X, GROUPS) is None


def test_other_models_need_a_background():
    with pytest.raises(ValueError, match="pass background="):
        divide_scores(CURVED, X, GROUPS)
