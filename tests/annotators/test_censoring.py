"""Answers at the ends of the scale, against numerical integration and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from confdiff.annotators import fit_annotators
from confdiff.annotators.censoring import expected_answers, latent_answers, may_be_censored


@pytest.mark.parametrize(("mean", "variance"), [(0.0, 1.0), (0.7, 0.04), (-0.9, 0.3), (1.4, 0.09)])
def test_moments_agree_with_integration(mean, variance):
    normal = norm(mean, np.sqrt(variance))
    mass = normal.sf(1)
    first = quad(lambda x: x * normal.pdf(x), 1, 20, points=[1.5, 3])[0] / mass
    second = quad(lambda x: x * x * normal.pdf(x), 1, 20, points=[1.5, 3])[0] / mass
    latent, spread = latent_answers(np.array([1.0]), np.array([mean]), np.array([variance]))
    assert latent[0] == pytest.approx(first, rel=1e-5)
    assert spread[0] == pytest.approx(second - first**2, rel=1e-3, abs=1e-7)
    opposite, _ = latent_answers(np.array([-1.0]), np.array([-mean]), np.array([variance]))
    assert opposite[0] == pytest.approx(-first, rel=1e-5)
    inner = quad(lambda x: x * normal.pdf(x), -1, 1)[0]
    expected = inner + normal.sf(1) - normal.cdf(-1)
    assert expected_answers(np.array([mean]), np.array([variance]))[0] == pytest.approx(expected, abs=1e-7)


def test_answers_within_the_ends_do_not_change():
    c = np.array([0.3, -0.99])
    latent, spread = latent_answers(c, np.full(2, 5.0), np.ones(2))
    np.testing.assert_array_equal(latent, c)
    assert not spread.any()


def _answers(limit=1.0, n=4_000):
    rng = np.random.default_rng(0)
    d = rng.uniform(-1, 1, n)
    who = np.arange(n) % 4
    c = np.array([0.5, 0.9, 1.2, 1.8])[who] * d + 0.25 * rng.normal(size=n)
    return d, np.clip(c, -limit, limit), who


def test_censored_answers_do_not_shrink_scales():
    estimates = fit_annotators(*_answers())
    assert estimates.is_censored
    np.testing.assert_allclose(estimates.slope * estimates.scale, [0.5, 0.9, 1.2, 1.8], atol=0.06)
    d, c, who = _answers()
    target, _ = estimates.adjusted(c, who, d=d)
    slope = target @ d / (d @ d) * estimates.slope
    assert slope == pytest.approx(estimates.slope**2, rel=0.05)


def test_exact_and_graded_answers_are_not_censored():
    d, c, who = _answers(limit=np.inf)
    assert not fit_annotators(d, c / np.abs(c).max(), who).is_censored
    assert not may_be_censored(np.sign(c))
    assert not may_be_censored(np.clip(np.round(2 * c), -2, 2) / 2)


def test_without_predictions_the_expectation_is_over_all_pairs():
    d, c, who = _answers()
    estimates = fit_annotators(d, c, who)
    at_ends = np.abs(c) == 1
    with_predictions, _ = estimates.adjusted(c, who, d=estimates.slope * d)
    without, _ = estimates.adjusted(c, who)
    np.testing.assert_array_equal(with_predictions[~at_ends], without[~at_ends])
    for annotator in (2, 3):
        rows = at_ends & (who == annotator)
        assert np.abs(without[rows]).mean() == pytest.approx(np.abs(with_predictions[rows]).mean(), rel=0.15)
