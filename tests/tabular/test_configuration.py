"""Columns and options in confdiff.toml, which every command that reads tables uses."""

import json

import pandas as pd
import pytest

from command import confdiff
from confdiff.config import Config, load_config
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED, judgements

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")

OPTIONS = {"model": "linear", "epochs": 3, "validation_fraction": 0}
ROLES = {"left": "second look", "right": "first look", "difference": "grade", "annotator": "who"}
HOSTILE = 'id "no." = [1]'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Tables whose columns need names: left and right cannot be known, and one column is the answer."""
    folder = tmp_path_factory.mktemp("tables")
    items = FRAME.rename_axis(HOSTILE).reset_index()
    items["copy"] = items[HOSTILE].to_numpy()[::-1]  # holds all ids, too
    items["zone"] = range(len(items))
    items.to_csv(folder / "items.csv", index=False)
    pairs = JUDGED.rename(columns={"left": "second look", "right": "first look", "difference": "grade"})
    pairs.assign(who=1).to_csv(folder / "pairs.csv", index=False)
    config = Config(id=HOSTILE, ignore=("copy",), prior=0.4, kinds={"ward": "category", "zone": "ignore"}, **ROLES)
    (folder / "confdiff.toml").write_text(config.to_toml())
    return folder


def test_every_command_reads_the_file(folder):
    fit = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "3")
    fitted = confdiff(*fit, cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    assert "columns and options from confdiff.toml; flags win" in fitted.stderr
    assert "age (number), ward (category), pressure (number) and zone (ignore)" in fitted.stdout
    assert "prior 0.400" in fitted.stdout
    checked = confdiff("check", "items.csv", "pairs.csv", "-q", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    assert "confdiff.toml" not in checked.stdout + checked.stderr
    assert confdiff("predict", "model", "items.csv", cwd=folder).returncode == 0
    assert pd.read_csv(folder / "scores.csv")["id"].tolist() == FRAME.index.tolist()
    evaluated = confdiff("evaluate", "model", "items.csv", "--pairs", "pairs.csv", "--json", cwd=folder)
    assert evaluated.returncode == 0, evaluated.stderr
    assert json.loads(evaluated.stdout)["pairs"] == len(JUDGED)


def test_flags_win(folder):
    fit = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "3", "--prior", "0.3", "-o", "flags")
    fitted = confdiff(*fit, "--category", "zone", cwd=folder)
    assert fitted.returncode == 0, fitted.stderr
    assert "zone (category)" in fitted.stdout
    assert "prior 0.300" in fitted.stdout


def test_python_reads_only_a_file_that_is_passed(folder):
    tables = (folder / "items.csv", folder / "pairs.csv")
    model = fit_comparisons(*tables, config=folder / "confdiff.toml", **OPTIONS)
    assert (model.id_name, model.about.options.prior) == (HOSTILE, 0.4)
    assert check_comparisons(*tables, config=folder / "confdiff.toml").id_name == HOSTILE
    with pytest.raises(ValueError, match=r"no column of .* is named 'difference'"):
        fit_comparisons(*tables, id=HOSTILE, left="first look", right="second look", **OPTIONS)
    own = fit_comparisons(FRAME, JUDGED, config=None, **OPTIONS)
    assert own.about.options.prior is None


def test_check_writes_what_it_found(tmp_path):
    FRAME.rename_axis("patient").to_csv(tmp_path / "items.csv")
    pairs = judgements(FRAME, FRAME["age"].rank().to_numpy() / 300)
    pairs.columns = ["patient_b", "patient_a", "difference"]
    pairs["difference"] *= -1
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    check = ("check", "items.csv", "pairs.csv", "--ignore", "ward", "--number", "age")
    offered = confdiff(*check, cwd=tmp_path)
    assert (
        "for all commands: confdiff check items.csv pairs.csv --ignore ward --number age --write-config"
        in offered.stdout
    )
    assert not (tmp_path / "confdiff.toml").exists()
    written = confdiff(*check, "--write-config", "--json", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    assert json.loads(written.stdout)["id_name"] == "patient"
    found = Config(
        id="patient",
        left="patient_a",
        right="patient_b",
        difference="difference",
        scale="-1,1",
        ignore=("ward",),
        kinds={"age": "number"},
    )
    assert load_config(tmp_path / "confdiff.toml") == found
    again = confdiff(*check, "--write-config", cwd=tmp_path)
    assert again.returncode == 2
    assert "confdiff.toml already exists" in again.stderr
    assert confdiff(*check[:3], "--write-config", "--overwrite", cwd=tmp_path).returncode == 0
    assert load_config(tmp_path / "confdiff.toml") == found  # what the file says is kept
    assert "--write-config" not in confdiff(*check, cwd=tmp_path).stdout
    elsewhere = confdiff(*check, "--write-config", "--config", "other.toml", cwd=tmp_path)
    assert elsewhere.returncode == 0, elsewhere.stderr
    assert load_config(tmp_path / "other.toml") == found


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('lft = "a"', "broken.toml: unknown key 'lft'. Did you mean 'left'?"),
        ("id =", "broken.toml cannot be read as TOML"),
        ('id = "nowhere"', "no column of items.csv is named 'nowhere' (--id nowhere)"),
        ('[kinds]\nage = "numbr"', "unknown kind 'numbr'. Did you mean 'number'?"),
        ('scale = "seven"', "a scale must be two numbers"),
        (None, "the file broken.toml does not exist (--config broken.toml)"),
    ],
)
def test_a_broken_file_is_named(folder, text, message, tmp_path):
    for name in ("items.csv", "pairs.csv"):
        (tmp_path / name).write_text((folder / name).read_text())
    named = "".join(f'{role} = "{column}"\n' for role, column in ROLES.items())
    if text is not None:
        ids = "" if "id" in text.split(" ")[0] else f"id = '{HOSTILE}'\n"
        (tmp_path / "broken.toml").write_text(ids + named + text)
    command = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "1", "--config", "broken.toml")
    result = confdiff(*command, cwd=tmp_path)
    assert result.returncode == 2, result.stdout
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
