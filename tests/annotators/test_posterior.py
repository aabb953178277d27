"""The posterior of scales and biases, against normal distributions of all answers."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from confdiff.annotators.posterior import posterior_of
from confdiff.annotators.sums import AnswerSums


def _answers(seed=0, n=24):
    rng = np.random.default_rng(seed)
    d, z, c = rng.normal(size=(3, n))
    return d, z, c, np.arange(n) % 4


def _brute_force(answers, noise, scale_spread, bias_spread, mean_spread=1e3):
    """Return posterior mean and covariance of (s_0, ..., b_0, ...) and the log density, with a wide prior of mu."""
    d, z, c, who = answers
    design = np.hstack([np.eye(4)[who] * d[:, None], np.eye(4)[who] * z[:, None]])
    prior = np.diag([scale_spread**2] * 4 + [bias_spread**2] * 4)
    prior[:4, :4] += mean_spread**2
    covariance = design @ prior @ design.T + np.diag(noise[who])
    gain = prior @ design.T @ np.linalg.inv(covariance)
    log_density = multivariate_normal(np.zeros(len(c)), covariance).logpdf(c)
    return gain @ c, log_density


@pytest.mark.parametrize(("scale_spread", "bias_spread"), [(0.4, 0.3), (0.0, 0.2), (0.5, 0.0), (2.0, 2.0)])
def test_means_agree_with_the_normal_distribution_of_all_answers(scale_spread, bias_spread):
    answers = _answers()
    d, z, c, who = answers
    noise = np.array([0.2, 0.5, 1.0, 0.1])
    posterior = posterior_of(AnswerSums.of(d, c, who, side=z), noise, scale_spread, bias_spread)
    mean, _ = _brute_force(answers, noise, scale_spread, bias_spread)
    np.testing.assert_allclose(posterior.scale, mean[:4], atol=1e-4)
    np.testing.assert_allclose(posterior.bias, mean[4:], atol=1e-4)


def test_the_evidence_differs_from_the_log_density_by_a_constant():
    answers = _answers()
    d, z, c, who = answers
    noise = np.array([0.2, 0.5, 1.0, 0.1])
    sums = AnswerSums.of(d, c, who, side=z)
    grid = [(0.0, 0.1), (0.3, 0.1), (1.0, 0.6), (0.2, 2.0)]
    evidence = np.array([posterior_of(sums, noise, *spreads).log_evidence for spreads in grid])
    density = np.array([_brute_force(answers, noise, *spreads)[1] for spreads in grid])
    np.testing.assert_allclose(evidence - evidence[0], density - density[0], atol=1e-4)


def test_variances_are_those_of_the_regression_with_a_known_mean():
    d, z, c, who = _answers()
    sums = AnswerSums.of(d, c, who, side=z)
    posterior = posterior_of(sums, np.full(4, 0.3), 0.5, 0.4)
    for a in range(4):
        design = np.stack([d[who == a], z[who == a]], axis=1)
        covariance = np.linalg.inv(design.T @ design / 0.3 + np.diag([0.5**-2, 0.4**-2]))
        assert posterior.scale_variance[a] == pytest.approx(covariance[0, 0])
        assert posterior.bias_variance[a] == pytest.approx(covariance[1, 1])
        assert posterior.covariance[a] == pytest.approx(covariance[0, 1])
