"""Compare the risks of difference regression with the library's own risk, and with brute-force minimisers."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

from confdiff.risks import regression_terms
from confdiff.theory.regression_risks import (
    expected_regression_risks,
    label_differences,
    noise_shift,
    pair_sums,
    regression_risks,
    squared_errors,
    well_specified,
    with_functions,
    wrong_prior_shift,
)
from confdiff.theory.simulation import World, draw

WORLD = World.make(k=12, side=9)


@pytest.mark.parametrize("prior", [None, 0.7])
def test_risks_are_those_of_the_library(prior):
    sample = draw(WORLD, 40, np.random.default_rng(0))
    risks = regression_risks(WORLD, sample, prior=prior)
    for function in (0, 7, 20):
        g = torch.from_numpy(WORLD.scores[function])
        c = torch.from_numpy(sample.c)
        expected = regression_terms(g[sample.left], g[sample.right], c, prior=WORLD.prior if prior is None else prior)
        assert risks[:, function] == pytest.approx(expected.numpy())


@pytest.mark.parametrize("prior", [None, 0.7])
def test_expected_risks_by_enumeration(prior):
    left, right = (rows.ravel() for rows in np.indices((12, 12)))
    weight = torch.from_numpy(WORLD.mass[left] * WORLD.mass[right] * 144)
    c = torch.from_numpy(WORLD.posteriors[right] - WORLD.posteriors[left])
    risks = expected_regression_risks(WORLD, prior=prior)
    for function in (0, 7, 20):
        g = torch.from_numpy(WORLD.scores[function])
        given = WORLD.prior if prior is None else prior
        terms = regression_terms(g[left], g[right], c, prior=given, weight=weight)
        assert risks[:, function] == pytest.approx(terms.numpy())


def test_sums_of_a_sample():
    sample = draw(WORLD, 30, np.random.default_rng(1))
    counts, occurrences, pull = pair_sums(WORLD, sample)
    assert counts.sum() == 30
    assert counts[sample.left[0], sample.right[0]] == sum(
        (i, j) == (sample.left[0], sample.right[0]) for i, j in zip(sample.left, sample.right, strict=True)
    )
    assert occurrences[3] == (sample.left == 3).sum() + (sample.right == 3).sum()
    assert pull[3] == pytest.approx(sample.c[sample.right == 3].sum() - sample.c[sample.left == 3].sum())


def test_label_differences_have_the_mean_and_the_variance_of_labels():
    single = World(np.zeros((2, 2)), np.array([0.5, 0.5]), np.array([0.2, 0.7]), np.zeros((1, 2)))
    sample = draw(single, 40_000, np.random.default_rng(2))
    labelled = label_differences(single, sample, np.random.default_rng(3))
    assert set(labelled.c) == {-1.0, 0.0, 1.0}
    rows = (sample.left == 0) & (sample.right == 1)
    assert labelled.c[rows].mean() == pytest.approx(0.5, abs=0.03)
    assert labelled.c[rows].var() == pytest.approx(0.2 * 0.8 + 0.7 * 0.3, abs=0.03)


def test_errors_and_selected_functions():
    right = well_specified(WORLD)
    best = WORLD.true_risks.argmin()
    assert squared_errors(right)[best] == pytest.approx(0, abs=1e-30)
    error = sum(m * (p - r) ** 2 for m, p, r in zip(WORLD.mass, WORLD.probabilities[3], WORLD.posteriors, strict=True))
    assert squared_errors(with_functions(WORLD, [3])) == pytest.approx([error])


def least_risk(mass, targets, prior):
    """The p in [0, 1] that minimises E(p' - p - t(x, x'))^2 + (E p - prior)^2, by brute force."""
    pairs = np.outer(mass, mass)

    def risk(p):
        return (pairs * (p[None, :] - p[:, None] - targets) ** 2).sum() + (mass @ p - prior) ** 2

    start = np.full(len(mass), prior)
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 5000}
    return minimize(risk, start, method="L-BFGS-B", bounds=[(0, 1)] * len(mass), options=options).x


@pytest.mark.parametrize("seed", range(4))
def test_the_shift_by_biased_differences_against_a_minimiser(seed):
    rng = np.random.default_rng(seed)
    mass, r = rng.dirichlet(np.ones(5)), rng.uniform(0.4, 0.6, 5)
    bias = rng.uniform(-0.2, 0.2, (5, 5))
    shift = noise_shift(mass, bias)
    assert mass @ shift == pytest.approx(0)
    best = least_risk(mass, r[None, :] - r[:, None] + bias, mass @ r)
    assert best == pytest.approx(r + shift, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("error", [-0.3, -0.05, 0.0, 0.1, 0.3])
def test_the_shift_by_a_wrong_prior_against_a_minimiser(seed, error):
    rng = np.random.default_rng(seed)
    mass, r = rng.dirichlet(np.ones(5)), rng.choice([0.0, 0.1, 0.5, 0.95, 1.0], 5)
    shift = wrong_prior_shift(mass, r, error)
    assert abs(error) / 2 - 1e-12 <= abs(shift) <= abs(error)
    best = least_risk(mass, r[None, :] - r[:, None], mass @ r + error)
    assert best == pytest.approx(np.clip(r + shift, 0, 1), abs=2e-4)
