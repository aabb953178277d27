"""Trials, their grids, store and runner: nothing done twice, nothing lost, nothing broken."""

import json
import os
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from command import COMMAND, confdiff
from confdiff.experiments.paper import METHODS_OF_THE_PAPER, TABLES, printed_numbers, table_grid
from confdiff.experiments.runner import run_trials
from confdiff.experiments.spec import TrialSpec
from confdiff.experiments.store import Store
from confdiff.experiments.trial import looked_at, pairs_for, recipe_for, run_trial
from confdiff.methods import METHODS
from confdiff.tasks import TaskSpec, make_task

TASK = TaskSpec("digits", model="linear", n_pairs=60)
QUICK = TrialSpec(TASK, "confdiff-abs", 3)


def test_a_key_says_everything_and_nothing_else():
    keys = {QUICK.key}
    for other in (
        replace(QUICK, method="confdiff-relu"),
        replace(QUICK, epochs=4),
        replace(QUICK, task=replace(TASK, seed=1)),
        replace(QUICK, task=replace(TASK, prior=0.4)),
        replace(QUICK, task=replace(TASK, protocol="authors")),
        replace(QUICK, task=replace(TASK, fraction=0.5)),
    ):
        assert other.key not in keys
        keys.add(other.key)
    assert TrialSpec(TASK, "confdiff-abs", 3).key == QUICK.key
    with pytest.raises(ValueError, match="unknown method"):
        TrialSpec(TASK, "abs")


def test_a_trial_is_a_function_of_its_specification():
    first, same = run_trial(QUICK), run_trial(QUICK)
    assert first["curve"] == same["curve"]
    assert (first["dataset"], first["prior"], first["method"], first["seed"], first["epochs"]) == (
        "digits", 0.5, "confdiff-abs", 0, 3,
    )  # fmt: skip
    accuracies = [accuracy for _, accuracy in first["curve"]]
    assert first["accuracy"] == pytest.approx(sum(accuracies) / 3, abs=1e-4)
    assert json.loads(json.dumps(first)) == {**first, "curve": [list(point) for point in first["curve"]]}


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gets_the_pairs_that_it_takes(method):
    task = make_task(TASK)
    pairs = pairs_for(method, task)
    y, y_prime = pairs.targets("labels")
    assert bool((y >= y_prime).all()) == (METHODS[method].learns_from == "order")
    passes = recipe_for(TrialSpec(replace(TASK, protocol="authors"), method)).forward_passes
    assert passes == (1 if METHODS[method].learns_from == "order" else 2)


def test_the_last_ten_epochs_are_always_looked_at():
    for epochs in (1, 5, 10, 11, 60, 200):
        looked = looked_at(epochs)
        assert set(range(max(1, epochs - 9), epochs + 1)) <= set(looked)
        assert looked == sorted(set(looked))
        assert max(looked) == epochs
    assert len(looked_at(200)) < 35


def test_the_grid_of_table_2_is_the_paper_s():
    grid = table_grid("table2")
    assert len(grid) == len({spec.key for spec in grid}) == 4 * 3 * 9 * 5
    assert {spec.epochs for spec in grid} == {200}
    assert {spec.task.seed for spec in grid[:108]} == {0}  # a round of all cells before the next seed
    with pytest.raises(ValueError, match="unknown data set of table2 'mnist'"):
        table_grid("table2", datasets=["mnist"])


def test_the_printed_numbers():
    printed = {(p.dataset, p.prior, p.method): p for p in printed_numbers() if p.metric == "accuracy"}
    datasets = [name for names in TABLES.values() for name in names]
    assert set(printed) == {(d, p, m) for d in datasets for p in (0.2, 0.5, 0.8) for m in METHODS_OF_THE_PAPER}
    assert printed["pendigits", 0.5, "oracle-hard"].mean == 0.997


def test_a_run_does_what_is_missing(tmp_path, monkeypatch):
    store = Store(tmp_path)
    specs = [replace(QUICK, method=method) for method in ("confdiff-abs", "oracle-hard")]
    told = []
    assert run_trials(specs[:1], store, shown=lambda *said: told.append(said)) == []
    before = (tmp_path / "trials" / f"{specs[0].key}.json").read_bytes()
    assert run_trials(specs, store) == []
    assert {record["method"] for record in store.records()} == {"confdiff-abs", "oracle-hard"}
    assert (tmp_path / "trials" / f"{specs[0].key}.json").read_bytes() == before
    records = store.records()
    assert store.compact() == [tmp_path / "digits.jsonl"]
    assert store.finished() == []
    assert store.records() == records
    monkeypatch.setattr("confdiff.experiments.runner.run_trial", None)
    assert run_trials(specs, store) == []  # also those that were moved
    assert ("trials", 0, 1) in told


def test_commands_that_use_one_folder_at_once_lose_nothing(tmp_path):
    """Each saves its trials, moves what is there, and looks it up, while others do the same."""
    whole = run_trial(QUICK)

    def command(number):
        store, keys = Store(tmp_path), [f"{number}-{trial}" for trial in range(30)]
        for key in keys:
            store.save(whole | {"key": key})
            store.compact()
            assert {record["key"] for record in store.records()} >= {key}
            assert store.keys() >= {key}
        return keys

    with ThreadPoolExecutor(4) as threads:
        saved = [key for keys in threads.map(command, range(4)) for key in keys]
    assert sorted(record["key"] for record in Store(tmp_path).records()) == sorted(saved)


def test_what_a_killed_process_left_half_written_is_no_trial(tmp_path):
    store = Store(tmp_path)
    run_trials([QUICK], store)
    whole = (tmp_path / "trials" / f"{QUICK.key}.json").read_text()
    other = whole.replace(QUICK.key, "0" * 20)
    for name, text in ((".a.json.x.tmp.json", other), (".b.json.y.tmp.json", other[:50]), (".c.json.z.tmp.json", "")):
        (tmp_path / "trials" / name).write_text(text)
    assert store.keys() == {QUICK.key}
    assert [record["key"] for record in store.records()] == [QUICK.key]
    store.compact()
    assert (tmp_path / "digits.jsonl").read_text() == whole


def test_a_failed_trial_is_told_and_not_kept(tmp_path):
    bad = TrialSpec(replace(TASK, n_pairs=5000), "confdiff-abs", 1)
    ((spec, why),) = run_trials([bad, QUICK], Store(tmp_path))
    assert spec == bad
    assert "and there are" in why
    assert "n_pairs 5000" in str(spec)
    assert [record["key"] for record in Store(tmp_path).records()] == [QUICK.key]


def test_too_few_items_are_told_before_a_teacher_is_trained(tmp_path, monkeypatch):
    def teach(*arguments, **options):
        raise AssertionError("a teacher was trained for nothing")

    monkeypatch.setattr("confdiff.tasks.task.teach", teach)
    specs = [replace(QUICK, task=replace(TASK, n_pairs=5000), method=name) for name in ("confdiff-abs", "oracle-hard")]
    assert [spec for spec, _ in run_trials(specs, Store(tmp_path))] == specs
    with pytest.raises(AssertionError, match="for nothing"):
        run_trials([QUICK], Store(tmp_path))


def test_failures_for_one_reason_are_told_in_one_line(tmp_path):
    options = ("--n-pairs", "5000", "--method", "confdiff-abs,oracle-hard", "--trials", "2")
    result = confdiff("run", "digits", *options, "--results", str(tmp_path))
    assert result.returncode == 1
    said = " ".join(result.stderr.split())
    assert said.count("failed:") == 1
    assert result.stdout == ""  # no empty table
    assert (
        "confdiff-abs, 200 epochs, dataset digits, prior 0.5, protocol paper, seed 0, n_pairs 5000 (and 3 more)" in said
    )
    assert "drawing 10000 items at prior 0.5 takes 5000 positives" in said


def test_broken_results_are_named(tmp_path):
    (tmp_path / "digits.jsonl").write_text('{"key": 1}\n')
    with pytest.raises(ValueError, match=r"digits\.jsonl, line 1, is not the record of a trial"):
        Store(tmp_path).records()
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        Store(tmp_path / "file")


GRID = ["run", "digits", "--method", "confdiff-abs,oracle-hard,pcomp-teacher", "--trials", "3", "--epochs", "40"]


def accuracies(folder):
    return {record["key"]: record["curve"] for record in Store(folder).records()}


def test_a_killed_grid_goes_on_where_it_was(tmp_path):
    """SIGKILL to the command and to its workers while trials are under way; then the same command again."""
    command = [COMMAND, *GRID, "--jobs", "2", "--results", str(tmp_path / "killed")]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 200
    trials = tmp_path / "killed" / "trials"
    while len(list(trials.glob("*.json"))) < 2 and running.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    again = Store(tmp_path / "killed")
    kept = {record["key"]: record["seconds"] for record in again.records()}
    assert 2 <= len(kept) < 9
    for folder in ("killed", "whole"):
        result = confdiff(*GRID, "--results", str(tmp_path / folder))
        assert result.returncode == 0, result.stderr
    assert len(again.records()) == 9
    assert accuracies(tmp_path / "killed") == accuracies(tmp_path / "whole")
    left = [path.name for path in (tmp_path / "killed").rglob("*") if path.is_file() and not path.name.startswith(".")]
    assert left == ["digits.jsonl"]
    seconds = {record["key"]: record["seconds"] for record in again.records()}
    assert {key: seconds[key] for key in kept} == kept  # nothing was done twice: no two runs take the same time


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "digits", "--method", "abs"], "unknown method 'abs'"),
        (
            ["run", "digits", "--prior", "half"],
            "--prior must be numbers separated by commas, such as .2,.8; got 'half'",
        ),
        (["reproduce", "table9"], "unknown table, figure or study 'table9'"),
        (["reproduce", "table2", "--points", ".1"], "--points is for figures; table2 has no axes"),
        (["reproduce", "figure2", "--points", ".3"], "unknown point of figure2 '0.3'"),
        (["reproduce", "figure1", "--methods", "abs"], "unknown method of figure1 'abs'"),
        (["report"], "there are no trials in results"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.data
def test_what_a_figure_prints_tells_its_points_apart(tmp_path):
    """Two shares of the pairs are two lines, not one mean."""
    options = ["--datasets", "optdigits", "--methods", "confdiff-abs", "--points", ".1,.2", "--trials", "1"]
    result = confdiff("reproduce", "figure2", *options, "--epochs", "1", "--jobs", "1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "fraction 0.1" in result.stdout
    assert "fraction 0.2" in result.stdout
