"""Check models of items with vectors: from tables and .npy files, in memory and streamed."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from confdiff import ItemFeatures, fit_comparisons, load_model
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.features.kinds import kind_of
from confdiff.tabular.model.evaluation import evaluate_pairs
from confdiff.tabular.model.scoring import predict_file

N_ITEMS = 120
N_DIMENSIONS = 8
RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(N_ITEMS, N_DIMENSIONS)).astype(np.float32) + 3
SCORE = (VECTORS - 3) @ RNG.normal(size=N_DIMENSIONS)
LEFT = RNG.integers(0, N_ITEMS, 600)
RIGHT = (LEFT + RNG.integers(1, N_ITEMS, 600)) % N_ITEMS
PAIRS = pd.DataFrame({"left": LEFT, "right": RIGHT, "difference": np.tanh((SCORE[RIGHT] - SCORE[LEFT]) / 4)})


def frame(**columns):
    return pd.DataFrame({"id": range(N_ITEMS), "embedding": list(VECTORS)} | columns)


@pytest.fixture(scope="module")
def model():
    return fit_comparisons(VECTORS, PAIRS, model="linear", link="score")


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "items.npy", VECTORS)
    PAIRS.to_parquet(tmp_path / "pairs.parquet")
    return tmp_path


def test_vectors_determine_the_scores(model):
    assert model.validation.test.pairwise_accuracy > 0.95
    assert np.corrcoef(model.decision_function(VECTORS), SCORE)[0, 1] > 0.99
    assert model.features.kinds_ == {"vector": "vector"}


def test_all_sources_give_the_same_model(model, files):
    of_file = fit_comparisons(files / "items.npy", files / "pairs.parquet", model="linear", link="score")
    of_frame = fit_comparisons(frame(), PAIRS, model="linear", link="score")
    np.testing.assert_array_equal(of_file.decision_function(VECTORS), model.decision_function(VECTORS))
    np.testing.assert_array_equal(of_frame.decision_function(frame()), model.decision_function(VECTORS))


def test_a_saved_model_scores_files_and_is_measured(model, files):
    model.save(files / "model")
    loaded = load_model(files / "model")
    predict_file(loaded, files / "items.npy", files / "scores.csv")
    scores = pd.read_csv(files / "scores.csv")
    assert scores["id"].tolist() == list(range(N_ITEMS))
    np.testing.assert_allclose(scores["score"], model.decision_function(VECTORS), rtol=1e-6)
    assert evaluate_pairs(loaded, files / "items.npy", files / "pairs.parquet").pairwise_accuracy > 0.9
    state = json.loads((files / "model" / "model.json").read_text())["features"]
    assert state["types"] == {"vector": "vector"}
    assert len(state["encoders"][0]["mean"]) == N_DIMENSIONS


def test_explanations_name_the_column(model):
    explained = model.explain(VECTORS[:5])
    np.testing.assert_allclose(
        explained.base + explained.contributions.sum(axis=1), model.decision_function(VECTORS[:5]), rtol=1e-5
    )
    assert list(explained.to_frame().columns) == ["vector"]


def test_a_table_is_checked(files):
    report = check_comparisons(files / "items.npy", files / "pairs.parquet")
    assert not [finding for finding in report.findings if finding.severity == "error"]


def test_streams_learn_from_vectors(files):
    streamed = fit_comparisons(
        files / "items.npy", files / "pairs.parquet", stream=True, work=files, epochs=20, link="score"
    )
    assert streamed.validation.test.pairwise_accuracy > 0.85


def test_vectors_of_another_length_in_a_later_part_are_refused(files):
    rows = [{"id": row, "embedding": VECTORS[row].tolist()} for row in range(N_ITEMS)]
    rows[100]["embedding"] = [1.0]
    path = files / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(ValueError, match=r"items\.jsonl.*column 'embedding' must hold one value per row, or vectors"):
        fit_comparisons(path, files / "pairs.parquet", stream=True, work=files, epochs=1)


def test_features_are_centred_with_one_scale():
    encoded = ItemFeatures().fit(frame()[["embedding"]]).encode(frame())
    expected = (VECTORS - VECTORS.mean(axis=0)) / np.sqrt(VECTORS.var(axis=0).mean())
    np.testing.assert_allclose(encoded, expected, rtol=1e-4, atol=1e-5)
    assert encoded.dtype == np.float32


def test_missing_vectors_become_the_mean_and_are_marked():
    items = frame()
    items.loc[[3, 7], "embedding"] = None
    encoder = ItemFeatures().fit(items[["embedding"]])
    encoded = encoder.encode(items)
    assert encoder.get_feature_names_out()[-1] == "embedding is missing"
    np.testing.assert_array_equal(encoded[[3, 7]], [[0] * N_DIMENSIONS + [1]] * 2)
    assert not encoded[0, -1]
    all_missing = encoder.encode(pd.DataFrame({"embedding": [None, None]}))
    np.testing.assert_array_equal(all_missing, encoded[[3, 7]])


def test_a_row_of_nan_is_a_missing_vector():
    vectors = VECTORS.copy()
    vectors[5] = np.nan
    encoded = ItemFeatures().fit({"embedding": vectors}).encode({"embedding": vectors})
    np.testing.assert_array_equal(encoded[5], [0] * N_DIMENSIONS + [1])


BROKEN = {
    "row 2: the numbers of a vector must be finite; got nan at position 1": [np.nan],
    "row 2: the numbers of a vector must be finite; got inf at position 1": [np.inf],
}


@pytest.mark.parametrize("message", BROKEN)
def test_numbers_that_are_not_finite_are_refused(message):
    vectors = VECTORS.copy()
    vectors[2, 1] = BROKEN[message][0]
    with pytest.raises(ValueError, match="the items, column 'embedding', row 2") as error:
        fit_comparisons(frame(embedding=list(vectors)), PAIRS)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (list(VECTORS[:, :5]), "must hold vectors of 8 numbers, as in training; got 5"),
        ([[1.0], *VECTORS[1:].tolist()], "must hold one value per row, or vectors"),
        (list(range(N_ITEMS)), "row 0: must be a list of numbers; got 0"),
        (["a"] * N_ITEMS, "row 0: must be a list of numbers; got 'a'"),
        (list(VECTORS.astype(float) * 1e39), "row 0: the numbers of a vector must be finite"),
    ],
)
def test_other_columns_at_prediction_are_refused(column, message):
    encoder = ItemFeatures().fit(frame()[["embedding"]])
    with pytest.raises(ValueError, match="column 'embedding'") as error:
        encoder.encode({"embedding": column})
    assert message in str(error.value)


def test_vectors_have_no_other_role():
    with pytest.raises(ValueError, match="column 'embedding', must hold one value per row; got vectors"):
        fit_comparisons(frame(x=1.0), PAIRS, id="embedding")
    with pytest.raises(ValueError, match="column 'difference', must hold one value per row; got vectors"):
        fit_comparisons(frame(), PAIRS.assign(difference=[[1.0, 2.0]] * len(PAIRS)))
    with pytest.raises(ValueError, match="column 'embedding', must hold one value per row; got vectors"):
        fit_comparisons(frame(x=RNG.normal(size=N_ITEMS)), PAIRS, labels="embedding")


def test_texts_where_vectors_come_are_refused_at_prediction():
    encoder = ItemFeatures(kinds={"word": "category"}).fit({"word": ["a", "b", "a"]})
    with pytest.raises(ValueError, match="column 'word': must hold texts or numbers; got vectors"):
        encoder.encode({"word": VECTORS[:3]})


@pytest.mark.parametrize("kind", ["number", "flag", "time", "category", "text"])
def test_vectors_are_of_no_other_kind(kind):
    with pytest.raises(ValueError, match=f"column 'embedding': holds vectors, which cannot be of the kind '{kind}'"):
        ItemFeatures(kinds={"embedding": kind}).fit(frame())


@pytest.mark.parametrize("write", [str, lambda row: str(np.array(row)), lambda row: f" {row} "])
def test_vectors_as_text_in_csv_are_refused(write, tmp_path):
    path = tmp_path / "items.csv"
    frame(embedding=[write(row) for row in VECTORS.tolist()]).to_csv(path, index=False)
    with pytest.raises(
        ValueError, match=r"column 'embedding' holds lists of numbers as text, such as .* Write vectors"
    ):
        fit_comparisons(path, PAIRS)
    kinds = {"embedding": "text"}
    assert fit_comparisons(path, PAIRS, kinds=kinds, model="linear").features.kinds_ == kinds


def test_texts_in_brackets_are_texts():
    texts = ["[the dog ran home]", "[1, 2]", "[a cat ran home]", "[2, 3]"] * 20
    assert ItemFeatures(kinds={"note": "text"}).fit({"note": texts}).kinds_ == {"note": "text"}
    assert kind_of("note", np.array(texts, dtype=object)) == "category"
    assert kind_of("note", np.array(["[1]", "[2]"] * 20, dtype=object)) == "category"


def test_vectors_and_numbers_are_encoded_together():
    weight = RNG.normal(size=N_ITEMS)
    encoder = ItemFeatures().fit(frame(weight=weight).drop(columns="id"))
    assert encoder.width == N_DIMENSIONS + 1
    first = LinearRegression().fit(encoder.encode(frame(weight=weight)), weight)
    assert first.score(encoder.encode(frame(weight=weight)), weight) > 0.999


@pytest.mark.parametrize("learner", ["linear", "boosting"])
def test_a_model_of_vectors_is_exported_with_its_encoding(learner, tmp_path):
    onnx = pytest.importorskip("onnxruntime")
    from confdiff.tabular.model.onnx import export_onnx, input_bits

    items = frame()
    items.loc[4, "embedding"] = None
    fitted = fit_comparisons(items, PAIRS.iloc[:200], model=learner, link="score")
    export_onnx(fitted, tmp_path / "model.onnx")
    session = onnx.InferenceSession(tmp_path / "model.onnx")
    raw = VECTORS.astype(f"f{input_bits(fitted) // 8}")
    raw[4] = np.nan
    (scores,) = session.run(None, {"items": raw})
    np.testing.assert_allclose(scores, fitted.decision_function(items), rtol=1e-4, atol=1e-4)
