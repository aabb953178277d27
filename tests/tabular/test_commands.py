"""The commands for tables: from files to scores, and files with mistakes."""

import json
import os
import resource
import signal
import time

import numpy as np
import pandas as pd
import pytest

from command import confdiff, installed, start
from confdiff.tabular.model.model import load_model
from tabular.people import FRAME, JUDGED, RISK

FIT = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "5")


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """A folder with items, pairs and a model."""
    folder = tmp_path_factory.mktemp("own")
    write_files(folder)
    result = confdiff(*FIT, cwd=folder)
    assert result.returncode == 0, result.stderr
    return folder


def write_files(folder):
    labels = (np.random.default_rng(3).random(len(FRAME)) < RISK).astype(int)
    FRAME.to_csv(folder / "items.csv")
    FRAME.assign(ill=labels).to_csv(folder / "labelled.csv")
    JUDGED.to_csv(folder / "pairs.csv", index=False)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_whole_way(fitted, tmp_path):
    assert names(fitted / "model") == ["background.safetensors", "card.html", "model.json", "weights.safetensors"]
    assert not (fitted / "model.checkpoint").exists()
    shown = installed("show", "model", cwd=fitted)
    assert shown.returncode == 0, shown.stderr
    assert "600 pairs of 295 items" in shown.stdout
    assert "with a new item" in shown.stdout
    about = json.loads(confdiff("show", "model", "--json", cwd=fitted).stdout)
    assert about["data"]["columns"]["ward"] == "category"

    scores = tmp_path / "scores.csv"
    assert confdiff("predict", "model", "items.csv", "-o", scores, cwd=fitted).returncode == 0
    expected = load_model(fitted / "model").predict_proba(FRAME)[:, 1]
    np.testing.assert_allclose(pd.read_csv(scores)["probability"], expected, atol=1e-6)

    evaluated = confdiff("evaluate", "model", "labelled.csv", "--labels", "ill", "-o", tmp_path / "page", cwd=fitted)
    assert evaluated.returncode == 0, evaluated.stderr
    assert "true and" in evaluated.stdout
    assert names(tmp_path / "page") == ["evaluation.html", "evaluation.json"]
    judged = confdiff("evaluate", "model", "items.csv", "--pairs", "pairs.csv", "--json", cwd=fitted)
    assert json.loads(judged.stdout)["pairs"] == 600


def test_another_prior_moves_the_scores(fitted, tmp_path):
    means = []
    for prior in ("0.1", "0.9"):
        scores = tmp_path / f"{prior}.csv"
        confdiff("predict", "model", "items.csv", "-o", scores, "--target-prior", prior, cwd=fitted)
        means.append(pd.read_csv(scores)["probability"].mean())
    assert means[0] < means[1]


def test_items_without_ids_are_numbered_with_a_warning(fitted, tmp_path):
    FRAME.rename_axis("person").to_csv(tmp_path / "items.csv")
    command = ("predict", fitted / "model", "items.csv", "-o", "scores.csv")
    result = confdiff(*command, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "row numbers from 0 in a column `row` instead: pass --id COLUMN" in result.stderr
    assert list(pd.read_csv(tmp_path / "scores.csv")["row"][:2]) == [0, 1]
    assert "row numbers" not in confdiff(*command, "--id", "person", "--overwrite", cwd=tmp_path).stderr
    assert list(pd.read_csv(tmp_path / "scores.csv")["id"]) == list(FRAME.index)


def test_same_seed_same_model(fitted, tmp_path):
    weights = []
    for seed in ("0", "0", "1"):
        folder = tmp_path / f"model{len(weights)}"
        assert confdiff(*FIT, "-o", folder, "--seed", seed, cwd=fitted).returncode == 0
        weights.append((folder / "weights.safetensors").read_bytes())
    assert weights[0] == weights[1] != weights[2]
    assert weights[0] == (fitted / "model" / "weights.safetensors").read_bytes()


def pairs_with(row):
    """The good pairs and a row that is not."""
    return lambda text: text.splitlines()[0] + "\n" + row + "\n" + "\n".join(text.splitlines()[1:]) + "\n"


def replaced(old, new, count=-1):
    return lambda text: text.replace(old, new, count)


def ragged(text):
    return text + "P1,P2\n"


HEADER = "the header is row 1"
BROKEN = {
    "an empty file": ("pairs.csv", lambda text: "", "pairs.csv cannot be read as a table"),
    "a header and no rows": ("pairs.csv", lambda text: text.splitlines()[0] + "\n", "must have at least one row"),
    "no items": ("items.csv", lambda text: text.splitlines()[0] + "\n", "items.csv must have at least one row"),
    "ragged rows": ("pairs.csv", ragged, "Expected 3 columns, got 2"),
    "an open quotation mark": ("items.csv", lambda text: text + '"P', "items.csv cannot be read as a table"),
    "a wrong encoding": ("items.csv", lambda text: text.replace(",A,", ",Ä,").encode("latin-1"), "is not UTF-8 text"),
    "UTF-16 without a mark": ("items.csv", lambda text: text.encode("utf-16-le"), "utf-16-le"),
    "text among numbers": (
        "pairs.csv",
        pairs_with("P1,P2,much"),
        f"column 'difference', row 2 ({HEADER}): must be a number; got 'much'",
    ),
    "NaN": ("pairs.csv", pairs_with("P1,P2,nan"), f"row 2 ({HEADER}): the difference is missing"),
    "infinity": ("pairs.csv", pairs_with("P1,P2,inf"), f"row 2 ({HEADER}): the difference inf is infinite"),
    "no difference": ("pairs.csv", pairs_with("P1,P2,"), f"row 2 ({HEADER}): the difference is missing"),
    "an unknown id": (
        "pairs.csv",
        pairs_with("P1,P9999,0.5"),
        f"column 'right', row 2 ({HEADER}): the id 'P9999' is not among",
    ),
    "a missing id": ("pairs.csv", pairs_with(",P2,0.5"), f"column 'left', row 2 ({HEADER}): the id is missing"),
    "c = 1.7": ("pairs.csv", pairs_with("P1,P2,1.7"), f"1.7 in row 2 ({HEADER})"),
    "an item with itself": ("pairs.csv", pairs_with("P1,P1,0.5"), f"row 2 ({HEADER}): 'P1' is compared with itself"),
    "no column of differences": (
        "pairs.csv",
        replaced("difference", "what", 1),
        "no column of pairs.csv is named 'difference'",
    ),
    "no column of ids": (
        "items.csv",
        lambda text: "\n".join(line.partition(",")[2] for line in text.splitlines()),
        "no column of items.csv is named 'id', and none holds the ids of the pairs; the columns are age",
    ),
    "an id twice": ("items.csv", replaced("\nP1,", "\nP0,", 1), f"the ids must be unique; 'P0' in row 3 ({HEADER})"),
    "an item without id": ("items.csv", replaced("\nP1,", "\n,", 1), f"the id is missing in row 3 ({HEADER})"),
    "a column twice": ("items.csv", replaced("ward", "age", 1), "got 'age' more than once"),
    "ids alone": ("items.csv", lambda text: "id\nP0\nP1\n", "at least one column besides the ids"),
    "infinite features": (
        "items.csv",
        replaced("\nP0,", "\nPX,inf,A,1\nP0,", 1),
        f"column 'age' ({HEADER}), must be finite, without NaN or infinity; got inf at row 2",
    ),
    "a few pairs": ("pairs.csv", lambda text: "\n".join(text.splitlines()[:9]) + "\n", "8 pairs are too few"),
    "something binary": ("pairs.csv", lambda text: bytes(range(256)), "pairs.csv"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files(tmp_path, name):
    file, change, message = BROKEN[name]
    write_files(tmp_path)
    changed = change((tmp_path / file).read_text())
    (tmp_path / file).write_bytes(changed if isinstance(changed, bytes) else changed.encode())
    refused(tmp_path, FIT, message)


def refused(folder, arguments, message):
    """Exit status 2, one clear message, nothing written, no traceback."""
    before = names(folder)
    result = confdiff(*arguments, cwd=folder)
    assert result.returncode == 2, result.stdout + result.stderr
    error = " ".join(result.stderr.split())
    assert message in error
    assert [line.startswith("error: ") for line in result.stderr.splitlines()].count(True) == 1
    assert "Traceback" not in error
    assert names(folder) == before


def truncated(folder):
    FRAME.reset_index().to_parquet(folder / "items.parquet")
    contents = (folder / "items.parquet").read_bytes()
    (folder / "items.parquet").write_bytes(contents[: len(contents) // 2])


def altered(folder):
    path = folder / "model" / "weights.safetensors"
    path.write_bytes(path.read_bytes()[:-1] + b"?")


def text_for_a_number(folder):
    FRAME.astype({"age": object}).assign(age=["old", *FRAME["age"][1:]]).to_csv(folder / "items.parquet.csv")


def other_columns(folder):
    FRAME.drop(columns="ward").to_csv(folder / "items.parquet.csv")


OTHER = {
    "a truncated Parquet file": (truncated, ("fit", "items.parquet", "pairs.csv", "-o", "m"), "parquet cannot be read"),
    "no such file": (None, ("fit", "absent.csv", "pairs.csv", "-o", "m"), "the table absent.csv does not exist"),
    "a folder for a file": (None, ("fit", ".csv/..", "pairs.csv", "-o", "m"), "must end in"),
    "an unknown ending": (None, ("fit", "items.xls", "pairs.csv", "-o", "m"), "must end in .parquet, .csv, .csv.gz"),
    "an output that is a file": (None, (*FIT, "-o", "items.csv"), "items.csv is a file"),
    "a model that already exists": (None, FIT, "model already exists"),
    "an unknown method": (None, (*FIT, "-o", "m", "--method", "confdif-abs"), "Did you mean 'confdiff-abs'?"),
    "an unknown network": (None, (*FIT, "-o", "m", "--model", "cnn"), "unknown model 'cnn'"),
    "a prior that is none": (None, (*FIT, "-o", "m", "--prior", "30"), "strictly between 0 and 1"),
    "a prior in words": (None, (*FIT, "-o", "m", "--prior", "rare"), "--prior must be a fraction"),
    "a method without its prior": (None, (*FIT, "-o", "m", "--method", "confdiff-abs"), "needs the class prior"),
    "a column that does not exist": (None, (*FIT, "-o", "m", "--left", "first"), "of pairs.csv is named 'first'"),
    "a scale that is none": (None, (*FIT, "-o", "m", "--scale", "7,1"), "a scale must be two numbers, the lower first"),
    "a column to ignore": (None, (*FIT, "-o", "m", "--ignore", "agee"), "no column of items.csv is named 'agee'"),
    "no model": (None, ("predict", "absent", "items.csv"), "absent is not a model"),
    "a file for a model": (None, ("predict", "items.csv", "items.csv"), "items.csv is not a model: it is a file"),
    "a folder of other things": (None, ("predict", ".", "items.csv"), "is not a complete model"),
    "a model without its weights": (
        lambda folder: (folder / "model" / "weights.safetensors").unlink(), ("show", "model"), "safetensors is missing",
    ),
    "a model that was altered": (altered, ("predict", "model", "items.csv"), "weights.safetensors was altered"),
    "a model with a foreign file": (
        lambda folder: (folder / "model" / "x.py").touch(), ("export", "model", "--onnx", "m.onnx"), "holds 'x.py'",
    ),
    "a missing column": (
        other_columns, ("predict", "model", "items.parquet.csv"), "must have the training columns; missing: 'ward'",
    ),
    "text for a number": (
        text_for_a_number, ("predict", "model", "items.parquet.csv"), "'age', row 2 (the header is row 1): must be",
    ),
    "a target prior that is none": (
        None, ("predict", "model", "items.csv", "--target-prior", "3"), "--target-prior must be a fraction",
    ),
    "a negative weight decay": (None, (*FIT, "-o", "m", "--weight-decay", "-1"), "error: --weight-decay must be"),
    "labels in words": (
        None,
        ("evaluate", "model", "items.csv", "--labels", "ward"),
        "column 'ward', row 2 (the header is row 1): must be a number; got 'A'",
    ),
    "scores into a folder": (None, ("predict", "model", "items.csv", "-o", "model.csv"), "model.csv is a folder"),
    "labels that do not exist": (None, ("evaluate", "model", "items.csv", "--labels", "ill"), "is named 'ill' (--l"),
    "labels that are none": (None, ("evaluate", "model", "items.csv", "--labels", "age"), "labels must be"),
    "neither labels nor pairs": (None, ("evaluate", "model", "items.csv"), "either --labels COLUMN or --pairs FILE"),
}  # fmt: skip


@pytest.fixture
def usable(fitted, tmp_path):
    """A copy of the folder with items, pairs and a model."""
    import shutil

    shutil.copytree(fitted, tmp_path / "own")
    (tmp_path / "own" / "model.csv").mkdir()
    return tmp_path / "own"


@pytest.mark.parametrize("name", OTHER)
def test_other_mistakes(usable, name):
    prepare, arguments, message = OTHER[name]
    if prepare is not None:
        prepare(usable)
    refused(usable, arguments, message)


@pytest.mark.parametrize("command", [(*FIT, "-o", "new"), ("predict", "model", "items.csv", "-o", "scores.csv")])
def test_a_full_disk_leaves_nothing_half_written(usable, command):
    """A limit on the size of files acts as a full disk."""
    pid = os.fork()
    if pid == 0:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the limit then fails, as on a full disk
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))
        code = 0
        try:
            before = names(usable)
            os.environ["CONFDIFF_CACHE"] = str(usable)
            code = run_quietly(command, usable)
            code = 100 if names(usable) != before else code
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2


def run_quietly(command, folder):
    child = start(*command, cwd=folder)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


SLOW = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "30", "--batch-size", "64", "-o", "slow")


def test_ctrl_c_keeps_what_was_learned(fitted, tmp_path, monkeypatch):
    write_files(tmp_path)
    monkeypatch.setattr("confdiff.training.checkpoint.Checkpoint.save_if_due", lambda self: self.save())
    child = start(*SLOW, "--epochs", "3000", cwd=tmp_path)
    while not (tmp_path / "slow.checkpoint").exists():
        time.sleep(0.05)
    os.kill(child, signal.SIGINT)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
    assert (tmp_path / "slow.checkpoint").exists()
    assert not (tmp_path / "slow").exists()
    again = confdiff(*SLOW, "--epochs", "3000", cwd=tmp_path)
    assert again.returncode == 2
    assert "pass --resume to continue it, or --overwrite to start again" in again.stderr
    other = confdiff(*SLOW, "--resume", cwd=tmp_path)
    assert other.returncode == 2
    assert "belongs to another run" in other.stderr
    assert "epochs was 3000, now 30" in " ".join(other.stderr.split())
