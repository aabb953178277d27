"""SIGKILL at random moments: inputs and old outputs stay whole, and the next run ends as if nothing had happened.

``CONFDIFF_KILLS`` is the number of kills of each command. ``make test`` makes a few; ``make kills`` makes 20.
"""

import os
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest

from command import start
from confdiff.experiments.trials.store import Store
from confdiff.io.atomic import recover_folder
from confdiff.io.temporary import replaced_name, temporary_folder
from confdiff.tabular.model.model import load_model
from tabular.people import judgements, people

KILLS = int(os.environ.get("CONFDIFF_KILLS", "3"))
FRAME, RISK = people(2000)
FIT = ("fit", "items.parquet", "pairs.parquet", "--model", "linear", "--epochs", "4", "--batch-size", "128", "-o", "m")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """Items, pairs, and a folder of pairs."""
    folder = tmp_path_factory.mktemp("kills")
    FRAME.reset_index().to_parquet(folder / "items.parquet")
    judgements(FRAME, RISK, n=3000).to_parquet(folder / "pairs.parquet", row_group_size=500)
    return folder


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def run(*arguments, cwd):
    """Run a command to its end and return the seconds that it took."""
    began = time.monotonic()
    child = start(*arguments, cwd=cwd)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return time.monotonic() - began


def kill(*arguments, cwd, after):
    """Start a command, kill it after some seconds, and return whether it was still running."""
    child = start(*arguments, cwd=cwd)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.parametrize("flags", [(), ("--stream",)], ids=["in memory", "streamed"])
def test_a_killed_fit_keeps_the_old_model_and_resumes_to_the_same(inputs, tmp_path, monkeypatch, flags):
    monkeypatch.setattr("confdiff.training.checkpoint.Checkpoint.save_if_due", lambda self: self.save())
    folder = tmp_path / "own"
    shutil.copytree(inputs, folder)
    run(*FIT, *flags, "--seed", "7", cwd=folder)
    (folder / "m").rename(tmp_path / "old")
    took = run(*FIT, *flags, cwd=folder)
    (folder / "m").rename(tmp_path / "new")
    old = contents(tmp_path / "old")
    new = contents(tmp_path / "new")
    assert old != new
    shutil.copytree(tmp_path / "old", folder / "m")
    rng = np.random.default_rng(0)
    kills = 0
    while kills < KILLS:
        kills += kill(*FIT, *flags, "--overwrite", "--resume", cwd=folder, after=rng.uniform(0, 0.8 * took))
        assert (folder / "items.parquet").read_bytes() == (inputs / "items.parquet").read_bytes()
        assert (folder / "pairs.parquet").read_bytes() == (inputs / "pairs.parquet").read_bytes()
        recover_folder(folder / "m")
        assert contents(folder / "m") in (old, new)
        if contents(folder / "m") == new:
            shutil.rmtree(folder / "m")
            shutil.copytree(tmp_path / "old", folder / "m")
    run(*FIT, *flags, "--overwrite", "--resume", cwd=folder)
    assert contents(folder / "m") == new
    assert sorted(path.name for path in folder.iterdir()) == ["items.parquet", "m", "pairs.parquet"]


def test_a_killed_prediction_keeps_the_old_table(inputs, tmp_path):
    folder = tmp_path / "own"
    shutil.copytree(inputs, folder)
    run(*FIT, cwd=folder)
    model = contents(folder / "m")
    pd.concat([FRAME.reset_index()] * 50).to_csv(folder / "many.csv", index=False)
    items = (folder / "many.csv").read_bytes()
    predict = ("predict", "m", "many.csv", "-o", "scores.csv", "--overwrite")
    took = run(*predict, cwd=folder)
    new = (folder / "scores.csv").read_bytes()
    (folder / "scores.csv").write_text("old")
    rng = np.random.default_rng(1)
    kills = 0
    while kills < KILLS:
        kills += kill(*predict, cwd=folder, after=rng.uniform(0, took))
        scores = (folder / "scores.csv").read_bytes()
        assert scores in (b"old", new)
        assert (folder / "many.csv").read_bytes() == items
        assert contents(folder / "m") == model
        (folder / "scores.csv").write_text("old")
    run(*predict, cwd=folder)
    assert (folder / "scores.csv").read_bytes() == new
    names = ["items.parquet", "m", "many.csv", "pairs.parquet", "scores.csv"]
    assert sorted(path.name for path in folder.iterdir()) == names


GRID_KILLS = KILLS if KILLS >= 20 else 1  # workers start slowly
PRIORS = [f"{prior:.2f}" for prior in np.linspace(0.2, 0.8, 4 + 2 * GRID_KILLS)]
METHODS = ("confdiff-abs", "oracle-hard")
GRID = (
    "run",
    "digits",
    "--methods",
    ",".join(METHODS),
    "--priors",
    ",".join(PRIORS),
    "--n-pairs",
    "60",
    "--epochs",
    "5",
)
COMMAND = (sys.executable, "-c", "from confdiff.cli.main import main; main()", *GRID)


def records(folder):
    """Return each stored trial by its key."""
    return {record.key: record for record in Store(folder).records()}


def lines(folder):
    """Return the stored lines as they are: they hold the seconds of a trial, so that a second run is another line."""
    files = [*folder.glob("*.jsonl"), *folder.glob("trials/*.json")]
    return {line for file in files if not file.name.startswith(".") for line in file.read_text().splitlines()}


def kill_after_new_trials(folder, wait):
    """Start the grid with two workers, and kill the command or all of its processes after new trials were saved."""
    before = len(lines(folder))
    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    running = subprocess.Popen([*COMMAND, "--jobs", "2", "--results", str(folder)], **options)
    while running.poll() is None and len(lines(folder)) <= before:
        time.sleep(0.01)
    time.sleep(wait)
    was_running = running.poll() is None
    if was_running:
        os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    return was_running


def test_a_killed_grid_loses_no_trial_and_runs_none_twice(tmp_path):
    folder = tmp_path / "killed"
    folder.mkdir()
    rng = np.random.default_rng(2)
    saved = set()
    for _ in range(GRID_KILLS):
        assert kill_after_new_trials(folder, rng.uniform(0, 0.3)), "the grid ended before it was killed"
        assert saved < lines(folder), "a saved trial was lost, or run again"
        saved = lines(folder)
        keys = [line.split('"')[3] for line in saved]
        assert len(set(keys)) == len(keys), "a trial was run twice"
    for name in ("killed", "whole"):
        child = start(*GRID, "--results", str(tmp_path / name))
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert saved <= lines(folder)
    assert len(records(folder)) == len(METHODS) * len(PRIORS)
    whole = records(tmp_path / "whole")
    assert {key: record.curve for key, record in records(folder).items()} == {
        key: record.curve for key, record in whole.items()
    }
    assert sorted(path.name for path in folder.rglob("*")) == [".lock", "digits.jsonl", "trials"]


def test_a_model_that_was_recovered_can_be_loaded(inputs, tmp_path):
    """Between the two renamings only the hidden old version exists."""
    shutil.copytree(inputs, tmp_path / "own")
    run(*FIT, cwd=tmp_path / "own")
    dead = start("methods")
    os.waitpid(dead, 0)
    model = tmp_path / "own" / "m"
    with temporary_folder(model) as temporary:
        name = replaced_name(temporary).name.replace(f"-{os.getpid()}-", f"-{dead}-")
    model.rename(model.with_name(name))
    with pytest.warns(UserWarning, match="the version before was put back"):
        load_model(model)
    assert sorted(path.name for path in model.parent.iterdir()) == ["items.parquet", "m", "pairs.parquet"]
