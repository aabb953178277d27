"""Comparisons of trials that were never run."""

from functools import cache

import numpy as np

from confdiff.experiments.comparing.plan import ComparisonPlan
from confdiff.experiments.comparing.results import ComparisonResults
from trial_records import record_of

METHODS = ("confdiff-abs", "confdiff-regression", "pcomp-abs", "oracle-soft")
DATASETS = ("optdigits", "usps", "pendigits", "letter", "adult", "spambase", "wine", "framingham")
GAINS = {"confdiff-abs": 0.0, "confdiff-regression": 0.02, "pcomp-abs": -0.03, "oracle-soft": 0.018}
PLAN = ComparisonPlan(METHODS, DATASETS, priors=(0.3,), noise=("exact", "additive:0.3"), trials=5, epochs=50)


def records_of(plan, gains=GAINS):
    """Trials with the gain of their method, the difficulty of their data set, and noise from seed to seed."""
    rng = np.random.default_rng(0)
    places = {dataset: 0.93 - 0.02 * place for place, dataset in enumerate(plan.datasets)}
    return [
        record_of(spec, float(places[spec.dataset] + gains[spec.method] + rng.normal(0, 0.006))) for spec in plan.grid()
    ]


@cache
def results_of(plan=PLAN):
    """The results of all trials of a plan."""
    return ComparisonResults.of(plan, records_of(plan))
