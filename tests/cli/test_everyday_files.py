"""The commands on files as people have them: the same scores from every format, dialect and encoding."""

import csv
import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from command import confdiff
from confdiff import fit_comparisons
from tabular.people import FRAME, RISK, judgements

ITEMS = FRAME.assign(ward=FRAME["ward"].replace({"A": "Ä"})).rename_axis("id").reset_index().head(120)
PAIRS = judgements(ITEMS.set_index("id"), RISK[:120], seed=3).head(300)


def german(frame):
    return frame.to_csv(index=False, sep=";", decimal=",", lineterminator="\r\n")


WRITERS = {
    "comma.csv": lambda frame, path: frame.to_csv(path, index=False),
    "german.csv": lambda frame, path: path.write_bytes(german(frame).encode("utf-8-sig")),
    "excel-text.csv": lambda frame, path: path.write_bytes(("sep=;\r\n" + german(frame)).encode("utf-16")),
    "tabs.tsv": lambda frame, path: path.write_text(german(frame).replace(";", "\t")),
    "small.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "rows.json": lambda frame, path: frame.to_json(path, orient="records"),
    "rows.jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    "sheet.xlsx": lambda frame, path: frame.to_excel(path, index=False),
    "arrow.parquet": lambda frame, path: frame.to_parquet(path),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("everyday")
    for name, write in WRITERS.items():
        write(ITEMS, folder / f"items-{name}")
    PAIRS.to_csv(folder / "pairs.csv", index=False)
    WRITERS["german.csv"](PAIRS, folder / "pairs-german.csv")
    german_items = german(ITEMS).encode("cp1252")
    (folder / "items-old.csv").write_bytes(german_items)
    arguments = ("--model", "linear", "--epochs", "3", "--prior", "0.5")
    fitted = confdiff("fit", "items-comma.csv", "pairs.csv", "-o", "model", *arguments, cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    return folder


def scores(folder, items, *arguments, output="scores.csv"):
    result = confdiff("predict", "model", items, "-o", output, "--overwrite", *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    return pd.read_csv(folder / output)


@pytest.mark.parametrize("name", WRITERS)
def test_the_same_scores_from_every_file(folder, name):
    expected = scores(folder, "items-comma.csv", output="expected.csv")
    pd.testing.assert_frame_equal(scores(folder, f"items-{name}"), expected)


def test_another_encoding_is_named(folder):
    refused = confdiff("predict", "model", "items-old.csv", "-o", "old.csv", cwd=folder)
    assert refused.returncode == 2
    assert "items-old.csv is not UTF-8 text (byte 0xc4 in line " in refused.stderr
    assert "--encoding cp1252" in refused.stderr
    expected = scores(folder, "items-comma.csv", output="expected.csv")
    pd.testing.assert_frame_equal(scores(folder, "items-old.csv", "--encoding", "cp1252"), expected)
    wrong = confdiff("predict", "model", "items-old.csv", "-o", "old.csv", "--encoding", "klingon", cwd=folder)
    assert "--encoding must be a text encoding" in wrong.stderr


def test_german_files_are_checked_and_fitted_like_others(folder):
    encoding = ("--encoding", "cp1252")
    checked = confdiff("check", "items-old.csv", "pairs-german.csv", *encoding, cwd=folder)
    assert checked.returncode == 0, checked.stderr
    options = ("--model", "linear", "--epochs", "3", "--prior", "0.5", *encoding)
    fitted = confdiff("fit", "items-old.csv", "pairs-german.csv", "-o", "german", *options, cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    weights = [(folder / name / "weights.safetensors").read_bytes() for name in ("model", "german")]
    assert weights[0] == weights[1]


@pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
def test_the_encoding_may_be_in_the_configuration(folder):
    result = confdiff(
        "check",
        "items-old.csv",
        "pairs-german.csv",
        "-o",
        "old",
        "--encoding",
        "cp1252",
        "--write-config",
        "--config",
        "old.toml",
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
    assert 'encoding = "cp1252"' in (folder / "old.toml").read_text()
    expected = scores(folder, "items-comma.csv", output="expected.csv")
    pd.testing.assert_frame_equal(scores(folder, "items-old.csv", "--config", "old.toml"), expected)
    model = fit_comparisons(
        folder / "items-old.csv", folder / "pairs-german.csv", config=folder / "old.toml", model="linear", epochs=1
    )
    assert model.id_name == "id"


def test_another_encoding_than_that_of_a_utf8_file_is_refused(folder):
    predict = ("predict", "model", "items-comma.csv", "-o", "mojibake.csv", "--encoding")
    refused = confdiff(*predict, "cp1252", cwd=folder)
    assert refused.returncode == 2
    assert "items-comma.csv is UTF-8 text, but its encoding was given as 'cp1252'" in refused.stderr
    assert confdiff(*predict, "utf-8", cwd=folder).returncode == 0


def test_scores_are_written_as_a_workbook(folder):
    expected = scores(folder, "items-comma.csv", output="expected.csv")
    confdiff("predict", "model", "items-comma.csv", "-o", "scores.xlsx", "--overwrite", cwd=folder)
    written = pd.read_excel(folder / "scores.xlsx")
    assert written["id"].tolist() == expected["id"].tolist()
    assert np.allclose(written["probability"], expected["probability"])
    assert openpyxl.load_workbook(folder / "scores.xlsx").active["C2"].data_type == "b"


def test_ids_that_begin_like_formulas(folder):
    ids = ["=1+2", "-7", "@x", "+a", *(f"i{row}" for row in range(116))]
    ITEMS.assign(id=ids).to_csv(folder / "formulas.csv", index=False)
    confdiff("predict", "model", "formulas.csv", "-o", "escaped.csv", "--overwrite", cwd=folder)
    confdiff("predict", "model", "formulas.csv", "-o", "plain.csv", "--overwrite", "--no-escape", cwd=folder)
    for name, first in (("escaped.csv", ["'=1+2", "-7", "'@x", "'+a"]), ("plain.csv", ids[:4])):
        rows = list(csv.DictReader(io.StringIO((folder / name).read_text())))
        assert [row["id"] for row in rows[:4]] == first
