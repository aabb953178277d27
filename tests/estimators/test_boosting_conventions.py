"""Boosted trees and the conventions of all estimators: priors, weights, groups, seeds, threads and scikit-learn."""

import json
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score

from confdiff import ConfDiffBoosting, Pairs
from confdiff.display.progress import reporting_progress
from confdiff.estimators.trees.ends import Ends
from confdiff.estimators.trees.fitting import TreeFit
from confdiff.estimators.trees.rounds import Booster
from confdiff.threads import use_threads
from easy import easy_pairs, pairs_of_three_classes

PAIRS = easy_pairs()
ITEMS = PAIRS.items.numpy()
ROWS = np.stack([PAIRS.left, PAIRS.right], axis=1)
C = PAIRS.difference.numpy()
QUICK = {"max_iter": 40, "n_folds": 3}


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
@pytest.mark.filterwarnings("ignore:the differences are consistent")
def test_an_estimated_prior_with_labelled_items_missing_values_and_categories():
    frame = pd.DataFrame(
        {"a": 1e4 * ITEMS[:, 0], "b": ITEMS[:, 1], "k": pd.Categorical(np.where(ITEMS[:, 2] > 0, "x", "y"))}
    )
    frame.loc[::7, "b"] = np.nan
    labels = (np.random.default_rng(0).random(60) < PAIRS.posteriors.numpy()[:60]).astype(int)
    model = ConfDiffBoosting(**QUICK).fit(ROWS[:100], C[:100], items=frame, labelled=(frame.head(60), labels))
    low, high = model.prior_interval_
    assert low < model.prior_ < high
    assert model.prior_ == model.prior_estimate_.value
    assert low < float(PAIRS.posteriors.mean()) < high
    model.set_params(prior=0.5).fit(ROWS[:100], C[:100], items=frame)
    assert not hasattr(model, "prior_estimate_")
    assert model.prior_interval_ is None


def test_without_a_prior_exact_differences_determine_it():
    model = ConfDiffBoosting(max_iter=200).fit(PAIRS)
    assert model.is_offset_determined_
    assert model.prior_ == pytest.approx(float(PAIRS.posteriors.mean()), abs=0.05)
    assert ((model.predict(ITEMS) > 0) == (PAIRS.posteriors.numpy() > 0.5)).mean() > 0.9


def test_a_weight_is_a_number_of_copies():
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 3, len(PAIRS))
    options = {"prior": 0.4, "early_stopping": False, "max_iter": 15, "subsample": 1.0}
    weighted = ConfDiffBoosting(**options).fit(PAIRS, sample_weight=weight)
    copied = ConfDiffBoosting(**options).fit(PAIRS[np.repeat(np.arange(len(PAIRS)), weight)])
    np.testing.assert_allclose(weighted.decision_function(ITEMS), copied.decision_function(ITEMS), atol=1e-3)
    plain = ConfDiffBoosting(**options).fit(PAIRS)
    assert np.abs(plain.decision_function(ITEMS) - weighted.decision_function(ITEMS)).max() > 0.05


def test_groups_that_no_pair_connects_are_reported():
    rows = np.arange(200).reshape(100, 2)
    c = PAIRS.posteriors.numpy()[rows[:, 1]] - PAIRS.posteriors.numpy()[rows[:, 0]]
    with pytest.warns(UserWarning, match="form 100 connected components"):
        model = ConfDiffBoosting(prior=0.5, **QUICK).fit(rows, c, items=ITEMS, groups=np.arange(100))
    np.testing.assert_array_equal(
        model.decision_function(ITEMS),
        ConfDiffBoosting(prior=0.5, **QUICK).fit(rows, c, items=ITEMS).decision_function(ITEMS),
    )


@pytest.mark.parametrize("n_folds", [1, 3])
def test_held_out_pairs_have_items_that_training_has_not(n_folds, monkeypatch):
    """Every model sees only items of its training pairs, and each of its held-out pairs has another item."""
    seen = []
    original = TreeFit._booster

    def recorded(task, fold):
        seen.append((fold.training.items, Ends.of(fold.training.pairs), fold.held_out))
        return original(task, fold)

    monkeypatch.setattr(TreeFit, "_booster", recorded)
    ConfDiffBoosting(prior=0.5, max_iter=3, n_folds=n_folds).fit(PAIRS)
    with_held_out = [part for part in seen if part[2]]
    assert len(with_held_out) == n_folds
    for items, ends, (held_out,) in with_held_out:
        assert set(np.unique([ends.left, ends.right])) == set(range(len(items)))
        training_rows = {row.tobytes() for row in items}
        is_new = np.array([row.tobytes() not in training_rows for row in held_out.items])
        assert is_new.any()
        n_training = ends.n_pairs
        assert n_training + len(held_out.pairs) <= len(PAIRS)


@pytest.mark.parametrize("method", ["confdiff-unbiased", "confdiff-relu", "confdiff-abs", "oracle-soft"])
def test_three_classes_by_other_methods(method):
    pairs, posteriors = pairs_of_three_classes()
    prior = posteriors.mean(axis=0)
    if method == "oracle-soft":
        pairs = Pairs(pairs.items, pairs.left, pairs.right, pairs.difference, posteriors=posteriors)
    model = ConfDiffBoosting(method, prior=None if method == "oracle-soft" else prior / prior.sum(), **QUICK).fit(pairs)
    items = pairs.items.numpy()
    assert (model.predict(items) == posteriors.argmax(axis=1)).mean() > 0.6
    np.testing.assert_allclose(model.predict_proba(items).sum(axis=1), 1)
    restored = ConfDiffBoosting.from_state(json.loads(json.dumps(model.to_state())))
    np.testing.assert_array_equal(restored.predict_proba(items), model.predict_proba(items))


@pytest.mark.filterwarnings("ignore:the differences do not determine")
def test_three_classes_without_a_prior_and_at_another_one():
    pairs, _ = pairs_of_three_classes()
    items = pairs.items.numpy()
    model = ConfDiffBoosting(classes=["a", "b", "c"], **QUICK).fit(pairs)
    assert model.prior_.shape == (3,)
    assert model.prior_.sum() == pytest.approx(1)
    assert set(model.predict(items)) <= {"a", "b", "c"}
    before = model.decision_function(items)
    model.set_params(target_prior=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(model.decision_function(items), before + np.log([0.2, 0.3, 0.5] / model.prior_))
    np.testing.assert_allclose(model.explain(items).sum(axis=2), model.decision_function(items), atol=1e-9)
    restored = ConfDiffBoosting.from_state(json.loads(json.dumps(model.to_state())))
    np.testing.assert_array_equal(restored.predict_proba(items), model.predict_proba(items))


def test_two_fits_are_bit_identical_and_use_one_thread(monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    threads = []
    original = Booster.__init__

    def recorded(booster, items, objective, settings, **options):
        threads.append(settings.threads)
        original(booster, items, objective, settings, **options)

    monkeypatch.setattr(Booster, "__init__", recorded)
    first, second = (ConfDiffBoosting(prior=0.5, **QUICK).fit(PAIRS) for _ in range(2))
    assert first.to_state() == second.to_state()
    assert set(threads) == {1}
    with use_threads(2):
        ConfDiffBoosting(prior=0.5, max_iter=2, n_folds=2).fit(PAIRS)
    assert threads[-1] == 2


def test_the_order_of_items_and_pairs_does_not_matter_to_one_model():
    rng = np.random.default_rng(0)
    order = rng.permutation(len(ITEMS))
    position = np.argsort(order)
    options = {"prior": 0.5, "early_stopping": False, "max_iter": 20}
    plain = ConfDiffBoosting(**options).fit(ROWS, C, items=ITEMS)
    moved = ConfDiffBoosting(**options).fit(position[ROWS], C, items=ITEMS[order])
    np.testing.assert_allclose(moved.decision_function(ITEMS), plain.decision_function(ITEMS), atol=1e-9)


def test_tools_of_scikit_learn():
    model = ConfDiffBoosting(prior=0.5, **QUICK)
    search = GridSearchCV(model, {"max_leaf_nodes": [2, 7]}, cv=2).fit(PAIRS)
    assert search.best_score_ > 0.8
    assert cross_val_score(clone(model), PAIRS, cv=2).min() > 0.8
    pixels = ITEMS[ROWS]
    fitted = clone(model).fit(pixels, C)
    importance = permutation_importance(_Flat(fitted), pixels.reshape(len(C), -1), C, n_repeats=2, random_state=0)
    assert importance.importances_mean.reshape(2, -1).sum(axis=0).argmax() == 0


class _Flat:
    """Score pairs whose two items are in one row."""

    def __init__(self, model):
        self.model = model

    def fit(self, X, y):
        raise NotImplementedError

    def score(self, X, y):
        return self.model.score(X.reshape(len(X), 2, -1), y)


def test_unseen_categories_are_like_missing_values():
    rng = np.random.default_rng(0)
    colour = rng.integers(0, 4, 300)
    frame = pd.DataFrame({"size": rng.normal(size=300), "colour": pd.Categorical(np.array(list("rgbk"))[colour])})
    frame.loc[::10, "colour"] = None
    r = np.where(frame["colour"].isna(), 0.5, np.array([0.9, 0.1, 0.7, 0.3])[colour])
    rows = rng.integers(0, 300, (400, 2))
    model = ConfDiffBoosting(prior=0.5, **QUICK).fit(rows, r[rows[:, 1]] - r[rows[:, 0]], items=frame)
    new = pd.DataFrame({"size": [0.0] * 3, "colour": ["violet", None, "r"]})
    scores = model.decision_function(new)
    assert scores[0] == scores[1] != scores[2]
    np.testing.assert_allclose(model.explain(new).sum(axis=1), scores, atol=1e-9)
    np.testing.assert_array_equal(model.explain(new)[0], model.explain(new)[1])


def test_contributions_are_exact_shapley_values():
    """The mean over both orders of two features, of the path-dependent expectation, from the trees themselves."""
    model = ConfDiffBoosting(prior=0.5, max_iter=4, n_folds=2, max_features=1.0).fit(ROWS, C, items=ITEMS[:, :2])
    trees = model.model_.trees()

    def expectation(tree, x, known, node=0):
        if tree.n_leaves == 1 or node < 0:
            return tree.leaf_value[-1 - node if node < 0 else 0]
        left, right = tree.left_child[node], tree.right_child[node]
        if tree.split_feature[node] in known:
            return expectation(tree, x, known, left if x[tree.split_feature[node]] <= tree.threshold[node] else right)
        counts = [tree._count(child) for child in (left, right)]
        values = [expectation(tree, x, known, child) for child in (left, right)]
        return np.average(values, weights=counts)

    for x in ITEMS[:5, :2].astype(float):
        value = {known: sum(expectation(tree, x, known) for tree in trees) for known in ((), (0,), (1,), (0, 1))}
        first = (value[0,] - value[()] + value[0, 1] - value[1,]) / 2
        second = (value[1,] - value[()] + value[0, 1] - value[0,]) / 2
        np.testing.assert_allclose(model.explain(x[None])[0, :2], [first, second], atol=1e-9)


def test_progress_is_shown_if_asked_for(capsys, monkeypatch):
    every_round = partial(reporting_progress, interval=0)
    monkeypatch.setattr("confdiff.estimators.boosting.reporting_progress", every_round)
    ConfDiffBoosting(prior=0.5, max_iter=2, n_folds=2, verbose=1).fit(PAIRS)
    assert "boosting" in capsys.readouterr().err
    ConfDiffBoosting(prior=0.5, max_iter=2, n_folds=2).fit(PAIRS)
    assert capsys.readouterr().err == ""
