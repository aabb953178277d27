"""Trials, their grids, and the commands that run them."""

import json
from dataclasses import replace

import pytest

from command import confdiff
from confdiff.experiments.paper import METHODS_OF_THE_PAPER, TABLES, printed_numbers, table_grid
from confdiff.experiments.trials.run import looked_at, pairs_for, recipe_for, run_trial
from confdiff.experiments.trials.spec import TrialSpec
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


@pytest.mark.parametrize("method", [name for name, row in METHODS.items() if row.classifies])
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "digits", "--method", "abs"], "unknown method 'abs'"),
        (
            ["run", "digits", "--prior", "half"],
            "--prior must be numbers separated by commas, such as .2,.8; got 'half'",
        ),
        (["reproduce", "table9"], "unknown table, figure or study 'table9'"),
        (["run", "digits", "--method", "bpr"], "bpr only ranks items"),
        (["run", "digits", "--method", ""], "--method names nothing"),
        (["run", "digits", "--prior", ","], "--prior names nothing"),
        (["run", "digits", "--incomplete"], "--incomplete is for CIFAR-10"),
        (["run", "digits", "--results", "file/sub"], "results cannot be kept in file/sub: "),
        (["reproduce", "table2", "--points", ".1"], "--points is not for table2, but for figure1, figure2, figure3."),
        (["reproduce", "table3", "--priors", ".2"], "--priors is not for table3"),
        (["reproduce", "table3", "--protocol", "foo"], "--protocol is not for table3"),
        (["reproduce", "table2", "--early-stopping"], "--early-stopping is not for table2, but for table3."),
        (
            ["reproduce", "table2", "--without-prior"],
            "'confdiff-abs' needs the class prior. Methods that can do without: confdiff-regression,",
        ),
        (["reproduce", "figure2", "--points", ".3"], "unknown point of figure2 '0.3'"),
        (["reproduce", "figure1", "--methods", "abs"], "unknown method of figure1 'abs'"),
        (["report"], "there are no trials in results"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
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
