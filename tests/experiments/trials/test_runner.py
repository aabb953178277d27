"""Grids: nothing done twice, nothing lost, and what goes wrong is reported."""

import os
import signal
import subprocess
import time
from dataclasses import replace
from pathlib import Path

import pytest

from command import COMMAND, confdiff, start
from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.runner import run_missing, run_trials
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec
from confdiff.tasks import task as task_module

TASK = TaskSpec("digits", model="linear", n_pairs=60)
QUICK = TrialSpec(TASK, "confdiff-abs", 3)
GRID = ["run", "digits", "--methods", "confdiff-abs,oracle-hard,pcomp-teacher", "--trials", "3", "--epochs", "40"]


def accuracies(folder):
    return {record.key: record.curve for record in Store(folder).records()}


def wait_for_trials(folder, count, running=None):
    """Until so many are finished, or the command is."""
    deadline = time.monotonic() + 200
    while len(Store(folder).finished()) < count and time.monotonic() < deadline:
        if running is not None and running.poll() is not None:
            break
        time.sleep(0.05)


def test_a_run_does_what_is_missing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    specs = [replace(QUICK, method=method) for method in ("confdiff-abs", "oracle-hard")]
    events = []
    assert run_trials(specs[:1], store, progress=lambda *event: events.append(event)) == []
    before = (tmp_path / "trials" / f"{specs[0].key}.json").read_bytes()
    assert run_trials(specs, store) == []
    assert {record.method for record in store.records()} == {"confdiff-abs", "oracle-hard"}
    assert (tmp_path / "trials" / f"{specs[0].key}.json").read_bytes() == before
    records = store.records()
    assert store.compact() == [tmp_path / "digits.jsonl"]
    assert store.finished() == []
    assert store.records() == records
    monkeypatch.setattr("confdiff.experiments.trials.runner.run_trial", None)
    assert run_trials(specs, store) == []  # also those that were moved
    assert events == [("teachers", 0, 1), ("teachers", 1, 1), ("trials", 0, 1), *events[3:-1], ("trials", 1, 1)]


def test_what_another_command_packs_stays_done(tmp_path):
    """The bar does not run backwards, and one trial asked for twice is one."""
    store, events = Store(tmp_path), []

    def run(spec, folder):
        time.sleep(1.2)  # so that the bar is looked at
        Store(tmp_path).compact()
        return run_trial(spec)

    def progress(kind, done, total):
        events.append((done, total))

    specs = [replace(QUICK, method=method) for method in ("confdiff-abs", "oracle-hard", "confdiff-abs")]
    assert run_missing(specs, run, store, progress=progress) == []
    assert (events[0], events[-1]) == ((0, 2), (2, 2))
    assert events == sorted(events)


def test_a_failed_trial_is_reported_and_not_kept(tmp_path):
    bad = TrialSpec(replace(TASK, n_pairs=5000), "confdiff-abs", 1)
    ((spec, why),) = run_trials([bad, QUICK], Store(tmp_path))
    assert spec == bad
    assert "and there are" in why
    assert "n_pairs 5000" in str(spec)
    assert [record.key for record in Store(tmp_path).records()] == [QUICK.key]


def test_too_few_items_are_reported_before_a_teacher_is_trained(tmp_path, monkeypatch):
    def teach(*arguments, **options):
        raise AssertionError("a teacher was trained for nothing")

    monkeypatch.setattr("confdiff.tasks.task.teach", teach)
    specs = [replace(QUICK, task=replace(TASK, n_pairs=5000), method=name) for name in ("confdiff-abs", "oracle-hard")]
    assert [spec for spec, _ in run_trials(specs, Store(tmp_path))] == specs
    with pytest.raises(AssertionError, match="for nothing"):
        run_trials([QUICK], Store(tmp_path))


def test_a_data_set_that_is_not_here_does_not_keep_the_others(tmp_path, monkeypatch):
    def load(name, **options):
        if name == "letter":
            raise FileNotFoundError("letter is not here")
        return load_as_ever(name, **options)

    load_as_ever = task_module.load
    monkeypatch.setattr(task_module, "load", load)
    absent = TrialSpec(TaskSpec("letter"), "confdiff-abs", 1)
    assert run_trials([absent, QUICK], Store(tmp_path)) == [(absent, "letter is not here")]
    assert Store(tmp_path).keys() == {QUICK.key}


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds the worker in /proc, which Linux has")
def test_a_worker_that_is_killed_is_reported(tmp_path):
    """As happens where memory runs out: no traceback, and what is finished is kept."""
    command = [COMMAND, *GRID, "--jobs", "2", "--results", str(tmp_path)]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    wait_for_trials(tmp_path, 1, running)
    children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
    for child in children:
        if b"LokyProcess" in Path(f"/proc/{child}/cmdline").read_bytes():
            os.kill(int(child), signal.SIGKILL)
            break
    _, output = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "a worker process was killed" in output
    assert "of 9 trials are kept" in output
    assert "Traceback" not in output
    assert 1 <= len(Store(tmp_path).keys()) < 9


def test_ctrl_c_keeps_what_is_finished(tmp_path):
    running = start(*GRID, "--results", str(tmp_path), outputs=(tmp_path / "out", tmp_path / "err"))
    wait_for_trials(tmp_path, 1)
    os.kill(running, signal.SIGINT)
    _, status = os.waitpid(running, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    kept = len(Store(tmp_path).keys())
    assert 1 <= kept < 9
    output = (tmp_path / "err").read_text()
    assert f"stopped: {kept} of 9 trials are kept in {tmp_path}; the same command continues from there" in output
    assert "Traceback" not in output


def test_failures_for_one_reason_are_reported_in_one_line(tmp_path):
    options = ("--n-pairs", "5000", "--methods", "confdiff-abs,oracle-hard", "--trials", "2")
    result = confdiff("run", "digits", *options, "--results", str(tmp_path))
    assert result.returncode == 1
    output = " ".join(result.stderr.split())
    assert output.count("failed:") == 1
    assert result.stdout == ""  # no empty table
    assert (
        "confdiff-abs, 200 epochs, dataset digits, prior 0.5, protocol paper, seed 0, n_pairs 5000 (and 3 more)"
        in output
    )
    assert "drawing 10000 items at prior 0.5 takes 5000 positives" in output


def test_processes_and_one_process_give_the_same(tmp_path):
    specs = [replace(QUICK, method=method) for method in ("confdiff-abs", "oracle-hard", "pcomp-teacher")]
    for engine in ("serial", "processes"):
        assert run_trials(specs, Store(tmp_path / engine), jobs=2, engine=engine) == []
    assert len(accuracies(tmp_path / "serial")) == 3
    assert accuracies(tmp_path / "serial") == accuracies(tmp_path / "processes")


def test_an_unknown_engine_is_refused_before_any_work(tmp_path):
    reports = []
    with pytest.raises(ValueError, match="unknown engine 'rye'"):
        run_trials([QUICK], Store(tmp_path), engine="rye", progress=lambda *report: reports.append(report))
    assert reports == []
