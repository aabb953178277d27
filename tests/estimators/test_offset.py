"""Fitted estimators report whether the differences determined their offset."""

import warnings

import numpy as np
import pytest

from confdiff import ConfDiffClassifier, ConfDiffLogisticRegression, Pairs, ProjectedClassifier

ESTIMATORS = [
    lambda **options: ConfDiffLogisticRegression(C=100, **options),
    lambda **options: ConfDiffClassifier(model="linear", epochs=200, **options),
    lambda **options: ProjectedClassifier(rounds=3, **options),
]


def _pairs(low, high, slope=6.0):
    """Return exact differences of posteriors between two limits, and their mean."""
    items = np.random.default_rng(0).normal(size=(800, 2))
    r = low + (high - low) / (1 + np.exp(-slope * items[:, 0]))
    return Pairs(items, np.arange(400), np.arange(400, 800), r[400:] - r[:400]), r.mean()


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_open_offset_is_reported_with_its_interval(estimator):
    pairs, prior = _pairs(0.15, 0.55, slope=1.0)
    with pytest.warns(UserWarning, match=r"do not determine the class prior: any value from .* Pass prior=") as warned:
        model = estimator().fit(pairs)
    assert len(warned) == 1
    assert not model.is_offset_determined_
    low, high = model.prior_interval_
    assert low < prior < high
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(prior=prior).fit(pairs)
    assert model.is_offset_determined_
    assert model.prior_interval_ is None


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_an_offset_that_the_differences_determine_is_reported(estimator):
    pairs, prior = _pairs(0.0, 1.0)
    model = estimator().fit(pairs)
    assert model.is_offset_determined_
    low, high = model.prior_interval_
    assert low - 0.05 < prior < high + 0.05


def test_the_interval_is_saved_with_the_model():
    pairs, _ = _pairs(0.15, 0.55, slope=1.0)
    with pytest.warns(UserWarning, match="do not determine"):
        model = ConfDiffClassifier(model="linear", epochs=20).fit(pairs)
    restored = ConfDiffClassifier.from_state(model.to_state())
    assert restored.prior_interval_ == model.prior_interval_
    assert not restored.is_offset_determined_
    for damaged in ((0.5, 0.4), (-0.1, 0.4), ((0.1, 0.2), (0.8, 0.9))):
        state = model.to_state()
        state["learned"]["prior_interval"] = damaged
        with pytest.raises(ValueError, match="prior_interval must be 1 intervals"):
            ConfDiffClassifier.from_state(state)
