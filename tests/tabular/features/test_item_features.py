import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.features.kinds import kind_of
from confdiff.tabular.features.text_form import FORM, form_of

TEXTS = ["the cat sat on the mat", "a dog sat on a log", "the dog ate the cat", "no words in common here at all"]


@pytest.fixture
def people():
    return pd.DataFrame(
        {
            "age": [30.0, 50.0, 40.0, 45.0],
            "ward": ["A", "B", "A", "C"],
            "smoker": [True, False, False, True],
            "seen": pd.to_datetime(["2026-01-01", "2026-01-03", "2026-01-02", "2026-01-02"]),
            "note": TEXTS,
        },
        index=["p", "q", "r", "s"],
    )


def test_kinds_are_recognised(people):
    features = ItemFeatures().fit(people)
    assert features.kinds_ == {"age": "number", "ward": "category", "smoker": "flag", "seen": "time", "note": "text"}


def test_the_same_numbers_as_scikit_learn(people):
    ours = ItemFeatures().fit(people).transform(people)
    theirs = make_column_transformer(
        (StandardScaler(), ["age"]),
        (OneHotEncoder(sparse_output=False), ["ward"]),
        (TfidfVectorizer(min_df=2, sublinear_tf=True, ngram_range=(1, 2)), "note"),
        sparse_threshold=0,
    ).fit_transform(people)
    names = list(ours.columns)
    words = [name for name in names if name.startswith("note")][: -len(FORM)]
    shared = ["age", *(name for name in names if name.startswith("ward")), *words]
    np.testing.assert_allclose(ours[shared], theirs, atol=1e-6)
    assert list(ours.index) == ["p", "q", "r", "s"]


def test_the_form_of_a_text_is_scaled(people):
    ours = ItemFeatures().fit(people).transform(people)
    form = form_of(TEXTS)
    spread = form.std(axis=0)
    expected = (form - form.mean(axis=0)) / np.where(spread > 0, spread, 1)
    np.testing.assert_allclose(ours[[f"note: {measure}" for measure in FORM]], expected, atol=1e-6)


def test_truth_values_and_times_are_numbers(people):
    ours = ItemFeatures().fit(people).transform(people)
    assert np.allclose(ours["smoker"], [1, -1, -1, 1])
    days = np.array([0, 2, 1, 1]) - 1
    assert np.allclose(ours["seen"], days / days.std())


def test_what_was_learned_comes_back_through_json(people):
    features = ItemFeatures().fit(people)
    again = ItemFeatures.from_state(json.loads(json.dumps(features.to_state())))
    other = people.iloc[::-1][["note", "ward", "seen", "smoker", "age"]]  # rows and columns in another order
    pd.testing.assert_frame_equal(features.transform(other), again.transform(other))


def test_missing_numbers_are_filled_and_marked(people):
    people.loc["q", "age"] = np.nan
    encoded = ItemFeatures(kinds={"note": "ignore"}).fit(people).transform(people)
    filled = np.array([30, 40, 40, 45])
    assert np.allclose(encoded["age"], (filled - filled.mean()) / filled.std())
    assert encoded["age is missing"].tolist() == [0, 1, 0, 0]


def test_missing_and_unknown_categories(people):
    people.loc["q", "ward"] = None
    features = ItemFeatures(kinds={"note": "ignore"}).fit(people)
    encoded = features.transform(people)
    assert encoded["ward = (missing)"].tolist() == [0, 1, 0, 0]
    people["ward"] = "Z"
    assert not features.transform(people).filter(like="ward").to_numpy().any()


def test_names_are_left_out_with_a_warning():
    frame = pd.DataFrame({"key": [f"k{i}" for i in range(60)], "x": np.arange(60.0)})
    with pytest.warns(UserWarning, match="column 'key' is ignored: its 60 values look like names"):
        features = ItemFeatures().fit(frame)
    assert features.transform(frame).columns.tolist() == ["x"]
    assert ItemFeatures(kinds={"key": "category"}).fit(frame).transform(frame).shape == (60, 61)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (np.array([1, 2], dtype=object), "number"),
        (np.array([True, None], dtype=object), "flag"),
        (np.array(["yes", "no"] * 5), "category"),
        (np.array(["one two three", "four five six"] * 10), "category"),
        (np.array([f"word {i} of many" for i in range(80)]), "text"),
    ],
)
def test_kind_of_a_column(column, kind):
    assert kind_of("x", column) == kind


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.drop(columns="age"), "must have the training columns; missing: 'age'"),
        (lambda frame: frame.assign(age=["old", 1, 2, 3]), "column 'age', row 0: must be a number; got 'old'"),
        (lambda frame: frame.assign(age=[np.inf, 1, 2, 3]), "column 'age', must be finite.*inf at row 0"),
        (lambda frame: frame["age"].to_numpy(), "must be a path, a data frame or a mapping"),
    ],
)
def test_items_that_do_not_fit_are_named(people, change, message):
    features = ItemFeatures().fit(people)
    with pytest.raises(ValueError, match=message):
        features.transform(change(people))


def test_mistakes_in_the_kinds(people):
    with pytest.raises(ValueError, match=r"no column of the items is named 'agee' \(kinds={'agee': 'number'}\)"):
        ItemFeatures(kinds={"agee": "number"}).fit(people)
    with pytest.raises(ValueError, match="unknown kind 'numbr'"):
        ItemFeatures(kinds={"age": "numbr"}).fit(people)
    with pytest.raises(ValueError, match="no word occurs in two texts"):
        ItemFeatures(kinds={"ward": "text"}).fit(people.assign(ward=[f"w{row}" for row in range(len(people))]))


def test_one_long_text_does_not_make_all_long():
    import tracemalloc

    frame = pd.DataFrame({"note": ["some words here", *["a few words"] * 5000, "word " * 20_000]})
    tracemalloc.start()
    ItemFeatures(kinds={"note": "text"}).fit(frame).transform(frame)
    assert tracemalloc.get_traced_memory()[1] < 50e6  # 5,000 texts of 100,000 letters each would take 2 GB
    tracemalloc.stop()
