"""Commands that end early: by SIGTERM, on a full disk, or killed between two files."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command import confdiff, start
from confdiff.experiments.trials.store import Store
from confdiff.tabular.fitting import fit_comparisons
from tabular.people import FRAME, JUDGED

FIT = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--prior", "0.5", "-o", "m")


@pytest.fixture
def folder(tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    return tmp_path


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def wait_for(condition, seconds=100):
    deadline = time.monotonic() + seconds
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert condition()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)])
def test_a_fit_that_is_stopped_keeps_the_checkpoint(folder, monkeypatch, number, status):
    monkeypatch.setattr("confdiff.training.checkpoint.Checkpoint.save_if_due", lambda self: self.save())
    outputs = (folder / "out.txt", folder / "err.txt")
    child = start(*FIT, "--epochs", "30000", cwd=folder, outputs=outputs)
    wait_for((folder / "m.checkpoint").exists)
    os.kill(child, number)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == status
    assert "m.checkpoint holds the progress. The same command with --resume continues." in outputs[0].read_text()
    assert ("received SIG" in outputs[1].read_text()) == (number != signal.SIGINT)
    assert "Traceback" not in outputs[1].read_text()
    assert names(folder) == ["err.txt", "items.csv", "m.checkpoint", "out.txt", "pairs.csv"]


PRIORS = ",".join(f"{prior:.2f}" for prior in np.linspace(0.3, 0.69, 40))


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the workers in /proc, which Linux has")
def test_sigterm_ends_a_grid_and_its_workers(tmp_path):
    program = "from confdiff.cli.main import main; main()"
    grid = ("run", "digits", "--priors", PRIORS, "--n-pairs", "60", "--epochs", "30", "--jobs", "2")
    command = [sys.executable, "-c", program, *grid, "--results", str(tmp_path)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: Store(tmp_path).finished() or running.poll() is not None)
        children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
        workers = [child for child in children if b"popen_loky" in Path(f"/proc/{child}/cmdline").read_bytes()]
        assert len(workers) == 2
        running.terminate()
        _, errors = running.communicate(timeout=60)
    finally:
        running.kill()
    assert running.returncode == 143
    assert "of 40 trials are kept" in errors
    assert "Traceback" not in errors
    wait_for(lambda: not any(Path(f"/proc/{worker}").exists() for worker in workers), seconds=10)


def test_a_model_saved_before_the_kill_is_finished_by_resume(folder):
    """The model was renamed into place, and the process killed before the checkpoint was removed."""
    fit = (*FIT, "--epochs", "3")
    assert confdiff(*fit, cwd=folder).returncode == 0
    finished = contents(folder / "m")
    tables = (folder / "items.csv", folder / "pairs.csv")
    fit_comparisons(*tables, model="linear", prior=0.5, epochs=3, checkpoint=folder / "m.checkpoint")
    os.utime(folder / "m" / "model.json")  # the model is the later one
    result = confdiff(*fit, "--resume", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert contents(folder / "m") == finished
    assert names(folder) == ["items.csv", "m", "pairs.csv"]


def test_resume_does_not_replace_another_model(folder):
    fit = (*FIT, "--epochs", "3")
    assert confdiff(*fit, "--seed", "7", cwd=folder).returncode == 0
    other = contents(folder / "m")
    tables = (folder / "items.csv", folder / "pairs.csv")
    fit_comparisons(*tables, model="linear", prior=0.5, epochs=3, checkpoint=folder / "m.checkpoint")
    for is_newer in (False, True):
        if is_newer:
            os.utime(folder / "m" / "model.json")
        result = confdiff(*fit, "--resume", cwd=folder)
        assert result.returncode == 2
        assert "m already exists. Choose another name, or pass --overwrite to replace it" in result.stderr
        assert contents(folder / "m") == other
        assert (folder / "m.checkpoint").exists()
    assert confdiff(*fit, "--resume", "--overwrite", cwd=folder).returncode == 0
    assert contents(folder / "m") != other
    assert names(folder) == ["items.csv", "m", "pairs.csv"]


@contextmanager
def small_disk(folder, size):
    folder.mkdir()
    try:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("file systems cannot be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.mark.parametrize("size", ["300k", "700k"])
def test_a_streamed_fit_on_a_full_disk_is_one_message(tmp_path, size):
    """The disk is full while the items, or the copy of them that is mapped, are written."""
    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.normal(size=(5000, 20)), columns=[f"x{i}" for i in range(20)])
    items.assign(id=range(5000)).to_parquet(tmp_path / "items.parquet")
    judged = {"left": rng.integers(0, 2500, 9000), "right": rng.integers(2500, 5000, 9000)}
    pd.DataFrame(judged | {"difference": rng.uniform(-1, 1, 9000)}).to_parquet(tmp_path / "pairs.parquet")
    with small_disk(tmp_path / "small", size) as disk:
        fit = ("fit", "items.parquet", "pairs.parquet", "--stream", "--model", "linear", "--epochs", "1")
        result = confdiff(*fit, "-o", disk / "m", "--quiet", cwd=tmp_path)  # no lines of progress
        assert result.returncode == 2, result.stderr
        assert "cannot be written: No space left on device" in result.stderr
        assert result.stderr.count("\n") == 1
        assert names(disk) == []
