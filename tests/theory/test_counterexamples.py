"""Check the counterexamples of docs/theory.md: what does not carry over to difference regression, or to its rivals."""

import math
from collections import Counter

import numpy as np
import pytest
import torch
from scipy.stats import norm

from confdiff.losses import logistic
from confdiff.risks import confdiff_terms, regression_terms
from confdiff.theory import efficiency
from confdiff.theory.regression_risks import noise_shift
from confdiff.theory.simulation import World
from finite import Finite


def finite(mass, r, p=None):
    p, r, values = (torch.tensor(v, dtype=torch.float64) for v in (mass, r, r if p is None else p))
    return Finite(p, r, torch.logit(values))


def excess_error(d):
    """The probability of a wrong class minus the least one."""
    wrong = (d.g >= 0) != (d.r >= 0.5)
    return (d.p @ (2 * d.r - 1).abs().where(wrong, torch.zeros_like(d.r))).item()


def test_two_priors_with_the_same_differences_and_opposite_classes():
    """Example 1."""
    mass, low, high = [0.5, 0.5], [0.2, 0.4], [0.6, 0.8]

    def law(r):
        return Counter({round(b - a, 12): 0.25 for a in r for b in r})

    assert law(low) == law(high)
    for r, p in ((low, high), (high, low)):
        d = finite(mass, r, p)
        i, j, weight = d.pairs()
        assert regression_terms(d.g[i], d.g[j], d.r[j] - d.r[i], weight=weight)[0].item() == pytest.approx(0)
        assert excess_error(d) == pytest.approx(0.4)


def test_the_best_of_a_class_by_squares_is_not_the_best_by_the_logistic_risk():
    """Example 2: the posterior is outside the class, and an error near 0 costs the logistic risk much more."""
    r = [0.01, 0.99]
    first, second = (finite([0.5, 0.5], r, p) for p in ([1e-6, 0.99], [0.06, 0.99]))

    def squares(d):
        i, j, weight = d.pairs()
        return regression_terms(d.g[i], d.g[j], d.r[j] - d.r[i], prior=d.prior, weight=weight).sum().item()

    assert squares(first) < squares(second) / 20
    assert (first.risk(logistic) - second.risk(logistic)).item() == pytest.approx(0.024, abs=5e-4)


def test_noise_of_mean_zero_over_all_pairs_is_not_enough():
    """Example 3: a factor of .8 has E c_bar = E c = 0, but the class of an item changes."""
    mass, r = np.array([0.7, 0.3]), np.array([0.05, 0.55])
    c = r[None, :] - r[:, None]
    pairs = np.outer(mass, mass)
    assert (pairs * 0.8 * c).sum() == pytest.approx(0)
    shifted = r + noise_shift(mass, -0.2 * c)
    assert shifted == pytest.approx([0.08, 0.48])
    assert excess_error(finite(mass, r, shifted)) == pytest.approx(0.03)


def clipped_mean(c, sigma):
    """The mean of a normal value with mean c that is clipped to [-1, 1]."""
    low, high = (-1 - c) / sigma, (1 - c) / sigma
    inside = c * (norm.cdf(high) - norm.cdf(low)) + sigma * (norm.pdf(low) - norm.pdf(high))
    return inside + norm.sf(high) - norm.cdf(low)


def test_clipped_noise_changes_a_class():
    """Example 4, with the mean of clipped noise by a sum over a fine grid as well."""
    z = np.linspace(-8, 8, 400_001)
    density = norm.pdf(z) * (z[1] - z[0])
    assert clipped_mean(0.53, 0.5) == pytest.approx((density * np.clip(0.53 + 0.5 * z, -1, 1)).sum(), abs=1e-7)
    assert clipped_mean(1.0, 0.3) == pytest.approx(1 - 0.3 / math.sqrt(2 * math.pi), abs=1e-6)
    mass, r = np.array([0.8, 0.2]), np.array([0.0, 0.53])
    c = r[None, :] - r[:, None]
    shifted = r + noise_shift(mass, clipped_mean(c, 0.5) - c)
    assert shifted == pytest.approx([0.0093, 0.4928], abs=5e-5)
    assert excess_error(finite(mass, r, shifted)) == pytest.approx(0.012)


def test_a_prior_that_is_too_large_leaves_the_unbiased_risk_without_a_minimum():
    """Example 5: half of the items are certainly positive, and the risk falls with their score without end."""
    d = finite([0.5, 0.5], [0.0, 1.0], [0.1, 0.9])
    i, j, weight = d.pairs()
    c = d.r[j] - d.r[i]
    risks = []
    for score in (5.0, 50.0, 500.0):
        g = torch.tensor([-5.0, score], dtype=torch.float64)
        risks.append(confdiff_terms(g[i], g[j], c, prior=0.6, weight=weight).sum().item())
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] == pytest.approx(-0.5 * 0.1 * 500, abs=1)


def test_with_label_differences_the_weight_1_can_be_worse_than_the_unbiased_risk():
    """Example 6: positives are rare. A larger weight of the prior restores the order."""
    points = np.array([[-0.4, 0.4], [-0.8, 1.0], [2.2, 0.6], [1.8, 0.6]])
    mass = np.array([0.7, 0.16, 0.02, 0.12])
    world = World(points, mass, np.full(4, 0.5), np.zeros((1, 4)))
    world = efficiency.logistic_world(world, (-6.0, 1.5, 1.5))
    noise = efficiency.label_noise(world)
    unbiased = efficiency.limiting_error(world, efficiency.unbiased_covariance(world, noise))
    by_weight = [
        efficiency.limiting_error(world, efficiency.regression_covariance(world, noise, prior_weight=w))
        for w in (0.0, 1.0, 50.0)
    ]
    assert unbiased == pytest.approx(0.0674, abs=5e-5)
    assert by_weight == pytest.approx([0.2284, 0.1019, 0.0659], abs=5e-5)
