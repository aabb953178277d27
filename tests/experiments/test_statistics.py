"""Statistics of trials."""

import pytest

from confdiff.experiments.plans.paper_tables import PAPER_TABLES, table_grid
from confdiff.experiments.statistics import Trials, duels, mean_ranks, training_seconds
from trial_records import record_of, trial


def made_up_records():
    """Three methods on eight cells, where the first always wins by .02 and the third always loses by .05."""
    return [
        trial(method, seed, 0.9 + shift + 0.001 * seed, dataset=dataset, prior=prior)
        for dataset in PAPER_TABLES["table2"]
        for prior in (0.2, 0.5)
        for seed in range(3)
        for method, shift in (("confdiff-abs", 0.02), ("pcomp-teacher", 0.0), ("pcomp-abs", -0.05))
    ]


def test_trials():
    trials = Trials.of([trial("confdiff-abs", seed, accuracy) for seed, accuracy in ((3, 0.9), (1, 0.8))])
    assert (trials.n, trials.by_seed) == (2, {3: 0.9, 1: 0.8})
    assert (trials.mean, trials.std) == (pytest.approx(0.85), pytest.approx(0.0707107))
    assert trials.restricted_to({3}) == Trials({3: 0.9})
    assert Trials({0: 0.5}).std is None
    assert Trials().n == 0


def test_training_time_is_that_of_the_trials_whose_processor_time_was_measured():
    spec = table_grid("table2")[0]
    measured = record_of(spec, seconds=90.0, processor_seconds=10.0)
    assert training_seconds([measured, record_of(spec, seconds=50.0)]) == 20.0
    assert training_seconds([record_of(spec, seconds=50.0)]) == 50.0


def test_comparisons():
    (teacher, other) = duels(made_up_records(), "confdiff-abs", ["pcomp-teacher", "pcomp-abs"])
    assert (teacher.won, teacher.tied, teacher.lost) == (24, 0, 0)
    assert other.mean_difference == pytest.approx(0.07)
    assert teacher.p_value == pytest.approx(2 / 2**8)  # all eight cells on one side
    ranks = mean_ranks(made_up_records(), ["pcomp-abs", "confdiff-abs", "pcomp-teacher"])
    assert ranks.ranks == {"confdiff-abs": 1.0, "pcomp-teacher": 2.0, "pcomp-abs": 3.0}
    assert ranks.cells == 8
    # Demsar 2006, Table 5: q = 2.343 for three methods at the 5 % level.
    assert ranks.critical_difference == pytest.approx(2.343 * (3 * 4 / (6 * 8)) ** 0.5, abs=0.002)
    assert ranks.p_value < 0.01


def test_a_single_method_has_no_critical_difference():
    records = [record_of(spec, 0.9) for spec in table_grid("table2", methods=["confdiff-abs"], trials=1)]
    assert mean_ranks(records, ["confdiff-abs"]).critical_difference is None
