"""Duels and mean ranks of methods."""

import pytest
from scipy import stats

from confdiff.experiments.plans.paper_tables import PAPER_TABLES, table_grid
from confdiff.experiments.rankings import duels, mean_ranks, ranks_over
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


def test_comparisons():
    (teacher, other) = duels(made_up_records(), "confdiff-abs", ["pcomp-teacher", "pcomp-abs"])
    assert (teacher.won, teacher.tied, teacher.lost) == (24, 0, 0)
    assert other.mean_difference == pytest.approx(0.07)
    assert teacher.p_value == pytest.approx(2 / 2**8)  # all eight cells on one side
    assert (teacher.adjusted_p, other.adjusted_p) == (pytest.approx(4 / 2**8), pytest.approx(4 / 2**8))
    assert (teacher.cells, teacher.rank_biserial) == (8, 1.0)
    ranks = mean_ranks(made_up_records(), ["pcomp-abs", "confdiff-abs", "pcomp-teacher"])
    assert ranks.ranks == {"confdiff-abs": 1.0, "pcomp-teacher": 2.0, "pcomp-abs": 3.0}
    assert ranks.cells == 8
    # Demsar 2006, Table 5: q = 2.343 for three methods at the 5 % level.
    assert ranks.critical_difference == pytest.approx(2.343 * (3 * 4 / (6 * 8)) ** 0.5, abs=0.002)
    assert ranks.p_value < 0.01


def test_duels_on_fewer_than_five_cells_have_no_test_and_count_for_no_correction():
    few = [record for record in made_up_records() if record.method != "pcomp-abs" or record.prior == 0.2]
    teacher, other = duels(few, "confdiff-abs", ["pcomp-teacher", "pcomp-abs"])
    assert (other.cells, other.p_value, other.adjusted_p) == (4, None, None)
    assert teacher.adjusted_p == teacher.p_value


def test_a_single_method_has_no_critical_difference():
    records = [record_of(spec, 0.9) for spec in table_grid("table2", methods=["confdiff-abs"], trials=1)]
    assert mean_ranks(records, ["confdiff-abs"]).critical_difference is None


def test_friedman_s_test_is_that_of_scipy():
    rows = [{"a": 0.9, "b": 0.8, "c": 0.7}, {"a": 0.6, "b": 0.7, "c": 0.5}, {"a": 0.9, "b": 0.85, "c": 0.8}]
    ranks = ranks_over(rows, ["a", "b", "c"])
    assert ranks.ranks == {"a": pytest.approx(4 / 3), "b": pytest.approx(5 / 3), "c": 3.0}
    expected = stats.friedmanchisquare(*([row[name] for row in rows] for name in "abc"))
    assert ranks.p_value == pytest.approx(expected.pvalue)
