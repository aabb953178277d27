"""Folders of items: each file becomes a part, whole or not at all, and a second run continues."""

import json
from contextlib import nullcontext

import pandas as pd
import pytest

from command import confdiff
from confdiff.engines import Engine
from confdiff.tabular.model.folder_scoring import predict_folder
from confdiff.tabular.model.parts import RUN, SUCCESS
from confdiff.tabular.model.scoring import predict_file
from tabular.people import FRAME

pytestmark = pytest.mark.filterwarnings("ignore:the differences do not determine the class prior")
ITEMS = FRAME.reset_index()


def in_this_process(jobs, backend, address):
    """Open an engine whose worker is the caller, which shares no files with itself."""
    engine = Engine(run=lambda function, arguments: (function(*each) for each in arguments), shares_files=False)
    return nullcontext(engine)


@pytest.fixture
def folder(model, tmp_path):
    """A model, and a folder of three files, one of them in a folder of its own."""
    model.save(tmp_path / "model")
    (tmp_path / "items" / "more").mkdir(parents=True)
    for number, name in enumerate(("a.parquet", "b.parquet", "more/c.parquet")):
        ITEMS.iloc[100 * number : 100 * (number + 1)].to_parquet(tmp_path / "items" / name)
    return tmp_path


def contents(output):
    return {path.relative_to(output).as_posix(): path.read_bytes() for path in output.rglob("*.parquet")}


def states(output):
    return {path: path.stat().st_mtime_ns for path in output.rglob("*.parquet")}


@pytest.mark.parametrize("engine", ["serial", "processes", "joblib:loky"])
def test_every_engine_writes_what_single_files_become(folder, model, engine):
    counts = []
    scores = predict_folder(
        folder / "model", folder / "items", folder / "scores", engine=engine, jobs=2, done=counts.append
    )
    assert (scores.n_items, scores.n_parts, scores.n_earlier, scores.failures) == (300, 3, 0, {})
    assert counts == [100, 200, 300]
    for name in ("a.parquet", "b.parquet", "more/c.parquet"):
        predict_file(model, folder / "items" / name, folder / "one.parquet", overwrite=True)
        assert (folder / "scores" / name).read_bytes() == (folder / "one.parquet").read_bytes()
    assert pd.read_parquet(folder / "scores" / "b.parquet")["id"].tolist() == ITEMS["id"].tolist()[100:200]
    assert json.loads((folder / "scores" / SUCCESS).read_text()) == {"items": 300, "parts": 3}


def test_a_failed_file_is_named_and_the_next_run_scores_only_what_is_missing(folder):
    part = folder / "items" / "b.parquet"
    whole = part.read_bytes()
    ITEMS.drop(columns="age").to_parquet(part)
    first = confdiff("predict", "model", "items", cwd=folder)
    assert first.returncode == 1
    message = " ".join(first.stderr.split())
    assert f"failed: {part} must have the training columns; missing: 'age'" in message
    assert "1 of 3 files failed; the same command scores what is missing" in message
    output = folder / "scores"
    assert set(contents(output)) == {"a.parquet", "more/c.parquet"}
    assert not (output / SUCCESS).exists()
    part.write_bytes(whole)
    changed = confdiff("predict", "model", "items", cwd=folder)  # other items might belong to the earlier parts
    assert changed.returncode == 2
    assert "scores of another run (other files of items)" in changed.stderr
    assert "--overwrite" in changed.stderr
    assert confdiff("predict", "model", "items", "--overwrite", cwd=folder).returncode == 0
    (output / "b.parquet").unlink()
    (output / SUCCESS).unlink()
    before = states(output)
    again = confdiff("predict", "model", "items", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "2 of 3 files needed no scores" in " ".join(again.stdout.split())
    assert {path: states(output)[path] for path in before} == before
    assert set(contents(output)) == {"a.parquet", "b.parquet", "more/c.parquet"}
    assert (output / SUCCESS).exists()


def test_another_run_is_refused_and_foreign_files_stay(folder):
    predict = ("predict", "model", "items", "-o", "out")
    assert confdiff(*predict, cwd=folder).returncode == 0
    (folder / "out" / "mine.txt").write_text("mine")
    result = confdiff(*predict, "--threshold", "0.9", cwd=folder)
    assert result.returncode == 2
    assert "out holds scores of another run (other options)" in result.stderr
    assert confdiff(*predict, "--threshold", "0.9", "--overwrite", cwd=folder).returncode == 0
    assert (folder / "out" / "mine.txt").read_text() == "mine"
    scores = pd.read_parquet(folder / "out" / "a.parquet")
    assert (scores["positive"] == (scores["probability"] >= 0.9)).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("items", "-o", "items/scores"), "items/scores"),
        (("items", "-o", "model"), "model"),
        (("items", "-o", "foreign"), "foreign already exists and holds no scores of confdiff"),
        (("items", "--encoding", "cp1252"), "--encoding, --device and --text-encoder are for tables in one file"),
        (("items", "--engine", "rai"), "unknown engine 'rai'"),
        (("empty",), "must hold Parquet files"),
        (("items/a.parquet", "--jobs", "2"), "--engine, --jobs and --address are for folders of Parquet files"),
        (("items", "--threshold", "2"), "threshold must be"),
    ],
)
def test_mistakes(folder, arguments, message):
    (folder / "empty").mkdir()
    (folder / "foreign").mkdir()
    (folder / "foreign" / "a.parquet").write_text("mine")
    result = confdiff("predict", "model", *arguments, cwd=folder)
    assert result.returncode in (1, 2)
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
    assert (folder / "foreign" / "a.parquet").read_text() == "mine"
    assert not (folder / "scores" / SUCCESS).exists()


def test_a_file_without_rows_has_no_part(folder):
    ITEMS.head(0).to_parquet(folder / "items" / "d.parquet")
    scores = predict_folder(folder / "model", folder / "items", folder / "scores")
    assert (scores.n_items, scores.n_parts) == (300, 4)
    assert (folder / "scores" / SUCCESS).exists()
    assert not (folder / "scores" / "d.parquet").exists()


def test_workers_that_do_not_see_a_file_get_it(folder, monkeypatch):
    """A file that looks different under its path is another one, on another machine."""
    predict_folder(folder / "model", folder / "items", folder / "here")
    monkeypatch.setattr("confdiff.tabular.model.folder_scoring._is_same", lambda part: False)
    monkeypatch.setattr("confdiff.engines.ENGINES", {"joblib": in_this_process})
    predict_folder(folder / "model", folder / "items", folder / "elsewhere", engine="joblib:any")
    assert contents(folder / "elsewhere") == contents(folder / "here")
    assert len(contents(folder / "here")) == 3
    assert (folder / "here" / RUN).read_text() == (folder / "elsewhere" / RUN).read_text()
