"""Engines give the same results, and a worker that outlives its starter starts nothing."""

import os
import signal
import subprocess
import sys
import time

import pytest

from confdiff.engines import ENGINES, OrphanedWorkerError, find_engine
from confdiff.engines.processes import _call_as_child_of

WORK = [(base, exponent) for base in range(2, 5) for exponent in range(3)]


@pytest.mark.parametrize("name", ENGINES)
def test_every_engine_gives_the_same_results(name):
    assert sorted(ENGINES[name](pow, WORK, 2)) == sorted(base**exponent for base, exponent in WORK)
    assert list(ENGINES[name](pow, [], 2)) == []


@pytest.mark.parametrize("name", ENGINES)
def test_an_exception_of_the_work_reaches_the_caller(name):
    with pytest.raises(ZeroDivisionError):
        list(ENGINES[name](divmod, [(4, 2), (1, 0)], 2))


def test_the_number_of_jobs_chooses_where_no_engine_is_named():
    assert find_engine(None, jobs=1) is ENGINES["serial"]
    assert find_engine(None, jobs=2) is ENGINES["processes"]
    assert find_engine("processes", jobs=1) is ENGINES["processes"]
    with pytest.raises(ValueError, match="unknown engine 'proceses'"):
        find_engine("proceses")


def test_workers_have_one_thread():
    (threads,) = ENGINES["processes"](os.environ.get, [("OMP_NUM_THREADS",)], 2)
    assert threads == "1"


def test_an_orphaned_worker_declines_and_says_so(monkeypatch):
    monkeypatch.setattr("confdiff.engines.processes._end_together_with", lambda starter: None)
    calls = []
    with pytest.raises(OrphanedWorkerError, match="was not done"):
        _call_as_child_of(os.getpid(), calls.append, (1,))  # this process is not its own child
    assert calls == []
    _call_as_child_of(os.getppid(), calls.append, (1,))
    assert calls == [1]


PROGRAM = """
import pathlib, sys, time
from confdiff.engines import ENGINES
def work(number):
    pathlib.Path(sys.argv[1], str(number)).touch()
    time.sleep(3)
    pathlib.Path(sys.argv[1], f"{number} done").touch()
list(ENGINES["processes"](work, [(number,) for number in range(12)], 2))
"""


def test_workers_of_a_killed_process_end_with_it(tmp_path):
    running = subprocess.Popen([sys.executable, "-c", PROGRAM, str(tmp_path)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 100
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    started = {path.name for path in tmp_path.iterdir()}
    time.sleep(4)
    assert 1 <= len(started) <= 2
    assert {path.name for path in tmp_path.iterdir()} == started
