"""Features of texts and categories as a sparse matrix: when, the same numbers, and never dense."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, issparse

from confdiff import ConfDiffLogisticRegression, Pairs, fit_comparisons, load_model
from confdiff.tabular.features.item_features import ItemFeatures

KINDS = {"text": "text"}


def frame_of(count, n_words=3_000, length=20, seed=0):
    """Return items with a text, a number and a category, and their scores."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, n_words, (count, length))
    size = rng.normal(size=count)
    texts = [" ".join(f"w{word}" for word in words) for words in drawn.tolist()]
    frame = pd.DataFrame({"text": texts, "size": 100 * size, "kind": rng.choice(["old", "new"], count)})
    return frame, rng.normal(size=n_words)[drawn].mean(axis=1) + size


@pytest.fixture(scope="module")
def items():
    return frame_of(400)


def test_wide_features_are_sparse_and_have_the_same_numbers(items):
    frame, _ = items
    features = ItemFeatures(kinds=KINDS).fit(frame)
    encoded = features.encode(frame)
    assert features.is_sparse
    assert isinstance(encoded, csr_array)
    assert encoded.dtype == np.float32
    assert encoded.shape == (len(frame), features.width) == (len(frame), len(features.get_feature_names_out()))
    dense = ItemFeatures(kinds=KINDS, sparse_output=False).fit(frame)
    np.testing.assert_array_equal(encoded.toarray(), dense.encode(frame))
    assert issparse(features.transform(frame))


def test_few_features_are_dense():
    frame, _ = frame_of(50, n_words=50)
    features = ItemFeatures(kinds=KINDS, max_features=60).fit(frame)
    assert not features.is_sparse
    assert isinstance(features.encode(frame), np.ndarray)
    assert isinstance(features.transform(frame), pd.DataFrame)


def test_many_numbers_are_dense():
    frame = pd.DataFrame(np.eye(4, 1_200)).add_prefix("c")
    assert isinstance(ItemFeatures().fit(frame).encode(frame), np.ndarray)


def test_many_categories_are_sparse():
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(1_500)]})
    encoded = ItemFeatures(kinds={"name": "category"}).fit(frame).encode(frame)
    assert issparse(encoded)
    np.testing.assert_array_equal(np.asarray(encoded.sum(axis=1)), 1)


def test_data_frames_as_output_need_dense_features(items):
    frame, _ = items
    with pytest.raises(ValueError, match="outputs a scipy sparse matrix"):
        ItemFeatures(kinds=KINDS).set_output(transform="pandas").fit(frame).transform(frame)
    dense = ItemFeatures(kinds=KINDS, sparse_output=False).set_output(transform="pandas").fit(frame)
    assert isinstance(dense.transform(frame), pd.DataFrame)
    assert isinstance(dense.transform({name: frame[name].tolist() for name in frame}), pd.DataFrame)


@pytest.mark.parametrize("sparse_output", [True, False])
def test_the_form_comes_back_through_json(items, sparse_output):
    frame, _ = items
    features = ItemFeatures(kinds=KINDS, sparse_output=sparse_output).fit(frame)
    again = ItemFeatures.from_state(json.loads(json.dumps(features.to_state())))
    assert again.is_sparse == sparse_output
    assert abs(again.encode(frame) - features.encode(frame)).max() == 0


def test_encoding_and_fitting_make_nothing_dense():
    frame, score = frame_of(8_000, n_words=20_000, length=12)
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, len(frame), (2, 4_000))
    tracemalloc.start()
    features = ItemFeatures(kinds=KINDS, max_features=20_000).fit(frame)
    X = features.encode(frame)
    pairs = Pairs(X, left, right, difference=np.tanh(score[right] - score[left]))
    model = ConfDiffLogisticRegression(link="preference").fit(pairs)
    model.decision_function(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert X.shape[1] > 19_000
    assert peak < X.shape[0] * X.shape[1] * 4 / 4  # a quarter of the dense matrix


@pytest.mark.parametrize("model", ["linear", "mlp"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_saved_model_of_sparse_features_predicts_the_same_bits(items, model, tmp_path):
    frame, score = items
    rng = np.random.default_rng(2)
    left, right = rng.permutation(len(frame)).reshape(2, -1)
    pairs = pd.DataFrame({"left": left, "right": right, "difference": np.tanh(score[right] - score[left])})
    frame = frame.assign(id=np.arange(len(frame)))
    fitted = fit_comparisons(frame, pairs, kinds=KINDS, model=model, epochs=2)
    assert fitted.features.is_sparse
    fitted.save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_array_equal(loaded.decision_function(frame), fitted.decision_function(frame))
    explained = loaded.explain(frame.head(3), words=3)
    np.testing.assert_allclose(explained.scores, loaded.decision_function(frame.head(3)), rtol=1e-4, atol=1e-5)
    assert len(explained.words[0]["text"]) == 3
