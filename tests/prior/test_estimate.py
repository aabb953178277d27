"""The evidence about the prior, combined: differences, label differences, labels and one bit."""

import numpy as np
import pytest
from scipy.special import expit

from confdiff.prior.estimate import Evidence
from confdiff.prior.label_differences import LabelMoment
from confdiff.prior.out_of_fold import OutOfFold

SHARP = LabelMoment(mean=0.32, error=0.015)  # prior .2 or .8


def _held_out(low, high, n=600):
    rng = np.random.default_rng(0)
    z = 3 * rng.normal(size=(2, n))
    r = low + (high - low) * expit(z)
    rows = np.arange(2 * n).reshape(2, n)
    c = r[1] - r[0] + 0.2 * rng.normal(size=n)
    return OutOfFold(scores=z, c=c, weight=np.ones(n), rows=rows), r


def test_one_bit_decides_between_two_priors():
    for positives, prior in (("rarer", 0.2), ("commoner", 0.8)):
        estimate = Evidence(held_out=None, moment=SHARP, positives=positives).estimate()
        assert estimate.confidence_low < prior < estimate.confidence_high
        assert estimate.value == pytest.approx(prior)
        assert (estimate.is_identified, estimate.source, estimate.alternatives) == (True, "label differences", ())
    with pytest.raises(ValueError, match="unknown positives 'few'"):
        Evidence(held_out=None, moment=SHARP, positives="few")


def test_without_a_bit_both_priors_are_listed_and_the_prior_is_open():
    held_out, _ = _held_out(0.3, 0.7)
    estimate = Evidence(held_out=held_out, moment=SHARP).estimate()
    assert not estimate.is_identified
    (low, high), (mirrored_low, mirrored_high) = estimate.alternatives
    assert low < 0.2 < high < mirrored_low < 0.8 < mirrored_high
    assert (estimate.confidence_low, estimate.confidence_high) == (low, mirrored_high)
    assert "two class priors fit the label differences: 0.18 to 0.23, or 0.77 to 0.82" in str(estimate)


def test_the_range_of_the_differences_excludes_the_reflection():
    held_out, _ = _held_out(0.0, 0.6)  # priors from .3 to .7
    estimate = Evidence(held_out=held_out, moment=LabelMoment(mean=0.42, error=0.01)).estimate()
    assert len(estimate.alternatives) == 2  # .3 and .7 are both in that interval
    skewed = OutOfFold(held_out.scores - 3, held_out.c, held_out.weight, held_out.rows)
    low_r = 0.02 + 0.5 * expit(skewed.scores)
    c = low_r[1] - low_r[0]
    skewed = OutOfFold(skewed.scores, c, held_out.weight, held_out.rows)
    prior = low_r.mean()
    moment = LabelMoment(mean=2 * 0.07 * 0.93, error=0.01)
    assert Evidence(held_out=skewed, moment=moment).estimate().alternatives  # .07 is too low, .93 too high
    moment = LabelMoment(mean=2 * prior * (1 - prior), error=0.01)
    estimate = Evidence(held_out=skewed, moment=moment).estimate()
    assert estimate.alternatives == ()
    assert estimate.value == pytest.approx(prior)


def test_labelled_items_narrow_the_interval_and_decide_between_two_priors():
    held_out, r = _held_out(0.1, 0.5)
    rng = np.random.default_rng(1)
    chosen = rng.choice(r.size, 40, replace=False)
    labels = (rng.random(40) < r.reshape(-1)[chosen]).astype(np.float32)
    scores = held_out.scores.reshape(-1)[chosen]
    wide = Evidence(held_out=held_out).estimate()
    narrow = Evidence(held_out=held_out, label_scores=scores, labels=labels).estimate()
    assert narrow.confidence_low < r.mean() < narrow.confidence_high
    assert narrow.confidence_high - narrow.confidence_low < 0.6 * (wide.confidence_high - wide.confidence_low)
    assert (narrow.source, narrow.n_labels) == ("labelled items", 40)
    moment = LabelMoment(mean=2 * r.mean() * (1 - r.mean()), error=0.015)
    both = Evidence(held_out=held_out, moment=moment, label_scores=scores, labels=labels).estimate()
    assert both.is_identified
    assert both.alternatives == ()
    assert both.value == pytest.approx(r.mean(), abs=0.04)


def test_two_labels_do_not_decide_between_two_priors():
    held_out, _ = _held_out(0.3, 0.7)
    labels = np.array([1.0, 0.0], dtype=np.float32)
    evidence = Evidence(held_out=held_out, moment=SHARP, label_scores=np.zeros(2), labels=labels)
    estimate = evidence.estimate()
    assert len(estimate.alternatives) == 2
    assert not estimate.is_identified


def test_the_bit_also_halves_the_interval_of_graded_differences():
    held_out, _ = _held_out(0.3, 0.7)
    assert Evidence(held_out=held_out).estimate().confidence_high > 0.6
    estimate = Evidence(held_out=held_out, positives="rarer").estimate()
    assert estimate.confidence_high == 0.5
    assert estimate.value <= 0.5
