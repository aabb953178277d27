"""Models that know items by their id: for scoring the very items that were compared."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.comparisons import compare, split_pairs
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.model import load_model
from confdiff.tabular.model.scoring import predict_file
from confdiff.tabular.tables import read_items, read_judged
from tabular.people import judgements

RNG = np.random.default_rng(0)
RISK = RNG.uniform(0, 1, 60)
FRAME = pd.DataFrame({"noise": RNG.normal(size=60)}, index=pd.Index([f"P{i}" for i in range(60)], name="patient"))
JUDGED = judgements(FRAME, RISK, n=900)
HOW = {"model": "linear", "epochs": 60, "prior": 0.5}


@pytest.fixture(scope="module")
def model():
    return fit_comparisons(FRAME, JUDGED, with_id=True, **HOW)


def test_what_no_column_tells_is_known_by_the_id(model):
    assert np.corrcoef(model.predict_proba(FRAME)[:, 1], RISK)[0, 1] > 0.95
    assert model.about.data.columns == {"noise": "number", "patient": "category"}
    assert model.id_name == "patient"
    blind = fit_comparisons(FRAME, JUDGED, **HOW)
    assert blind.validation.test.r2 < 0.1 < 0.9 < model.validation.test.r2
    assert blind.id_name == "patient"
    assert (blind.knows_ids, model.knows_ids) == (False, True)


def test_the_ids_are_the_index_or_a_column(model):
    shuffled = FRAME.iloc[::-1].reset_index()
    np.testing.assert_allclose(model.predict_proba(shuffled)[::-1], model.predict_proba(FRAME), atol=1e-6)
    assert set(model.predict(FRAME)) == {-1, 1}
    strangers = model.predict_proba(FRAME.rename(index=lambda name: f"Q{name}"))
    assert np.ptp(strangers[:, 1]) < np.ptp(model.predict_proba(FRAME)[:, 1]) / 2


def test_pairs_are_held_out_with_all_their_judgements():
    judged = pd.concat([JUDGED, JUDGED.rename(columns={"left": "right", "right": "left"})])
    compared = compare(read_items(FRAME), read_judged(judged))
    split = split_pairs(compared, 0.2, seed=0, by="pair")
    ends = [
        {frozenset(ends) for ends in zip(compared.left[part].tolist(), compared.right[part].tolist(), strict=True)}
        for part in (split.train, split.validation, split.test)
    ]
    assert not ends[0] & ends[1] | ends[0] & ends[2] | ends[1] & ends[2]
    assert len(split.train) == pytest.approx(0.8 * len(judged), rel=0.1)
    assert set(compared.left[split.test]) <= set(compared.left[split.train]) | set(compared.right[split.train])


@pytest.mark.parametrize("name", ["P{}", "{}", "{:03}"])
def test_the_whole_way_by_files(tmp_path, name):
    ids = [name.format(number) for number in range(60)]
    names = dict(zip(FRAME.index, ids, strict=True))
    FRAME.rename(index=names).to_csv(tmp_path / "items.csv")
    JUDGED.replace({"left": names, "right": names}).to_csv(tmp_path / "pairs.csv", index=False)
    options = ["--id", "patient", "--with-id", "--model", "linear", "--epochs", "60", "--prior", "0.5"]
    fitted = confdiff("fit", "items.csv", "pairs.csv", *options, cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "of items known by their id" in fitted.stdout
    assert "of items that the model knows by their id" in (tmp_path / "model" / "card.html").read_text()
    assert confdiff("predict", "model", "items.csv", cwd=tmp_path).returncode == 0
    scores = pd.read_csv(tmp_path / "scores.csv")
    assert np.corrcoef(scores["probability"], RISK)[0, 1] > 0.95
    assert scores["id"].astype(str).tolist() == [f"{i}" if name != "P{}" else f"P{i}" for i in range(60)]
    judged = confdiff("evaluate", "model", "items.csv", "--pairs", "pairs.csv", "--json", cwd=tmp_path)
    assert json.loads(judged.stdout)["pairwise_accuracy"] > 0.9
    FRAME.rename_axis("who").to_csv(tmp_path / "others.csv")
    refused = confdiff("predict", "model", "others.csv", "--overwrite", cwd=tmp_path)
    assert refused.returncode == 2
    assert "missing: 'patient'" in refused.stderr
    if name == "P{}":  # the ids may have another name if it is given
        renamed = confdiff("predict", "model", "others.csv", "--id", "who", "-o", "others-scores.csv", cwd=tmp_path)
        assert renamed.returncode == 0, renamed.stderr
        assert (tmp_path / "others-scores.csv").read_text() == (tmp_path / "scores.csv").read_text()


def test_a_model_with_ids_comes_back(model, tmp_path):
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))


def test_scoring_new_ids_warns(model, tmp_path):
    names = {f"P{number}": f"Q{number}" for number in range(3)}
    FRAME.to_csv(tmp_path / "items.csv")
    FRAME.rename(index=names).to_csv(tmp_path / "others.csv")
    assert predict_file(model, tmp_path / "items.csv", tmp_path / "scores.csv") == 60
    with pytest.warns(UserWarning, match="3 of 60 items have an id without training comparisons"):
        predict_file(model, tmp_path / "others.csv", tmp_path / "other-scores.csv")


def test_what_is_known_by_its_id_is_not_held_out_by_group():
    with pytest.raises(ValueError, match="with_id=True holds out pairs and hold_out_groups=True holds out groups"):
        fit_comparisons(FRAME, JUDGED, with_id=True, hold_out_groups=True)
