"""Linear models and boosted trees as ONNX graphs, against their own predictions."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

from confdiff import ConfDiffBoosting
from confdiff.links import LINKS
from confdiff.tabular.model.onnx import export_onnx, output_names
from confdiff.tabular.model.outputs import output_columns
from confdiff.tabular.scales import parse_scale
from tabular.learners import LEARNERS, fitted_model, graded
from tabular.people import FRAME, JUDGED

NUMBERS = FRAME.drop(columns="ward")


def run(path, items):
    """Name of an output -> its values."""
    onnx.checker.check_model(onnx.load(path), full_check=True)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    dtype = {"tensor(float)": np.float32, "tensor(double)": np.float64}[session.get_inputs()[0].type]
    return dict(zip(names, session.run(None, {"items": np.asarray(items, dtype=dtype)}), strict=True))


def expected(model, frame):
    scores = model.classifier.decision_function(model.features.encode(frame))
    return {name: output_columns(model, scores, threshold=None)[name] for name in output_names(model)}


def fitted(kind, link, frame, **settings):
    judged = graded(0, 10) if link == "score" else JUDGED
    scale = parse_scale("0,10") if link == "score" else None
    return fitted_model(kind, link, frame=frame, judged=judged, scale=scale, **settings)


def assert_equal_outputs(outputs, reference):
    assert list(outputs) == list(reference)
    for name, values in reference.items():
        assert outputs[name].shape == values.shape
        np.testing.assert_allclose(outputs[name], values, atol=1e-5, rtol=1e-6)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("kind", LEARNERS)
def test_raw_numbers_give_the_same_outputs(tmp_path, kind, link):
    model = fitted(kind, link, NUMBERS)
    export_onnx(model, tmp_path / "model.onnx")
    assert NUMBERS.isna().any().any()
    outputs = run(tmp_path / "model.onnx", NUMBERS)
    assert_equal_outputs(outputs, expected(model, NUMBERS))
    alone = run(tmp_path / "model.onnx", NUMBERS.head(1))
    for name, values in alone.items():
        np.testing.assert_allclose(values, outputs[name][:1], atol=1e-6)


@pytest.mark.parametrize("kind", ["boosting", "linear"])
def test_with_categories_the_input_are_features(tmp_path, kind):
    model = fitted(kind, "probability", FRAME)
    export_onnx(model, tmp_path / "model.onnx")
    outputs = run(tmp_path / "model.onnx", model.features.transform(FRAME))
    assert_equal_outputs(outputs, expected(model, FRAME))
    properties = {entry.key: entry.value for entry in onnx.load(tmp_path / "model.onnx").metadata_props}
    assert json.loads(properties["columns"])[-1] == "ward = C"


@pytest.mark.parametrize("kind", ["boosting", "linear"])
def test_calibration_and_another_prior_are_exported_too(tmp_path, kind):
    settings = {"calibrated": True} if kind == "boosting" else {}
    model = fitted(kind, "probability", NUMBERS, **settings)
    model.classifier.set_params(target_prior=0.1)
    export_onnx(model, tmp_path / "model.onnx")
    assert_equal_outputs(run(tmp_path / "model.onnx", NUMBERS), expected(model, NUMBERS))
    assert kind == "linear" or model.classifier.temperature_ != 1


def with_classifier(model, encoded, rows, c, **settings):
    """The model with trees that are fitted to other features of the same width."""
    options = {"prior": 0.5, "max_iter": 30, "n_folds": 2}
    model.classifier = ConfDiffBoosting(**(options | settings)).fit(rows, c, items=encoded)
    return model


def random_features(width):
    rng = np.random.default_rng(0)
    items = rng.normal(size=(400, width)).astype(np.float32)
    rows = rng.integers(0, 400, (500, 2))
    return rng, items, rows


def test_missing_features_follow_the_branches_of_trees(tmp_path):
    model = fitted("boosting", "probability", FRAME)
    rng, items, rows = random_features(6)
    items[rng.random(items.shape) < 0.3] = np.nan
    r = 1 / (1 + np.exp(-2 * np.where(np.isnan(items[:, 0]), 1.5, items[:, 0])))
    with_classifier(model, items, rows, r[rows[:, 1]] - r[rows[:, 0]])
    export_onnx(model, tmp_path / "model.onnx")
    p = run(tmp_path / "model.onnx", items)["probability"]
    np.testing.assert_allclose(p, model.classifier.predict_proba(items)[:, 1], atol=1e-5)
    unseen = np.full((1, 6), np.nan)
    expected_p = model.classifier.predict_proba(unseen)[:, 1]
    np.testing.assert_allclose(run(tmp_path / "model.onnx", unseen)["probability"], expected_p, atol=1e-5)


def test_missing_values_that_training_has_not_seen_count_as_0(tmp_path):
    model = fitted("boosting", "probability", FRAME)
    _, items, rows = random_features(6)
    r = 1 / (1 + np.exp(-2 * items[:, 0]))
    with_classifier(model, items, rows, r[rows[:, 1]] - r[rows[:, 0]])
    export_onnx(model, tmp_path / "model.onnx")
    items[:50, 0] = np.nan
    p = run(tmp_path / "model.onnx", items)["probability"]
    np.testing.assert_allclose(p, model.classifier.predict_proba(items)[:, 1], atol=1e-5)


def test_splits_of_categories(tmp_path):
    model = fitted("boosting", "probability", FRAME)
    rng, items, rows = random_features(6)
    items[:, 1] = rng.integers(0, 70, 400)  # more than two words of 32 bits
    items[:, 4] = rng.integers(0, 3, 400)
    items[rng.random(400) < 0.1, 1] = np.nan
    r = np.where(np.nan_to_num(items[:, 1], nan=1) % 3 == 1, 0.9, 0.2) * np.where(items[:, 4] == 1, 1, 0.4)
    settings = {"categorical_features": [1, 4], "min_samples_leaf": 2}
    with_classifier(model, items, rows, r[rows[:, 1]] - r[rows[:, 0]], **settings)
    trees = model.classifier.model_.trees()
    assert {int(c) for tree in trees for c in tree.split_feature[tree.is_categorical]} == {1, 4}
    export_onnx(model, tmp_path / "model.onnx")
    new = items[:40].copy()
    new[:, 1] = np.arange(40) * 3  # some of them unknown
    new[0, 4] = 1e6
    for X in (items, new):
        p = run(tmp_path / "model.onnx", X)["probability"]
        np.testing.assert_allclose(p, model.classifier.predict_proba(X)[:, 1], atol=1e-5)


def test_trees_without_splits(tmp_path):
    model = fitted("boosting", "probability", FRAME)
    _, items, rows = random_features(6)
    with_classifier(model, items, rows, np.zeros(len(rows)), min_samples_leaf=400)
    assert all(tree.n_leaves == 1 for tree in model.classifier.model_.trees())
    export_onnx(model, tmp_path / "model.onnx")
    p = run(tmp_path / "model.onnx", items)["probability"]
    np.testing.assert_allclose(p, model.classifier.predict_proba(items)[:, 1], atol=1e-5)
