import json

import numpy as np
import pytest

from confdiff.tabular.model.model import ComparisonModel, load_model
from tabular.people import FRAME

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_model_comes_back_as_it_was(model, folder):
    again = load_model(folder)
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    assert again.about == model.about
    shuffled = FRAME[["pressure", "ward", "age"]].iloc[::-1]
    np.testing.assert_allclose(again.predict_proba(shuffled)[::-1], model.predict_proba(FRAME), rtol=1e-6)


def test_a_model_with_a_target_prior_comes_back(model, folder):
    model.classifier.set_params(target_prior=0.2)
    try:
        model.save(folder, overwrite=True)
        again = load_model(folder).predict_proba(FRAME)
        np.testing.assert_array_equal(again, model.predict_proba(FRAME))
    finally:
        model.classifier.set_params(target_prior=None)
    assert again[:, 1].mean() < model.predict_proba(FRAME)[:, 1].mean()


def test_what_is_there_is_not_overwritten_unasked(model, folder):
    before = {file.name: file.read_bytes() for file in folder.iterdir()}
    with pytest.raises(FileExistsError, match="already exists"):
        model.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert sorted(before) == ["background.safetensors", "card.html", "model.json", "weights.safetensors"]
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def test_a_failure_leaves_the_old_model(model, folder, monkeypatch):
    monkeypatch.setattr("confdiff.tabular.model.card.card_html", lambda model: 1 / 0)
    before = load_model(folder).predict_proba(FRAME)
    with pytest.raises(ZeroDivisionError):
        model.save(folder, overwrite=True)
    np.testing.assert_array_equal(load_model(folder).predict_proba(FRAME), before)
    assert [file.name for file in folder.parent.iterdir()] == ["model"]


def alter_weights(folder):
    path = folder / "weights.safetensors"
    contents = bytearray(path.read_bytes())
    contents[-1] ^= 1
    path.write_bytes(contents)


def alter_manifest(folder):
    path = folder / "model.json"
    path.write_text(path.read_text().replace('"offset": 0.0', '"offset": 9.0'))


def other_format(number):
    return lambda folder: (folder / "model.json").write_text(json.dumps({"format": number, "seal": ""}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "weights.safetensors").unlink(), "weights.safetensors is missing"),
        (lambda folder: (folder / "model.json").unlink(), "is not a complete model"),
        (alter_weights, "weights.safetensors was altered"),
        (alter_manifest, "model.json was altered"),
        (lambda folder: (folder / "model.json").write_text("{"), "model.json is damaged"),
        (lambda folder: (folder / "model.json").write_text("[]"), "model.json is damaged"),
        (other_format(99), "has format 99; confdiff .* reads format 4. Update confdiff"),
        (other_format(1), "has format 1; confdiff .* reads format 4. Fit the model again"),
        (lambda folder: (folder / "code.py").write_text("evil"), "holds 'code.py', which does not belong"),
    ],
)
def test_folders_that_are_not_as_they_were_written(folder, change, message):
    change(folder)
    with pytest.raises((ValueError, OSError), match=message):
        load_model(folder)


def test_only_networks_with_a_name_are_saved(model, tmp_path):
    import torch

    odd = ComparisonModel(model.features, model.classifier.__class__(model=torch.nn.Linear(3, 1)), model.about)
    with pytest.raises(ValueError, match="only classifiers with a network from the table of models can be saved"):
        odd.save(tmp_path / "odd")
