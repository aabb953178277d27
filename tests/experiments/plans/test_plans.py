"""The table of experiments."""

import pytest

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


def test_options_come_from_the_grid():
    takers = {
        option: [name for name in REPRODUCIBLE if option in find_experiment(name).options]
        for option in ("points", "prior_given", "early_stopping")
    }
    assert takers == {
        "points": ["figure1", "figure2", "figure3"],
        "prior_given": ["table1", "table2"],
        "early_stopping": ["table3"],
    }


def test_options_of_trials_make_rows_of_their_own():
    records = [
        trial("confdiff-regression", 0, 0.9),
        trial("confdiff-regression", 1, 0.8),
        trial("confdiff-regression", 0, 0.7, fraction=0.1),
        trial("confdiff-regression", 0, 0.6, prior_given=False),
    ]
    assert [row[3:] for row in accuracy_table(records).rows] == [
        ["", ".850 ± .071 (2)"],
        ["fraction 0.1", ".700 (1)"],
        ["prior not given", ".600 (1)"],
    ]
