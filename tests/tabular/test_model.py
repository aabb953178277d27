import json

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.evaluation import evaluate_labels, evaluate_pairs, measure, write_evaluation
from confdiff.tabular.model.model import ComparisonModel, load_model
from confdiff.tabular.model.scoring import predict_file
from tabular.people import judgements, people

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
FRAME, RISK = people()
JUDGED = judgements(FRAME, RISK)


@pytest.fixture(scope="module")
def model():
    return fit_comparisons(FRAME, JUDGED, model="linear", epochs=40)


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_risks_are_learned_from_comparisons(model):
    p = model.predict_proba(FRAME)[:, 1]
    assert np.abs(p - RISK).mean() < 0.1
    assert np.mean((p > 0.5) == (RISK > 0.5)) > 0.9
    assert set(model.predict(FRAME)) == {-1, 1}


def test_the_figures_come_from_held_out_pairs(model):
    validation = model.validation
    assert validation.test.pairwise_accuracy > 0.85
    counted = validation.training_pairs + validation.validation_pairs + validation.test.pairs
    assert counted == len(JUDGED)
    assert validation.new_items.pairs < validation.test.pairs
    assert model.about.data.columns == {"age": "number", "ward": "category", "pressure": "number"}


def test_without_validation_nothing_is_claimed():
    quick = fit_comparisons(FRAME, JUDGED, model="linear", epochs=1, validation_fraction=0, prior=0.5)
    assert quick.validation is None


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
    with pytest.raises(FileExistsError, match="is there already"):
        model.save(folder)
    assert {file.name: file.read_bytes() for file in folder.iterdir()} == before
    assert sorted(before) == ["card.html", "model.json", "weights.safetensors"]
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
        (lambda folder: (folder / "model.json").write_text("{"), "was not written by confdiff"),
        (lambda folder: (folder / "model.json").write_text("[]"), "was not written by confdiff"),
        (other_format(99), "has format 99; confdiff .* reads format 2. Update confdiff"),
        (other_format(1), "has format 1; confdiff .* reads format 2. Fit the model again"),
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


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_files_are_scored_in_batches(model, tmp_path, ending, monkeypatch):
    monkeypatch.setattr("confdiff.io.batches._BYTES", 2000)
    path, frame = tmp_path / f"items.{ending}", FRAME.reset_index()
    write = {
        "csv": lambda: frame.to_csv(path, index=False),
        "tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        "parquet": lambda: frame.to_parquet(path, row_group_size=40),
        "jsonl": lambda: frame.to_json(path, orient="records", lines=True),
    }
    write[ending]()
    seen = []
    assert predict_file(model, path, tmp_path / "scores.csv", done=seen.append) == 300
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert scores["id"].tolist() == FRAME.index.tolist()
    np.testing.assert_allclose(scores["probability"], model.predict_proba(FRAME)[:, 1], atol=1e-6)
    assert (scores["positive"] == (scores["probability"] >= 0.5)).all()
    assert seen[-1] == 300
    assert ending == "parquet" or len(seen) > 1


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_scores_in_every_form(model, tmp_path, ending):
    from confdiff.io.tables import read_table

    FRAME.reset_index().to_parquet(tmp_path / "items.parquet")
    predict_file(model, tmp_path / "items.parquet", tmp_path / f"scores.{ending}")
    table = read_table(tmp_path / f"scores.{ending}")
    assert table["id"].tolist() == FRAME.index.tolist()
    np.testing.assert_allclose(table["probability"].astype(float), model.predict_proba(FRAME)[:, 1], atol=1e-6)


def test_ids_stay_as_they_are_and_rows_are_numbered_without(model, tmp_path):
    frame = FRAME.head(3).reset_index(drop=True)
    frame.assign(id=["007", "08", "9"]).to_csv(tmp_path / "items.csv", index=False)
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.tsv")
    assert pd.read_csv(tmp_path / "scores.tsv", sep="\t", dtype=str)["id"].tolist() == ["007", "08", "9"]
    frame.to_csv(tmp_path / "items.csv", index=False)
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.tsv")
    assert pd.read_csv(tmp_path / "scores.tsv", sep="\t")["id"].tolist() == [0, 1, 2]


def test_labels_are_compared_with_probabilities(model, tmp_path):
    labels = (np.random.default_rng(3).random(300) < RISK).astype(float)
    labels[:50] = np.nan
    FRAME.assign(ill=labels).to_parquet(tmp_path / "items.parquet")
    found = evaluate_labels(model, tmp_path / "items.parquet", "ill")
    assert (found.items, found.without_label) == (250, 50)
    assert found.positives == int(np.nansum(labels))
    p = model.predict_proba(FRAME)[50:, 1]
    assert found.accuracy == pytest.approx(np.mean((p >= 0.5) == (labels[50:] == 1)))
    assert found.brier == pytest.approx(np.mean((p - labels[50:]) ** 2), abs=1e-6)
    (tn, fp), (fn, tp) = found.confusion
    assert tn + tp == round(found.accuracy * 250)
    assert tn + fp + fn + tp == 250
    files = write_evaluation(found, tmp_path / "page", "ill")
    assert json.loads(files["figures"].read_text())["auc"] == found.auc
    assert "data:image/png" in files["page"].read_text()


def test_one_class_has_no_area_under_the_curve():
    found = measure(np.array([0.2, 0.9]), np.array([1.0, 1.0]))
    assert found.auc is None
    assert found.accuracy == 0.5


def test_judged_pairs_are_compared_with_probabilities(model, tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    judgements(FRAME, RISK, seed=9).to_csv(tmp_path / "pairs.csv", index=False)
    found = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "pairs.csv")
    assert found.pairs == 600
    assert found.pairwise_accuracy > 0.9


def test_a_few_labels_tell_the_prior():
    labels = pd.Series(np.nan, index=FRAME.index)
    chosen = np.random.default_rng(5).permutation(300)[:60]
    labels.iloc[chosen] = (np.random.default_rng(6).random(60) < RISK[chosen]).astype(int)
    told = fit_comparisons(FRAME.assign(ill=labels), JUDGED, labels="ill", model="linear", epochs=20)
    assert "ill" not in told.about.data.columns
    assert told.classifier.prior_estimate_.n_labels == 60
    assert abs(told.classifier.prior_ - RISK.mean()) < 0.1


def test_warnings_are_given_and_kept():
    narrow = 0.4 + 0.2 * RISK
    with pytest.warns(UserWarning, match="do not determine the class prior"):
        open_prior = fit_comparisons(FRAME, judgements(FRAME, narrow), model="linear", epochs=20)
    assert any("do not determine the class prior" in text for text in open_prior.about.warnings)


def test_ids_of_a_frame_are_its_index_or_a_column():
    frame = FRAME.reset_index()
    pd.testing.assert_index_equal(frame.index, pd.RangeIndex(300))
    by_column = fit_comparisons(frame, JUDGED, model="linear", epochs=2)
    by_index = fit_comparisons(FRAME, JUDGED, model="linear", epochs=2)
    np.testing.assert_array_equal(by_column.predict_proba(frame), by_index.predict_proba(FRAME))
    assert "id" not in by_column.about.data.columns


def test_a_scale_may_be_given():
    seven = JUDGED.assign(difference=(JUDGED["difference"] * 3).round() + 4)
    told, found = (fit_comparisons(FRAME, seven, model="linear", epochs=2, scale=scale) for scale in ((1, 7), None))
    assert told.about.data.scale == "a scale from 1 to 7"
    assert found.about.data.scale == "a 7-point scale from 1 to 7"
    np.testing.assert_array_equal(told.predict_proba(FRAME), found.predict_proba(FRAME))
