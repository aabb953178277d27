"""Scores of files of items."""

import numpy as np
import pandas as pd
import pytest

from confdiff.io.table_formats.registry import TABLE_FORMATS
from confdiff.io.table_formats.table_format import TableFormat
from confdiff.io.typed_table import read_table
from confdiff.tabular.model.scoring import predict_file
from tabular.people import FRAME

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_files_are_scored_in_batches(model, tmp_path, ending, monkeypatch):
    monkeypatch.setattr(TableFormat, "block_bytes", 2000)
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


@pytest.mark.parametrize("ending", TABLE_FORMATS)
def test_scores_in_every_form(model, tmp_path, ending):
    FRAME.reset_index().to_parquet(tmp_path / "items.parquet")
    predict_file(model, tmp_path / "items.parquet", tmp_path / f"scores{ending}")
    table = read_table(tmp_path / f"scores{ending}")
    assert table["id"].tolist() == FRAME.index.tolist()
    np.testing.assert_allclose(table["probability"].astype(float), model.predict_proba(FRAME)[:, 1], atol=1e-6)


def test_ids_stay_as_they_are_and_rows_are_numbered_without(model, tmp_path):
    frame = FRAME.head(3).reset_index(drop=True)
    frame.assign(id=["007", "08", "9"]).to_csv(tmp_path / "items.csv", index=False)
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.tsv")
    assert pd.read_csv(tmp_path / "scores.tsv", sep="\t", dtype=str)["id"].tolist() == ["007", "08", "9"]
    frame.to_csv(tmp_path / "items.csv", index=False)
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.tsv", overwrite=True)
    numbered = pd.read_csv(tmp_path / "scores.tsv", sep="\t")
    assert list(numbered) == ["row", "probability", "positive"]  # row numbers are not called ids
    assert numbered["row"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("header", ["id", " ID ", "Id"])
def test_the_ids_are_in_the_column_of_the_model(model, tmp_path, header):
    frame = FRAME.head(3).reset_index(drop=True)
    others = {"name": ["Ann", "Bob", "Eve"], header: ["P7", "P8", "P9"], "key": [1, 2, 3]}
    pd.DataFrame(others).join(frame).to_csv(tmp_path / "items.csv", index=False)
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.csv")
    assert pd.read_csv(tmp_path / "scores.csv")["id"].tolist() == ["P7", "P8", "P9"]
    predict_file(model, tmp_path / "items.csv", tmp_path / "scores.csv", id="name", overwrite=True)
    assert pd.read_csv(tmp_path / "scores.csv")["id"].tolist() == ["Ann", "Bob", "Eve"]
