"""``confdiff fit --workers 2`` on this machine: stopped, killed, refused and resumed."""

import os
import signal
import subprocess
import time

import pytest

from command import PLAIN, WITH_EVERY_UPDATE, confdiff
from processes import children_of, in_proc, runs
from tabular.people import FRAME, JUDGED

FIT = ("fit", "items.csv", "pairs.csv", "--model", "mlp", "--prior", "0.5", "--epochs", "60", "--workers", "2")
WEIGHTS = "weights.safetensors"


@pytest.fixture
def tables(tmp_path):
    FRAME.to_csv(tmp_path / "items.csv")
    JUDGED.to_csv(tmp_path / "pairs.csv", index=False)
    return tmp_path


def interrupted(folder, *arguments, stop):
    """Start a fit, call ``stop`` with its process ids in its first epochs, and return its status and messages."""
    options = {"cwd": folder, "env": os.environ | PLAIN, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([*WITH_EVERY_UPDATE, *FIT, "-o", "m", *arguments], **options) as running:
        try:
            next(line for line in running.stderr if "epoch" in line)
            members = children_of(running.pid)
            stop(running.pid, members)
            _, errors = running.communicate(timeout=120)
        finally:
            running.kill()
    deadline = time.monotonic() + 30
    while any(map(runs, members)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert len(members) >= 2
    assert not any(map(runs, members))
    return running.returncode, " ".join(errors.split())


@in_proc
def test_a_fit_is_stopped_then_loses_a_worker_and_is_resumed_to_the_same_model(tables):
    status, errors = interrupted(tables, stop=lambda caller, members: os.kill(caller, signal.SIGINT))
    assert status == 130, errors
    assert (tables / "m.checkpoint").exists()
    status, errors = interrupted(tables, "--resume", stop=lambda caller, members: os.kill(members[-1], signal.SIGKILL))
    assert status == 1, errors
    assert "Traceback" not in errors
    assert "was killed by signal 9" in errors
    assert "m.checkpoint holds the progress: pass --resume to continue." in errors
    assert not (tables / "m").exists()
    for arguments in ((*FIT, "-o", "m", "--resume"), (*FIT, "-o", "whole")):
        result = confdiff(*arguments, cwd=tables)
        assert result.returncode == 0, result.stderr
    assert (tables / "m" / WEIGHTS).read_bytes() == (tables / "whole" / WEIGHTS).read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--device", "meta"), "several workers train on the CPU; got --device meta. Pass 'cpu', or --workers 1."),
        (("--engine", "rai"), "unknown engine 'rai'"),
        (("--address", "auto"), "--address auto would not be used: pass --workers 2 or more and --engine ray"),
    ],
)
def test_options_that_workers_cannot_use_are_refused(tables, options, message):
    result = confdiff(*FIT, *options, cwd=tables)
    assert result.returncode == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
