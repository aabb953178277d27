"""Fitting on Parquet files of pairs, by the command."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.fitting import fit_comparisons
from confdiff.tabular.model.model import load_model
from tabular.people import judgements, people

FRAME, RISK = people(400)
FIT = ("fit", "items.parquet", "pairs", "--model", "linear", "--epochs", "30", "-o", "model")


@pytest.fixture
def folder(tmp_path):
    judged = judgements(FRAME, RISK, n=3000)
    FRAME.reset_index().to_parquet(tmp_path / "items.parquet")
    (tmp_path / "pairs").mkdir()
    for part in range(3):
        judged[part::3].to_parquet(tmp_path / "pairs" / f"part{part}.parquet", row_group_size=200)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_same_quality_as_in_memory(folder):
    result = confdiff(*FIT, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert names(folder) == ["items.parquet", "model", "pairs"]
    p = load_model(folder / "model").predict_proba(FRAME)[:, 1]
    pd.concat([pd.read_parquet(file) for file in sorted((folder / "pairs").iterdir())]).to_parquet(
        folder / "all.parquet"
    )
    whole = confdiff("fit", "items.parquet", "all.parquet", *FIT[3:-1], "whole", cwd=folder)
    assert whole.returncode == 0, whole.stderr
    in_memory = load_model(folder / "whole").predict_proba(FRAME)[:, 1]
    errors = [np.abs(q - RISK).mean() for q in (p, in_memory)]
    assert max(errors) < 0.03
    about = json.loads(confdiff("show", "model", "--json", cwd=folder).stdout)
    assert about["data"]["pairs"] == 3000
    assert about["validation"]["test"]["pairwise_accuracy"] > 0.95
    assert 0.7 < about["validation"]["training_pairs"] / 3000 < 0.9


def test_scales_weights_and_single_files(folder):
    judged = pd.read_parquet(folder / "pairs" / "part0.parquet")
    judged = judged.assign(difference=(judged["difference"] * 3).round(), weight=1.0)
    judged.to_parquet(folder / "seven.parquet", row_group_size=100)
    result = confdiff("fit", "items.parquet", "seven.parquet", "--stream", *FIT[3:], cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "a 7-point scale from -3 to 3" in result.stdout


def test_a_stream_has_the_scale_of_all_its_values(folder):
    """The extremes alone cannot distinguish Saaty's ratios from others."""
    part = pd.read_parquet(folder / "pairs" / "part0.parquet")
    ratio = np.clip(np.round(9 ** np.abs(part["difference"])), 1, 9)
    ratios = part.assign(difference=np.where(part["difference"] > 0, ratio, (1 / ratio).round(2)))
    ratios.to_parquet(folder / "saaty.parquet", row_group_size=100)
    result = confdiff("fit", "items.parquet", "saaty.parquet", "--stream", *FIT[3:], cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "Saaty's ratios from 1/9 to 9" in result.stdout
    assert "--scale saaty,reversed" in result.stdout
    other = ratios.assign(difference=np.where(ratios["difference"] == 1, 1.5, ratios["difference"]))
    other.to_parquet(folder / "other.parquet", row_group_size=100)
    result = confdiff("fit", "items.parquet", "other.parquet", "--stream", *FIT[3:-1], "other", cwd=folder)
    assert result.returncode == 2
    assert "--scale 0,10 if 5 means equal" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"left": "P9999"},
            "part1.parquet, column 'left', row 7 (the first row is row 0): the id 'P9999' is not among the items",
        ),
        ({"difference": 1.7}, "1.7 in row 7 (the first row is row 0)"),
        ({"difference": np.nan}, "row 7 (the first row is row 0): the difference is missing"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_left_behind(folder, change, message):
    path = folder / "pairs" / "part1.parquet"
    judged = pd.read_parquet(path).reset_index(drop=True)
    judged.loc[7, list(change)] = list(change.values())
    judged.to_parquet(path, row_group_size=200)
    result = confdiff(*FIT, cwd=folder)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert names(folder) == ["items.parquet", "pairs"]


def test_in_python_with_a_folder_of_ones_own(folder):
    (folder / "work").mkdir()
    (folder / "work" / "notes.txt").write_text("kept")
    options = {"model": "linear", "epochs": 2, "prior": 0.5, "stream": True}
    model = fit_comparisons(folder / "items.parquet", folder / "pairs", work=folder / "work", **options)
    assert model.about.data.streamed
    assert names(folder / "work") == ["notes.txt"]
    again = fit_comparisons(folder / "items.parquet", folder / "pairs", **options)
    np.testing.assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    with pytest.raises(ValueError, match="with_id=True needs all pairs in memory"):
        fit_comparisons(folder / "items.parquet", folder / "pairs", with_id=True, **options)
    with pytest.raises(ValueError, match=r"no column of .*items.parquet is named 'nope' \(ignore='nope'\)"):
        fit_comparisons(folder / "items.parquet", folder / "pairs", ignore=("nope",), **options)


def test_what_streams_do_not_have(folder):
    result = confdiff(*FIT, "--labels", "ill", cwd=folder)
    assert result.returncode == 2
    assert "--labels ill needs all pairs in memory" in " ".join(result.stderr.split())
