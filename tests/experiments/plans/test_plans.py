"""The table of experiments."""

import inspect

import pytest

from confdiff.cli.experiments import reproduce
from confdiff.experiments.plans import EXPERIMENTS, REPRODUCIBLE, find_experiment
from confdiff.experiments.plans.experiment import accuracy_table
from trial_records import trial


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_row_has_a_module_with_its_experiment(name):
    experiment = find_experiment(name)
    assert (experiment.grid is not None) == EXPERIMENTS[name].has_trials == (name in REPRODUCIBLE)
    assert experiment.section([]) == []


def test_unknown_experiments_are_refused():
    with pytest.raises(ValueError, match="unknown experiment 'table4'"):
        find_experiment("table4")


@pytest.mark.parametrize(
    ("option", "takers", "others"),
    [
        ("points", ("figure1", "figure2", "figure3"), ("table1", "table2", "table3", "study")),
        ("prior_given", ("table1", "table2"), ("table3", "figure1", "figure2", "figure3", "study")),
        ("early_stopping", ("table3",), ("table1", "table2", "figure1", "figure2", "figure3", "study")),
    ],
)
def test_options_come_from_the_grid(option, takers, others):
    assert all(option in find_experiment(name).options for name in takers)
    assert all(option not in find_experiment(name).options for name in others)


def grid_defaults(option):
    """Return experiment -> the default of an option of its grid."""
    grids = {name: inspect.signature(find_experiment(name).grid).parameters for name in REPRODUCIBLE}
    return {name: parameters[option].default for name, parameters in grids.items() if option in parameters}


def test_grids_decide_the_defaults_that_the_help_names():
    assert set(grid_defaults("trials").values()) == {5}
    assert {name for name, epochs in grid_defaults("epochs").items() if epochs != 200} == {"table3", "study"}
    assert {grid_defaults("epochs")[name] for name in ("table3", "study")} == {50}
    assert set(grid_defaults("protocol").values()) == {"authors"}


def test_the_command_has_no_defaults_of_its_own():
    options = inspect.signature(reproduce).parameters
    shared = {name for experiment in REPRODUCIBLE for name in find_experiment(experiment).options if name in options}
    assert {"trials", "epochs", "protocol"} <= shared
    assert [options[name].default for name in sorted(shared - {"early_stopping"})] == [None] * (len(shared) - 1)


def test_options_of_trials_make_rows_of_their_own():
    records = [
        trial("confdiff-regression", 0, 0.9),
        trial("confdiff-regression", 1, 0.8),
        trial("confdiff-regression", 0, 0.7, fraction=0.1),
        trial("confdiff-regression", 0, 0.6, prior_given=False),
    ]
    assert [row[3:] for row in accuracy_table(records).rows] == [
        ["", ".850 ± .071 (2)"],
        ["fraction 0.1", ".700 (1, no interval)"],
        ["prior not given", ".600 (1, no interval)"],
    ]
