"""What chance alone gives, and tests of cells against print, compared with simulations and with scipy."""

import numpy as np
import pytest
from scipy import stats

from confdiff.experiments.plans.agreement import agreement_of, chance_outside, chance_outside_of_one, welch
from confdiff.experiments.plans.paper_tables import table_cells
from confdiff.experiments.plans.printed import Printed
from confdiff.experiments.plans.table_results import table_results
from confdiff.experiments.report.writing import report_blocks, report_html, report_markdown
from confdiff.experiments.statistics import Trials
from trial_records import trial


def simulated(n, printed_n, printed_spread):
    """The fraction of cells outside two combined deviations where both means are equal."""
    rng = np.random.default_rng(0)
    ours = rng.normal(size=(200_000, n))
    theirs = printed_spread * rng.normal(size=(200_000, printed_n))
    spread = np.hypot(ours.std(axis=1, ddof=1), theirs.std(axis=1, ddof=1))
    return np.mean(np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) > 2 * spread)


@pytest.mark.parametrize(("n", "printed_n"), [(3, 5), (5, 5), (4, 5)])
def test_chance_is_that_of_a_simulation(n, printed_n):
    expected = chance_outside(n, printed_n)
    assert simulated(n, printed_n, 1.0) == pytest.approx(expected, abs=4 * (expected / 200_000) ** 0.5)


@pytest.mark.parametrize("n", [3, 5])
def test_chance_with_one_spread_is_that_of_a_simulation(n):
    expected = chance_outside_of_one(n)
    assert simulated(n, 5, 0.0) == pytest.approx(expected, abs=4 * (expected / 200_000) ** 0.5)


def printed(mean, std):
    return Printed("table2", "usps", 0.5, "confdiff-abs", "accuracy", mean, std)


def test_welch_s_test_is_that_of_scipy():
    accuracies = [0.91, 0.95, 0.93]
    interval, p_value = welch(Trials(dict(enumerate(accuracies))), printed(0.96, 0.02))
    summary = (np.mean(accuracies), np.std(accuracies, ddof=1), 3, 0.96, 0.02, 5)
    expected = stats.ttest_ind_from_stats(*summary, equal_var=False)
    assert p_value == pytest.approx(expected.pvalue, rel=1e-3)  # the rounding of the printed mean is added
    assert interval[0] < -0.03 < interval[1]
    assert np.mean(interval) == pytest.approx(-0.03)


def test_spreads_that_are_printed_as_zero_do_not_divide_by_zero():
    _, p_value = welch(Trials({0: 0.8, 1: 0.8, 2: 0.8}), printed(0.8, 0.0))
    assert p_value == pytest.approx(1.0)
    _, p_value = welch(Trials({0: 0.8, 1: 0.8, 2: 0.8}), printed(0.79, 0.0))
    assert p_value < 1e-6


def records_of(gain):
    """ABS on the UCI sets at the printed mean of USPS plus a gain, with a spread of .004."""
    return [
        trial("confdiff-abs", seed, 0.960 + gain + shift, prior=0.2)
        for seed, shift in enumerate((-0.004, 0.0, 0.0, 0.0, 0.004))
    ]


def test_a_cell_at_the_printed_number_does_not_differ():
    (test,) = agreement_of(table_cells(records_of(0.0))).tests
    assert (test.differs, test.cell.verdict, test.p_value) == (False, "within", pytest.approx(1.0))


def test_within_is_no_proof_of_equal_means():
    """A difference of .008 with small spreads: within the tolerance, and yet significant."""
    agreement = agreement_of(table_cells(records_of(0.008)))
    (test,) = agreement.tests
    assert (test.cell.verdict, test.differs, agreement.outside) == ("within", True, 0)
    assert (agreement.rejected("bh", outside=False), agreement.rejected("holm", outside=True)) == (1, 0)
    assert agreement.by_chance == pytest.approx(chance_outside(5))
    assert agreement.by_chance_at_most == pytest.approx(chance_outside_of_one(5))


def test_the_correction_is_for_all_cells_of_a_table():
    few = records_of(0.008)
    others = [trial("confdiff-abs", seed, 0.9 + 0.02 * seed, dataset="letter", prior=0.8) for seed in range(5)]
    (alone,) = agreement_of(table_cells(few)).tests
    (results,) = table_results(few + others)
    together = next(test for test in results.agreement.tests if test.cell.dataset == "usps")
    assert together.holm_p == pytest.approx(min(1.0, 2 * alone.p_value))


def test_the_report_states_chance_and_corrections():
    blocks = report_blocks(records_of(-0.05))
    text = " ".join(report_markdown(blocks).split())
    assert "Chance alone, with equal means, would put 0.0 of 1 cell outside" in text
    assert "finds a difference in 1 of these 1 and in 0 of the 0 within" in text
    assert "| USPS | 0.2 | ConfDiff-ABS |" not in text  # the single tests are on the page
    assert "<td>USPS</td><td>0.2</td><td>ConfDiff-ABS</td><td>-.050</td>" in report_html(blocks)
