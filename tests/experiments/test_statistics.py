"""Statistics of trials, compared with restatements by scipy and by enumeration."""

import numpy as np
import pytest
from scipy import stats

from confdiff.experiments.plans.paper_tables import table_grid
from confdiff.experiments.statistics import Paired, Trials, averaged, corrected, mean_interval, paired, training_seconds
from trial_records import record_of, trial


def test_trials():
    trials = Trials.of([trial("confdiff-abs", seed, accuracy) for seed, accuracy in ((3, 0.9), (1, 0.8))])
    assert (trials.n, trials.by_seed) == (2, {3: 0.9, 1: 0.8})
    assert (trials.mean, trials.std) == (pytest.approx(0.85), pytest.approx(0.0707107))
    assert trials.restricted_to({3}) == Trials({3: 0.9})
    assert (Trials({0: 0.5}).std, Trials({0: 0.5}).interval) == (None, None)
    assert Trials().n == 0


def test_training_time_is_that_of_the_trials_whose_processor_time_was_measured():
    spec = table_grid("table2")[0]
    measured = record_of(spec, seconds=90.0, processor_seconds=10.0)
    assert training_seconds([measured, record_of(spec, seconds=50.0)]) == 20.0
    assert training_seconds([record_of(spec, seconds=50.0)]) == 50.0


@pytest.mark.parametrize("n", [2, 3, 5, 20])
def test_intervals_are_those_of_scipy(n):
    values = np.random.default_rng(n).normal(0.9, 0.02, n)
    expected = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert mean_interval(values.tolist()) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_an_interval_of_three_trials_covers_the_mean_in_95_of_100_cases():
    values = np.random.default_rng(0).normal(0.9, 0.02, (4_000, 3))
    covered = np.mean([low <= 0.9 <= high for low, high in map(mean_interval, values.tolist())])
    assert covered == pytest.approx(0.95, abs=0.011)  # three standard errors


def test_trials_are_paired_by_their_seeds():
    first = Trials({0: 0.9, 1: 0.92, 2: 0.95, 7: 0.1})
    second = Trials({2: 0.93, 1: 0.91, 0: 0.9, 5: 0.9})
    outcome = paired(first, second)
    expected = stats.ttest_rel([0.9, 0.92, 0.95], [0.9, 0.91, 0.93])
    assert (outcome.seeds, outcome.difference) == (3, pytest.approx(0.01))
    assert outcome.p_value == pytest.approx(expected.pvalue)
    assert outcome.interval == pytest.approx(tuple(expected.confidence_interval(0.95)))
    assert paired(first, Trials({9: 0.5})) is None
    assert paired(Trials({0: 0.9}), Trials({0: 0.8})) == Paired(pytest.approx(0.1), 1, None)


def test_the_effect_is_unbiased_for_few_seeds():
    """Hedges' correction: the mean over many samples is the true standardised difference."""
    gains = np.random.default_rng(1).normal(0.8, 1.0, (20_000, 4))
    effects = [paired(Trials(dict(enumerate(row))), Trials(dict.fromkeys(range(4), 0.0))).effect for row in gains]
    assert np.mean(effects) == pytest.approx(0.8, abs=3 * np.std(effects) / len(effects) ** 0.5)
    raw = gains.mean(axis=1) / gains.std(axis=1, ddof=1)
    assert raw.mean() > 1.05  # without the correction


def test_equal_differences_have_no_effect_size():
    outcome = paired(Trials({0: 0.5, 1: 0.75, 2: 0.5}), Trials({0: 0.25, 1: 0.5, 2: 0.25}))
    assert (outcome.p_value, outcome.effect, outcome.interval) == (0.0, None, (0.25, 0.25))


def test_a_corrected_comparison_is_judged_with_its_adjusted_p_value():
    outcomes = [Paired(0.1, 5, 0.03), Paired(-0.1, 5, 0.001), Paired(0.1, 2, None), None]
    assert [outcome.direction for outcome in outcomes if outcome] == ["above", "below", ""]
    adjusted = corrected([*outcomes, Paired(0.1, 5, 0.04)])
    assert [outcome.adjusted_p for outcome in adjusted if outcome] == [0.06, 0.003, None, 0.06]
    assert [outcome.direction for outcome in adjusted if outcome] == ["level", "below", "", "level"]


def test_means_over_settings_need_seeds_that_all_share():
    assert averaged([Trials({0: 0.5, 1: 0.75}), Trials({1: 0.25, 2: 0.5})]) == Trials({1: 0.5})
    assert averaged([Trials({0: 0.5}), Trials({1: 0.5})]) == Trials()
    assert averaged([]) == Trials()
