"""The text of trees: what LightGBM writes comes back, and damaged texts are refused."""

from dataclasses import fields

import lightgbm
import numpy as np
import pytest

from confdiff import ConfDiffBoosting
from confdiff.estimators.trees.model import TreeModel
from confdiff.estimators.trees.text import text_of_trees, trees_of_own_text, trees_of_text
from easy import easy_pairs

PAIRS = easy_pairs()
MODEL = ConfDiffBoosting(prior=0.5, max_iter=3, n_folds=2).fit(PAIRS).model_


def lightgbm_text(n_rounds=4):
    """A model of LightGBM itself with numbers, missing values and categories."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[:, 2] = rng.integers(0, 9, 300)
    X[rng.random(300) < 0.2, 0] = np.nan
    y = np.nan_to_num(X[:, 0]) + (X[:, 2] % 3)
    data = lightgbm.Dataset(X, y, categorical_feature=[2])
    booster = lightgbm.train({"verbosity": -1, "min_data_per_group": 5, "num_threads": 1}, data, n_rounds)
    return X, booster


def test_texts_of_lightgbm_are_read_and_predict_the_same():
    X, booster = lightgbm_text()
    trees = trees_of_text(booster.model_to_string(), 3)
    assert len(trees) == 4
    assert any(tree.is_categorical.any() for tree in trees)
    model = TreeModel(trees, 3)
    np.testing.assert_array_equal(model.scores(X), booster.predict(X, raw_score=True))
    np.testing.assert_allclose(model.contributions(X), booster.predict(X, pred_contrib=True), atol=1e-9)
    np.testing.assert_allclose(
        model.importances() * booster.feature_importance("gain").sum(), booster.feature_importance("gain"), rtol=1e-4
    )


def test_a_text_comes_back_bit_for_bit():
    trees = trees_of_text(MODEL.text, 3)
    assert text_of_trees(trees, 3) == MODEL.text
    for own, checked in zip(trees_of_own_text(MODEL.text), trees, strict=True):
        for field in fields(own):
            np.testing.assert_array_equal(getattr(own, field.name), getattr(checked, field.name))


def with_line(name, value):
    """The text with another value in the first line of a name."""
    lines = MODEL.text.split("\n")
    row = next(row for row, line in enumerate(lines) if line.startswith(f"{name}="))
    lines[row] = f"{name}={value}"
    return "\n".join(lines)


def value_of(name):
    return next(line for line in MODEL.text.split("\n") if line.startswith(f"{name}=")).partition("=")[2].split()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "must be a text"),
        ("", "has no end"),
        (MODEL.text[:300], "has no end"),
        (with_line("num_class", 3), "num_class=1; got '3'"),
        (with_line("max_feature_idx", 9), "max_feature_idx=2; got '9'"),
        (with_line("leaf_value", "1 2"), "one count per leaf|must have . entries"),
        (
            with_line("leaf_value", " ".join(["nan", *value_of("leaf_value")[1:]])),
            "leaf_value of a tree must be finite",
        ),
        (with_line("leaf_value", " ".join(["1e999", *value_of("leaf_value")[1:]])), "must be finite"),
        (with_line("split_feature", " ".join(["3", *value_of("split_feature")[1:]])), "on columns below 3"),
        (with_line("split_feature", " ".join(["-1", *value_of("split_feature")[1:]])), "on columns below 3"),
        (with_line("split_feature", "a b"), "split_feature of a tree must be numbers"),
        (with_line("split_feature", "9" * 400), "split_feature of a tree must be numbers"),
        (with_line("left_child", " ".join(["0", *value_of("left_child")[1:]])), "must form one tree"),
        (with_line("leaf_count", " ".join(["-5", *value_of("leaf_count")[1:]])), "counts of a tree"),
        (with_line("internal_count", " ".join(["7", *value_of("internal_count")[1:]])), "must add up"),
        (with_line("decision_type", " ".join(["64", *value_of("decision_type")[1:]])), "unknown type"),
        (with_line("decision_type", " ".join(["1", *value_of("decision_type")[1:]])), "must have a set of them"),
    ],
)
def test_damaged_texts_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        trees_of_text(text, 3)


def test_rounds_of_several_classes_are_complete():
    text = MODEL.text.replace("num_class=1", "num_class=4").replace("_iteration=1", "_iteration=4")
    with pytest.raises(ValueError, match=r"4 per round; got \d+"):
        trees_of_text(text, 3, n_scores=4)
