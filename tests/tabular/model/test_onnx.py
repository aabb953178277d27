import json

import numpy as np
import onnxruntime
import pytest

from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.onnx import export_onnx, input_columns
from tabular.people import FRAME, JUDGED

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


def run(path, items):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    columns = json.loads(session.get_modelmeta().custom_metadata_map["columns"])
    return columns, session.run(None, {"items": np.asarray(items, dtype=np.float32)})[0]


@pytest.mark.parametrize("network", ["linear", "mlp", "authors-mlp"])
def test_raw_numbers_give_the_same_probabilities(tmp_path, network):
    numbers = FRAME.drop(columns="ward")
    model = fit_comparisons(numbers, JUDGED, model=network, epochs=3, prior=0.4)
    export_onnx(model, tmp_path / "model.onnx")
    assert numbers.isna().any().any()
    columns, p = run(tmp_path / "model.onnx", numbers)
    assert columns == ["age", "pressure"] == input_columns(model)
    np.testing.assert_allclose(p, model.predict_proba(numbers)[:, 1], atol=1e-5)
    _, alone = run(tmp_path / "model.onnx", numbers.head(1))
    np.testing.assert_allclose(alone, p[:1], atol=1e-6)


def test_another_prior_is_exported_too(tmp_path):
    numbers = FRAME.drop(columns="ward")
    model = fit_comparisons(numbers, JUDGED, model="linear", epochs=3, prior=0.4)
    model.classifier.set_params(target_prior=0.1)
    export_onnx(model, tmp_path / "model.onnx")
    np.testing.assert_allclose(run(tmp_path / "model.onnx", numbers)[1], model.predict_proba(numbers)[:, 1], atol=1e-5)


def test_with_categories_the_input_are_features(tmp_path):
    model = fit_comparisons(FRAME, JUDGED, model="linear", epochs=3, prior=0.4)
    export_onnx(model, tmp_path / "model.onnx")
    columns, p = run(tmp_path / "model.onnx", model.features.transform(FRAME))
    assert columns == ["age", "pressure", "pressure is missing", "ward = A", "ward = B", "ward = C"]
    np.testing.assert_allclose(p, model.predict_proba(FRAME)[:, 1], atol=1e-5)
