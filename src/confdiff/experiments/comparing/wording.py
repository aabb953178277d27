"""The headline of a comparison, and what its statistics assume."""

from confdiff.display.text import in_words, listed, plural
from confdiff.experiments.comparing.results import ComparisonResults, OverSeeds
from confdiff.experiments.report.numbers import accuracy_text, gain_text, p_text, signed_text
from confdiff.experiments.report.style import label_of
from confdiff.experiments.statistics import FEWEST_TRIALS, SIGNIFICANCE_LEVEL

TEST_FRACTION = 0.2
"""Fraction of the items in a test set, where the split is random."""


def headline(results: ComparisonResults) -> list[str]:
    """Return three sentences: the best method, its lead on these settings, and what holds over data sets."""
    return [_best(results), _lead(results), _other_data(results)]


def _best(results: ComparisonResults) -> str:
    best = results.competitors[0]
    number = len(results.competitors)
    kind = "methods" if number == len(results.methods) else "methods that learn from comparisons"
    return (
        f"{label_of(best)} has the highest mean accuracy of {in_words(number)} {kind}: "
        f"{accuracy_text(results.overall[best].mean)} over {settings_text(results)}, "
        f"with {plural(results.plan.trials, 'trial')} each."
    )


def settings_text(results: ComparisonResults) -> str:
    """Return the number of settings, and the data sets that they come from."""
    datasets = len(results.by_dataset)
    return f"{plural(len(results.settings), 'setting')} of {plural(datasets, 'data set')}"


def _lead(results: ComparisonResults) -> str:
    best, *others = results.competitors
    pairs = {(pair.first, pair.second): pair for pair in results.over_seeds}
    leads = [pairs[best, name] for name in others]
    if not leads:
        return "All other methods are oracles, which are given labels or posteriors."
    runner_up = leads[0]
    text = f"It is {signed_text(runner_up.outcome.difference).lstrip('+')} above {label_of(runner_up.second)}"
    if runner_up.outcome.p_value is None:
        return f"{text}, without a test: a test over seeds needs {in_words(FEWEST_TRIALS)} trials."
    return f"{text} ({test_text(runner_up)}){_further(leads)}."


def test_text(pair: OverSeeds) -> str:
    """Return interval and p-value of a comparison over seeds."""
    p_value = "p < .0001" if (pair.outcome.adjusted_p or 0) < 1e-4 else f"p = {p_text(pair.outcome.adjusted_p)}"
    return f"95 % interval {gain_text(pair.outcome.interval)}, {p_value} on these settings"


def _further(leads: list[OverSeeds]) -> str:
    if len(leads) == 1:
        return ""
    above = sum(pair.outcome.direction == "above" for pair in leads)
    others = f"the {in_words(len(leads))} others"
    return f"; it is significantly above {'all of' if above == len(leads) else f'{in_words(above)} of'} {others}"


def _other_data(results: ComparisonResults) -> str:
    """State what holds over data sets, each of which counts once."""
    datasets = len(results.by_dataset)
    if datasets < 2:
        return "One data set allows no test of what holds on others."
    if results.smallest_adjusted_p > SIGNIFICANCE_LEVEL:
        return (
            f"With {in_words(datasets)} data sets, no difference can be significant over data sets: the smallest "
            f"possible p-value is {p_text(results.smallest_adjusted_p)}."
        )
    best = results.competitors[0]
    above = [
        label_of(pair.second)
        for pair in results.over_datasets
        if pair.first == best and pair.is_significant and pair.test.rank_biserial > 0
    ]
    if not above:
        return f"Over the {in_words(datasets)} data sets, it is significantly above no other method."
    return f"Over the {in_words(datasets)} data sets, it is significantly above {listed(above)}."


def over_seeds_text(results: ComparisonResults) -> str:
    """Describe the tests over seeds."""
    trials = results.plan.trials
    text = (
        f"Accuracies are averaged over {settings_text(results)} for each of {plural(trials, 'seed')}, and methods "
        "are compared seed by seed: trials of one seed share split, teacher and pairs. Intervals are 95 % "
        "t-intervals over seeds, cut at 0 and 1 for accuracies. "
    )
    if trials < FEWEST_TRIALS:
        missing = "One trial has no interval and no test." if trials == 1 else "Two trials have no test."
        return text + missing
    return text + (
        f"P-values are those of paired t-tests; Holm p is corrected for all {len(results.over_seeds)} pairs of "
        "methods. The effect is the mean difference in standard deviations over seeds, with Hedges' correction. The "
        "last columns count settings in which the first method is above, equal (within .001) or below."
    )


def over_datasets_text(results: ComparisonResults) -> str:
    """Describe the tests over data sets."""
    datasets = len(results.by_dataset)
    text = (
        "Here each data set counts once, with its mean over priors, noise and seeds, because the settings of a data "
        "set are not independent. Pairs of methods are compared by Wilcoxon's exact signed-rank test with Holm's "
        "correction, whose result does not depend on the other methods, unlike that of mean ranks (Benavoli, Corani "
        "and Mangili 2016). The effect is the rank-biserial correlation, from -1 to 1."
    )
    if results.smallest_adjusted_p > SIGNIFICANCE_LEVEL:
        pairs = len(results.over_datasets)
        text += (
            f" With {plural(datasets, 'data set')} and {plural(pairs, 'pair')} of methods the smallest possible "
            f"corrected p-value is {p_text(results.smallest_adjusted_p)}, so that no test can be significant."
        )
    return text


def ranks_text(results: ComparisonResults) -> str:
    """Describe the plot of mean ranks."""
    ranks = results.ranks
    groups = "; ".join(listed(map(label_of, group)) for group in results.groups)
    text = "Bars join methods without a significant difference by these tests"
    text += f": {groups}." if groups else "; there are none."
    if ranks.p_value is not None:
        text += f" Friedman's test that all methods are equal: p = {p_text(ranks.p_value)}."
    if ranks.critical_difference is not None:
        text += f" For comparison, Nemenyi's critical difference of mean ranks is {ranks.critical_difference:.2f}."
    return text


def assumptions(results: ComparisonResults) -> list[str]:
    """Return what the statistics assume, one paragraph each."""
    trials = results.plan.trials
    widening = (1 + trials * TEST_FRACTION / (1 - TEST_FRACTION)) ** 0.5
    return [
        "Tests over seeds assume that differences between methods are roughly normal over seeds. They are about other "
        "seeds in these settings and on these data sets. Trials of a data set share items, so they are not "
        "independent as evidence about new samples from the same source. Where a random fifth of the items is the "
        f"test set, the corrected resampled t-test (Nadeau and Bengio 2003) widens the intervals of "
        f"{plural(trials, 'trial')} by a factor of {widening:.1f}.",
        "Tests over data sets assume that the data sets are independent, and a random choice of those that the "
        "conclusion is about (Demsar 2006). Data sets that were chosen for a reason are not.",
        "All methods have the same network and number of epochs, and no hyper-parameter was tuned. A method that was "
        "developed on these data sets has an advantage that no test here shows.",
    ]
