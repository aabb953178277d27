"""confdiff explain."""

import json

import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    fit_comparisons(FRAME, JUDGED, model="linear", epochs=3).save(folder / "model")
    FRAME.head(40).to_csv(folder / "items.csv")
    FRAME.to_csv(folder / "all.csv")
    JUDGED.to_csv(folder / "pairs.csv", index=False)
    return folder


def test_explanations_are_written_and_the_first_are_printed(folder):
    arguments = ("model", "items.csv", "-o", "a.csv", "--top", "2", "--page", "a.html", "--first", "2")
    result = confdiff("explain", *arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "P0: score" in result.stdout
    assert "drop of R²" in result.stdout
    assert "40 items explained" in result.stdout
    assert "page: a.html" in result.stdout
    long = pd.read_csv(folder / "a.csv")
    assert len(long) == 40 * 4
    assert (folder / "a.html").read_text().count("<img") == 3
    again = confdiff("explain", *arguments, cwd=folder)
    assert again.returncode == 2
    assert "pass --overwrite" in again.stderr


def test_json_has_the_importance_and_the_first_items(folder):
    result = confdiff("explain", "model", "items.csv", "-o", "b.csv", "--json", cwd=folder)
    assert result.returncode == 0, result.stderr
    values = json.loads(result.stdout)
    assert len(values["items"]) == 5
    assert values["items"][0]["id"] == "P0"
    total = values["base"] + sum(values["items"][0]["contributions"].values())
    assert total == pytest.approx(values["items"][0]["score"])
    assert {row["column"] for row in values["importance"]["columns"]} == set(FRAME.columns)


def test_importance_is_measured_on_other_pairs(folder):
    names = {"left": "a", "right": "b"}
    JUDGED.rename(columns=names).head(50).to_csv(folder / "other.csv", index=False)
    flags = ("--pairs", "other.csv", "--left", "a", "--right", "b")
    result = confdiff("explain", "model", "all.csv", "-o", "c.csv", "--json", *flags, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["importance"]["pairs"] == 50


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--left", "a"), "--left a is about judged pairs: pass --pairs FILE"),
        (("--page", "same.csv"), "--page and --output must be two files; got same.csv"),
        (("--page", "items.csv"), "items.csv is an input of this run"),
        (("--id", "nothing"), "nothing"),
    ],
)
def test_wrong_flags_are_named(folder, flags, message):
    result = confdiff("explain", "model", "items.csv", "-o", "same.csv", *flags, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "same.csv").exists()
