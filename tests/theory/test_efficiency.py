"""Compare asymptotic variances with derivatives of the library's own risks, and fits with another minimiser."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from torch.autograd.functional import hessian, jacobian

from confdiff.risks import confdiff_terms, regression_terms
from confdiff.theory import efficiency
from confdiff.theory.regression_risks import label_differences
from confdiff.theory.simulation import World, draw

WORLD = efficiency.logistic_world(World.make(k=8, side=3), (-0.7, 1.5, -0.5))
WEIGHTS = torch.tensor([-0.7, 1.5, -0.5], dtype=torch.float64)
FEATURES = torch.from_numpy(efficiency.features(WORLD))
POSTERIORS = torch.from_numpy(WORLD.posteriors)
MASS = torch.from_numpy(WORLD.mass)


def noisy_pairs(kind):
    """All pairs of points with all values of the difference, and their probabilities."""
    rows = []
    for i in range(8):
        for j in range(8):
            c = (POSTERIORS[j] - POSTERIORS[i]).item()
            probability = MASS[i] * MASS[j]
            if kind == "labels":
                a, b = POSTERIORS[i], POSTERIORS[j]
                rows += [(i, j, 0.0, probability * (a * b + (1 - a) * (1 - b)))]
                rows += [(i, j, 1.0, probability * (1 - a) * b), (i, j, -1.0, probability * a * (1 - b))]
            else:
                size = {"exact": 0.0, "noisy": 0.4}[kind]
                rows += [(i, j, c - size, probability / 2), (i, j, c + size, probability / 2)]
    i, j, c, probability = zip(*rows, strict=True)
    return np.array(i), np.array(j), torch.tensor(c, dtype=torch.float64), torch.stack(probability)


NOISE = {
    "exact": np.zeros((8, 8)),
    "noisy": np.full((8, 8), 0.16),
    "labels": efficiency.label_noise(WORLD),
}


def sandwich(of_pair, curvature_of, probability):
    """The covariance from derivatives at the truth: of the influence of every pair, and of the expected risk."""
    scores = jacobian(of_pair, WEIGHTS)
    mean = probability @ scores
    assert mean.abs().max() < 1e-12  # the truth is stationary
    inverse = torch.linalg.inv(hessian(curvature_of, WEIGHTS))
    return (inverse @ (scores.T @ (probability[:, None] * scores)) @ inverse).numpy()


@pytest.mark.parametrize("kind", NOISE)
@pytest.mark.parametrize("w", [0.0, 1.0, 3.0])
def test_the_covariance_of_regression_from_derivatives(kind, w):
    i, j, c, probability = noisy_pairs(kind)
    prior = WORLD.prior

    def of_pair(weights):
        """The square, and the derivative of the squared offset through the mean: both terms of one pair."""
        p = torch.sigmoid(FEATURES @ weights)
        offsets = ((p[i] + p[j]) / 2).detach() - prior  # the expected offset at the truth is 0
        return (p[j] - p[i] - c) ** 2 + w * 2 * offsets * (MASS @ p)

    def of_all(weights):
        g = FEATURES @ weights
        terms = regression_terms(g[i], g[j], c, prior=prior, weight=probability * len(c))
        return terms[0] + w * terms[1]

    expected = sandwich(of_pair, of_all, probability)
    assert efficiency.regression_covariance(WORLD, NOISE[kind], prior_weight=w) == pytest.approx(expected, abs=1e-9)
    if w == 1.0:
        assert efficiency.regression_covariance(WORLD, NOISE[kind]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("kind", NOISE)
def test_the_covariance_of_the_unbiased_risk_from_derivatives(kind):
    i, j, c, probability = noisy_pairs(kind)

    def of_pair(weights):
        g = FEATURES @ weights
        return torch.stack(
            [confdiff_terms(g[[a]], g[[b]], d[None], prior=WORLD.prior).sum() for a, b, d in zip(i, j, c, strict=True)]
        )

    def of_all(weights):
        g = FEATURES @ weights
        return confdiff_terms(g[i], g[j], c, prior=WORLD.prior, weight=probability * len(c)).sum()

    expected = sandwich(of_pair, of_all, probability)
    assert efficiency.unbiased_covariance(WORLD, NOISE[kind]) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_the_limit_of_the_squared_error_by_the_delta_method():
    covariance = np.diag([0.5, 0.2, 0.3])
    slopes = jacobian(lambda weights: torch.sigmoid(FEATURES @ weights), WEIGHTS).numpy()
    expected = sum(m * row @ covariance @ row for m, row in zip(WORLD.mass, slopes, strict=True))
    assert efficiency.limiting_error(WORLD, covariance) == pytest.approx(expected)


def some_world(seed):
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(6, 2))
    world = World(points, rng.dirichlet(np.full(6, 3.0)), np.full(6, 0.5), np.zeros((1, 6)))
    return efficiency.logistic_world(world, tuple(rng.normal(size=3)))


def is_at_least(matrix, other):
    """Whether the difference of two covariances has no negative eigenvalue, up to rounding."""
    difference = matrix - other
    return np.linalg.eigvalsh((difference + difference.T) / 2).min() > -1e-9 * np.abs(other).max()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("variance", [0.01, 0.1, 1.0])
def test_the_best_weight_has_the_least_covariance_and_at_most_that_of_the_unbiased_risk(seed, variance):
    """Proposition 2, (b) and (c), as an order of matrices."""
    world = some_world(seed)
    noise = np.full((6, 6), variance)
    best = efficiency.best_prior_weight(world, variance)
    least = efficiency.regression_covariance(world, noise, prior_weight=best)
    for factor in (0.0, 0.3, 0.9, 1.1, 5.0):
        other = efficiency.regression_covariance(world, noise, prior_weight=factor * best)
        assert is_at_least(other, least)
    without = efficiency.regression_covariance(world, noise, prior_weight=0.0)
    unbiased = efficiency.unbiased_covariance(world, noise)
    assert is_at_least(unbiased, least)
    assert not is_at_least(least, without)
    assert not is_at_least(least, unbiased)


@pytest.mark.parametrize("seed", range(5))
def test_exact_differences_have_no_variance_without_a_prior_and_that_of_the_offset_with_one(seed):
    """Proposition 2 (a)."""
    world = some_world(seed)
    exact = np.zeros((6, 6))
    assert np.abs(efficiency.regression_covariance(world, exact, prior_weight=0.0)).max() < 1e-12
    with_prior = efficiency.regression_covariance(world, exact)
    assert np.linalg.matrix_rank(with_prior, tol=1e-6 * np.abs(with_prior).max()) == 1
    assert efficiency.limiting_error(world, efficiency.unbiased_covariance(world, exact)) > 0


@pytest.mark.parametrize("kind", ["exact", "labels"])
def test_fits_against_another_minimiser(kind):
    sample = draw(WORLD, 300, np.random.default_rng(5))
    if kind == "labels":
        sample = label_differences(WORLD, sample, np.random.default_rng(6))
    c = torch.from_numpy(sample.c)

    def regression(weights):
        g = FEATURES @ torch.from_numpy(weights)
        terms = regression_terms(g[sample.left], g[sample.right], c, prior=WORLD.prior)
        return (terms[0] + 3 * terms[1]).item()

    def unbiased(weights):
        g = FEATURES @ torch.from_numpy(weights)
        return confdiff_terms(g[sample.left], g[sample.right], c, prior=WORLD.prior).sum().item()

    fitted = efficiency.fit_regression(WORLD, sample, prior_weight=3.0), efficiency.fit_unbiased(WORLD, sample)
    for p, risk in zip(fitted, (regression, unbiased), strict=True):
        found = minimize(risk, WEIGHTS.numpy(), method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-14})
        assert p == pytest.approx(torch.sigmoid(FEATURES @ torch.from_numpy(found.x)).numpy(), abs=1e-5)
