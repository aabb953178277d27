"""Engines give the same results, and a worker that outlives its starter starts nothing."""

import os
import signal
import subprocess
import sys
import time

import joblib
import pytest
from joblib._parallel_backends import LokyBackend

from confdiff.engines import ENGINES, LostCall, OrphanedWorkerError, open_engine
from confdiff.engines.processes import _call_as_child_of
from confdiff.engines.worker_files import FileSender

WORK = [(base, exponent) for base in range(2, 5) for exponent in range(3)]
LOCAL = ("serial", "processes", "joblib:loky")


@pytest.mark.parametrize("name", LOCAL)
def test_every_engine_gives_the_same_results(name):
    with open_engine(name, jobs=2) as engine:
        assert sorted(engine.run(pow, WORK)) == sorted(base**exponent for base, exponent in WORK)
        assert list(engine.run(pow, [])) == []


@pytest.mark.parametrize("name", LOCAL)
def test_an_exception_of_the_work_reaches_the_caller(name):
    with open_engine(name, jobs=2) as engine, pytest.raises(ZeroDivisionError):
        list(engine.run(divmod, [(4, 2), (1, 0)]))


def process_of(number):
    return os.getpid()


@pytest.mark.parametrize(
    ("name", "jobs", "is_parallel"),
    [
        (None, None, False),
        (None, 1, False),
        (None, 2, True),
        ("processes", 1, False),
        ("processes", None, True),
        ("serial", 2, False),
    ],
)
def test_the_number_of_jobs_chooses_where_no_engine_is_named(name, jobs, is_parallel):
    with open_engine(name, jobs=jobs) as engine:
        (process,) = engine.run(process_of, [(0,)])
    assert (process != os.getpid()) == is_parallel


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": "proceses"}, "unknown engine 'proceses'"),
        ({"name": "joblib"}, "must name a backend after a colon"),
        ({"name": "serial:dask"}, "must have no name after a colon"),
        ({"name": "processes", "address": "auto"}, "only engine='ray' and 'joblib:dask' connect to a cluster"),
        ({"name": "joblib:loky", "address": "auto"}, "address='auto' would not be used by engine='joblib:loky'"),
        ({"jobs": 0}, "jobs must be"),
    ],
)
def test_mistakes(arguments, message):
    with pytest.raises(ValueError, match=message):
        open_engine(**arguments)


def test_an_unknown_backend_is_refused():
    with pytest.raises(ValueError, match="Invalid backend: nonsense"), open_engine("joblib:nonsense"):
        pass


class PluggedIn(LokyBackend):
    """A backend of another package."""


def test_a_backend_of_another_package_plugs_in_by_its_name():
    joblib.register_parallel_backend("of-another-package", PluggedIn)
    with open_engine("joblib:of-another-package", jobs=2) as engine:
        assert not engine.shares_files
        assert os.getpid() not in list(engine.run(process_of, [(0,), (1,)]))


def test_every_engine_is_tested():
    assert {name.partition(":")[0] for name in LOCAL} | {"ray"} == set(ENGINES)
    assert LostCall((1,), "why").arguments == (1,)


def unpacked(files):
    folder = files.unpack()
    return (folder / "a" / "b.txt").read_text(), files.is_sender


def test_files_are_sent_and_unpacked_in_a_folder_of_the_worker(tmp_path):
    (tmp_path / "first").write_text("one")
    (tmp_path / "second").write_text("two")
    with open_engine("joblib:loky", jobs=2) as engine:
        sender = FileSender(engine)
        sent = [sender.send({"a/b.txt": tmp_path / name}) for name in ("first", "second", "first")]
        results = list(engine.run(unpacked, [(files,) for files in sent]))
    assert sorted(text for text, _ in results) == ["one", "one", "two"]
    assert not any(is_sender for _, is_sender in results)


def test_workers_have_one_thread():
    with open_engine("processes", jobs=2) as engine:
        assert list(engine.run(os.environ.get, [("OMP_NUM_THREADS",)])) == ["1"]


def test_an_orphaned_worker_declines_and_says_so(monkeypatch):
    monkeypatch.setattr("confdiff.engines.processes._end_together_with", lambda starter: None)
    calls = []
    with pytest.raises(OrphanedWorkerError, match="was not done"):
        _call_as_child_of(-1, calls.append, (1,))
    assert calls == []
    _call_as_child_of(os.getppid(), calls.append, (1,))
    assert calls == [1]


PROGRAM = """
import pathlib, sys, time
from confdiff.engines import open_engine
def work(number):
    pathlib.Path(sys.argv[1], str(number)).touch()
    time.sleep(3)
    pathlib.Path(sys.argv[1], f"{number} done").touch()
with open_engine("processes", jobs=2) as engine:
    list(engine.run(work, [(number,) for number in range(12)]))
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
