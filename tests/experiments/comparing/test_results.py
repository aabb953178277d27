"""The statistics of a comparison, compared with restatements by scipy."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from confdiff.experiments.comparing.plan import ComparisonPlan, Setting
from confdiff.experiments.comparing.results import ComparisonResults, largest_groups
from made_up_comparisons import DATASETS, METHODS, PLAN, records_of, results_of


def table_of(results):
    """Accuracies as an array: methods x settings x seeds."""
    return np.array(
        [
            [[results.trials[setting, name].by_seed[seed] for seed in range(PLAN.trials)] for setting in PLAN.settings]
            for name in METHODS
        ]
    )


def test_the_overall_means_are_over_settings_for_each_seed():
    results = results_of()
    table = table_of(results)
    for place, name in enumerate(METHODS):
        assert list(results.overall[name].by_seed.values()) == pytest.approx(table[place].mean(axis=0).tolist())
    assert results.methods[0] == "confdiff-regression"  # the order is that of the means
    assert results.competitors == [name for name in results.methods if name != "oracle-soft"]


def test_pairs_over_seeds_are_paired_t_tests_with_holm_s_correction():
    results = results_of()
    overall = dict(zip(METHODS, table_of(results).mean(axis=1), strict=True))
    pairs = list(combinations(results.methods, 2))
    raw = [stats.ttest_rel(overall[first], overall[second]).pvalue for first, second in pairs]
    order = np.argsort(raw)
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.array(raw)[order] * np.arange(len(raw), 0, -1)))
    assert [(pair.first, pair.second) for pair in results.over_seeds] == pairs
    assert [pair.outcome.p_value for pair in results.over_seeds] == pytest.approx(raw)
    assert [pair.outcome.adjusted_p for pair in results.over_seeds] == pytest.approx(adjusted.tolist())
    for pair in results.over_seeds:
        assert pair.won + pair.tied + pair.lost == len(PLAN.settings)


def test_cells_are_compared_with_the_baseline_and_corrected_over_all_of_them():
    results = results_of()
    table = dict(zip(METHODS, table_of(results), strict=True))
    cells = [cell for cell in results.cells if cell.method != PLAN.baseline]
    raw = [
        stats.ttest_rel(table[cell.method][place], table[PLAN.baseline][place]).pvalue
        for cell in cells
        for place in [PLAN.settings.index(cell.setting)]
    ]
    assert [cell.outcome.p_value for cell in cells] == pytest.approx(raw)
    expected = stats.false_discovery_control(raw, method="bh")
    assert [cell.outcome.adjusted_p for cell in cells] == pytest.approx(expected.tolist())
    assert all(cell.outcome is None for cell in results.cells if cell.method == PLAN.baseline)


def test_each_data_set_counts_once_over_data_sets():
    results = results_of()
    means = table_of(results).mean(axis=2).reshape(len(METHODS), len(DATASETS), -1).mean(axis=2)
    by_method = dict(zip(METHODS, means, strict=True))
    for pair in results.over_datasets:
        differences = by_method[pair.first] - by_method[pair.second]
        assert pair.median_difference == pytest.approx(np.median(differences))
        assert pair.test.p_value == pytest.approx(stats.wilcoxon(differences, method="exact").pvalue)
    ranks = stats.rankdata(-means, axis=0).mean(axis=1)
    assert [results.ranks.ranks[name] for name in METHODS] == pytest.approx(ranks.tolist())
    assert results.ranks.cells == len(DATASETS)


def test_what_differs_over_data_sets():
    """Eight data sets of one sign have p = 2 / 2^8, and times six pairs that is below .05."""
    results = results_of()
    assert results.smallest_adjusted_p == pytest.approx(6 * 2 / 2**8)
    significant = {(pair.first, pair.second) for pair in results.over_datasets if pair.is_significant}
    assert ("confdiff-regression", "pcomp-abs") in significant
    for group in results.groups:
        assert not any({first, second} <= set(group) for first, second in significant)


def test_few_data_sets_cannot_differ():
    plan = ComparisonPlan(METHODS, DATASETS[:4], trials=3)
    results = ComparisonResults.of(plan, records_of(plan))
    assert results.smallest_adjusted_p == pytest.approx(6 * 2 / 2**4)
    assert not any(pair.is_significant for pair in results.over_datasets)
    assert results.groups == [list(results.ranks.ranks)]


def test_settings_without_all_trials_are_left_out():
    whole = records_of(PLAN)
    missing = PLAN.spec(PLAN.settings[0], "pcomp-abs", 2)
    results = ComparisonResults.of(PLAN, [record for record in whole if record.key != missing.key])
    assert results.missing == 1
    assert results.settings == PLAN.settings[1:]
    cell = next(cell for cell in results.cells if cell.setting == PLAN.settings[0] and cell.method == "pcomp-abs")
    assert (cell.trials.n, cell.outcome.seeds) == (PLAN.trials - 1, PLAN.trials - 1)


def test_no_whole_setting_is_an_error():
    few = [record for record in records_of(PLAN) if record.seed]
    with pytest.raises(ValueError, match="256 of 320 trials are finished, and no setting has all of its trials"):
        ComparisonResults.of(PLAN, few)


def test_trials_of_other_plans_are_not_taken():
    other = ComparisonPlan(METHODS, DATASETS, epochs=3, trials=PLAN.trials)
    results = ComparisonResults.of(PLAN, [*records_of(PLAN), *records_of(other)])
    assert len(results.records) == len(PLAN.grid())


def test_one_trial_has_means_only():
    plan = ComparisonPlan(METHODS, DATASETS, trials=1)
    results = ComparisonResults.of(plan, records_of(plan))
    assert {pair.outcome.p_value for pair in results.over_seeds} == {None}
    assert {pair.outcome.interval for pair in results.over_seeds} == {None}


@pytest.mark.parametrize("seed", range(4))
def test_largest_groups_by_enumeration(seed):
    names = list("abcdef")
    rng = np.random.default_rng(seed)
    joined = {frozenset(pair) for pair in combinations(names, 2) if rng.random() < 0.6}
    subsets = [set(group) for size in range(2, 7) for group in combinations(names, size)]
    whole = [group for group in subsets if all(frozenset(pair) in joined for pair in combinations(group, 2))]
    expected = [group for group in whole if not any(group < other for other in whole)]
    found = largest_groups(names, lambda first, second: frozenset((first, second)) in joined)
    assert sorted(map(sorted, found)) == sorted(map(sorted, expected))


def test_many_equal_methods_are_one_group():
    names = [f"m{k}" for k in range(40)]
    assert largest_groups(names, lambda first, second: True) == [names]


def test_settings_are_named_by_data_set_prior_and_noise():
    assert PLAN.settings[0] == Setting(DATASETS[0], 0.3, "exact")
