"""The estimate of time, from finished trials."""

import pytest

from confdiff.experiments.comparing.estimate import estimated_seconds
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec
from trial_records import record_of


def spec(method="confdiff-abs", dataset="usps", epochs=10, **options):
    return TrialSpec(TaskSpec(dataset, 0.5, "authors", **options), method, epochs)


def finished(seconds, **options):
    return record_of(spec(**options), processor_seconds=seconds)


def test_time_goes_by_passes_over_pairs():
    records = [finished(4.0)]  # 10 epochs of 2,000 pairs
    assert estimated_seconds([spec(epochs=20), spec(n_pairs=1000)], records) == pytest.approx(8.0 + 2.0)
    assert estimated_seconds([spec(dataset="letter")], records) == pytest.approx(8.0)  # 4,000 pairs


def test_the_most_similar_trials_count():
    records = [finished(4.0), finished(6.0, method="oracle-soft"), finished(1.0, dataset="optdigits")]
    assert estimated_seconds([spec(method="oracle-soft")], records) == pytest.approx(6.0)
    assert estimated_seconds([spec(method="pcomp-abs")], records) == pytest.approx(5.0)  # the mean on the data set


def test_without_similar_trials_the_time_is_unknown():
    assert estimated_seconds([spec()], []) is None
    assert estimated_seconds([spec()], [finished(4.0, model="linear")]) is None
    assert estimated_seconds([spec()], [finished(None)]) is None
    assert estimated_seconds([], []) == 0.0
