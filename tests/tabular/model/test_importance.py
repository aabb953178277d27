"""Importance of columns on held-out pairs, and effects of words."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from confdiff import ConfDiffLogisticRegression, ItemFeatures, Pairs
from confdiff.metrics import pairwise_accuracy
from confdiff.tabular.model.importance import _permuted, measure_importance
from confdiff.tabular.model.words import mean_word_effects, word_effects

RNG = np.random.default_rng(0)
N = 400
FRAME = pd.DataFrame(
    {
        "age": np.where(RNG.random(N) < 0.1, np.nan, RNG.normal(60, 10, N)),
        "ward": RNG.choice(["A", "B", "C"], N),
        "note": [" ".join(RNG.choice(["severe", "mild", "pain", "none", "left"], 3)) for _ in range(N)],
    }
)
FEATURES = ItemFeatures(kinds={"note": "text"}).fit(FRAME)
X = FEATURES.encode(FRAME)
RISK = 1 / (1 + np.exp(-((FRAME["ward"] == "A") * 6.0 + 3 * FRAME["note"].str.contains("severe") - 4)))
PAIRS = Pairs(X, range(N // 2), range(N // 2, N)).graded_by(RISK.to_numpy())
MODEL = ConfDiffLogisticRegression(prior=0.5).fit(PAIRS)


def test_all_features_of_a_column_are_permuted_together():
    importance = measure_importance(MODEL, FEATURES, PAIRS, seed=1)
    assert importance.columns[0].column == "ward"
    assert {row.column for row in importance.columns} == {"age", "ward", "note"}
    drops = {row.column: row.r2_drop for row in importance.columns}
    assert drops["ward"] > drops["note"] > drops["age"]
    assert all(row.r2_error >= 0 and row.accuracy_error is not None for row in importance.columns)
    assert measure_importance(MODEL, FEATURES, PAIRS, seed=1) == importance
    assert measure_importance(MODEL, FEATURES, PAIRS, seed=2) != importance


def test_permuting_every_column_of_a_model_of_one_column_leaves_no_agreement():
    features = ItemFeatures().fit(FRAME[["ward"]])
    items = features.encode(FRAME[["ward"]])
    pairs = Pairs(items, range(N // 2), range(N // 2, N)).graded_by(RISK.to_numpy())
    model = ConfDiffLogisticRegression(prior=0.5).fit(pairs)
    (row,) = measure_importance(model, features, pairs, repeats=40).columns
    intact = pairwise_accuracy(model.predict_difference(pairs), pairs.difference)
    assert row.accuracy_drop == pytest.approx(intact - 0.5, abs=0.05)
    assert row.r2_drop > model.score(pairs)


def test_sparse_items_are_permuted_alike():
    is_permuted = FEATURES.feature_groups() == 1
    changed = _permuted(csr_array(X), is_permuted, np.random.default_rng(3)).toarray()
    np.testing.assert_array_equal(changed, _permuted(X, is_permuted, np.random.default_rng(3)))
    assert (changed[:, is_permuted] != X[:, is_permuted]).any()
    np.testing.assert_array_equal(changed[:, ~is_permuted], X[:, ~is_permuted])


def test_many_pairs_are_sampled(monkeypatch):
    monkeypatch.setattr("confdiff.tabular.model.importance._MAX_SCORED", 0)
    monkeypatch.setattr("confdiff.tabular.model.importance._MIN_PAIRS", 20)
    assert measure_importance(MODEL, FEATURES, PAIRS).pairs == 20


def test_pairs_of_ties_have_no_accuracy():
    ties = Pairs(X, range(N // 2), range(N // 2, N), np.zeros(N // 2))
    assert measure_importance(MODEL, FEATURES, ties, repeats=1).columns[0].accuracy_drop is None


def test_the_word_that_matters_has_the_strongest_effect():
    effects = mean_word_effects(MODEL, FEATURES, X)["note"]
    assert effects[0].word == "severe"
    assert effects[0].effect > 0
    assert effects[0].texts == FRAME["note"].str.contains("severe").sum()


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_the_effect_of_a_word_is_its_weight_and_those_of_its_pairs_in_a_linear_model(form):
    row = FRAME["note"].str.contains("severe pain").to_numpy().argmax()
    effects = {effect.word: effect.effect for effect in word_effects(MODEL, FEATURES, form(X[[row]]), most=20)["note"]}
    names = FEATURES.get_feature_names_out()
    contributions = dict(zip(names, MODEL.coef_[0] * X[row], strict=True))
    of_severe = [name for name in names if "severe" in name.removeprefix("note: ").split()]
    assert effects["severe"] == pytest.approx(sum(contributions[name] for name in of_severe), rel=1e-5)
    assert effects["severe pain"] == pytest.approx(contributions["note: severe pain"], rel=1e-5)
    assert set(effects) - {"length", "characters"} >= set(FRAME["note"][row].split())


def test_effects_of_words_are_the_same_for_sparse_items():
    dense = mean_word_effects(MODEL, FEATURES, X)["note"]
    sparse = mean_word_effects(MODEL, FEATURES, csr_array(X))["note"]
    assert [effect.word for effect in sparse] == [effect.word for effect in dense]
    np.testing.assert_allclose([effect.effect for effect in sparse], [effect.effect for effect in dense], rtol=1e-5)


def test_a_table_without_texts_has_no_words():
    features = ItemFeatures().fit(FRAME[["ward"]])
    assert mean_word_effects(SimpleNamespace(), features, np.zeros((3, 3))) == {}
