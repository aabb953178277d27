"""Every proposition on difference regression holds in simulations, and each simulation detects a wrong formula."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from confdiff.risks import regression_terms
from confdiff.theory import efficiency, efficiency_checks, measuring, regression_bounds, regression_checks
from confdiff.theory.complexity import finite_complexity
from confdiff.theory.measuring import Settings
from confdiff.theory.regression_checks import REGRESSION_CHECKS
from confdiff.theory.regression_risks import label_differences
from confdiff.theory.simulation import World, draw

WORLD = World.make(k=30, side=41)
SETTINGS = Settings(sizes=(50, 100, 200, 400, 800), repetitions=60)
SMALL = World.make(k=12, side=9)
BY_NAME = {check.__name__: check for check in REGRESSION_CHECKS}


@pytest.mark.parametrize("name", BY_NAME)
def test_every_proposition_holds(name):
    check = BY_NAME[name](WORLD, SETTINGS)
    assert check.holds is True, check.finding
    assert len(check.x) == len(check.measured)
    assert check.ratio is None or check.ratio > 1 - 1e-9


def samples(world, n, settings, noise=None):
    for number in range(settings.repetitions):
        sample = draw(world, n, np.random.default_rng([settings.seed, n, number]))
        yield noise(world, sample, np.random.default_rng([settings.seed, n, number, 1])) if noise else sample


def risks_of(world, sample, prior):
    """(m,) the risk of all functions, each by the library's own terms."""
    c = torch.from_numpy(sample.c)
    scores = torch.from_numpy(world.scores)
    return np.array([regression_terms(g[sample.left], g[sample.right], c, prior=prior).sum().item() for g in scores])


def expected_of(world):
    p = 1 / (1 + np.exp(-world.scores))
    pairs = np.outer(world.mass, world.mass)
    c = world.posteriors[None, :] - world.posteriors[:, None]
    squares = [(pairs * (row[None, :] - row[:, None] - c) ** 2).sum() for row in p]
    return np.array(squares) + (p @ world.mass - world.mass @ world.posteriors) ** 2


def in_class(world):
    best = world.scores[np.argmin(world.true_risks)]
    return replace(world, posteriors=1 / (1 + np.exp(-best)))


@pytest.mark.parametrize(
    ("name", "noise", "specified"),
    [
        ("regression_error", None, False),
        ("regression_error_of_labels", label_differences, False),
        ("rate_of_a_finite_class", label_differences, True),
    ],
)
def test_excess_risks_against_a_computation_sample_by_sample(name, noise, specified):
    settings = Settings(sizes=(3, 6, 30), repetitions=8)
    world = in_class(SMALL) if specified else SMALL
    excess = expected_of(world) - expected_of(world).min()
    expected = [
        np.quantile(
            [excess[risks_of(world, s, world.prior).argmin()] for s in samples(world, n, settings, noise)], 0.95
        )
        for n in settings.sizes
    ]
    assert BY_NAME[name](SMALL, settings).measured == pytest.approx(expected)


def test_the_deviation_against_a_computation_sample_by_sample():
    settings = Settings(sizes=(3, 6, 30), repetitions=8)
    truth = expected_of(SMALL)
    expected = [
        np.quantile([np.abs(risks_of(SMALL, s, SMALL.prior) - truth).max() for s in samples(SMALL, n, settings)], 0.95)
        for n in settings.sizes
    ]
    assert BY_NAME["regression_deviation"](SMALL, settings).measured == pytest.approx(expected)


@pytest.mark.parametrize(
    ("name", "amounts"),
    [
        ("error_of_shrunk_differences", (0.0, 0.1, 0.2, 0.3, 0.4)),
        ("regression_error_under_a_wrong_prior", (0.0, 0.05, 0.1, 0.2, 0.3)),
    ],
)
def test_errors_of_the_input_against_a_computation_sample_by_sample(name, amounts):
    n, settings = 20, Settings(sizes=(10, 20), repetitions=10)
    world = in_class(SMALL)
    p = 1 / (1 + np.exp(-world.scores))
    errors = np.sqrt(((p - world.posteriors) ** 2) @ world.mass)
    check = BY_NAME[name](SMALL, settings)
    shrinks = name == "error_of_shrunk_differences"
    for place, amount in enumerate(amounts):
        prior = world.prior + (0 if shrinks else amount)
        chosen = [
            risks_of(world, replace(s, c=(1 - amount) * s.c) if shrinks else s, prior).argmin()
            for s in samples(world, n, settings)
        ]
        assert check.measured[place] == pytest.approx(np.quantile(errors[chosen], 0.95))
        excess = regression_bounds.proposition_3_estimation_error(
            n, measuring.complexity(world, n, settings), delta=0.05, prior=prior
        )
        spread = np.sqrt(world.mass @ (world.posteriors - world.prior) ** 2)
        shift = {"noise_shift": amount * spread} if shrinks else {"prior_error": amount}
        assert check.bound[place] == pytest.approx(regression_bounds.proposition_4_posterior_error(excess, **shift))


def deviation_bound(n, r):
    return regression_bounds.proposition_3_uniform_deviation(n, r, delta=0.05, prior=SMALL.prior)


def estimation_bound(n, r):
    return regression_bounds.proposition_3_estimation_error(n, r, delta=0.05, prior=SMALL.prior)


def finite_bound(n, _):
    functions, prior = len(SMALL.scores), in_class(SMALL).prior
    return regression_bounds.proposition_7_finite_class(n, functions, delta=0.05, prior=prior)


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        ("complexity_of_squared_errors", lambda _, r: 2 * r),
        ("regression_deviation", deviation_bound),
        ("regression_error", estimation_bound),
        ("regression_error_of_labels", estimation_bound),
        ("rate_of_a_finite_class", finite_bound),
    ],
)
def test_each_check_uses_the_bound_of_its_name(name, bound):
    settings = Settings(sizes=(10, 20, 40), repetitions=3)
    expected = [bound(n, measuring.complexity(SMALL, n, settings)) for n in settings.sizes]
    assert BY_NAME[name](SMALL, settings).bound == pytest.approx(expected)


def test_the_complexity_of_squared_errors_is_that_of_the_library_s_terms():
    settings = Settings(sizes=(10,), repetitions=1)
    sample = next(samples(SMALL, 10, settings))
    c = torch.from_numpy(sample.c)
    rows = [
        [
            regression_terms(g[[i]], g[[j]], c[[k]])[0].item()
            for k, (i, j) in enumerate(zip(sample.left, sample.right, strict=True))
        ]
        for g in torch.from_numpy(SMALL.scores)
    ]
    expected = finite_complexity(rows, draws=200, seed=0)[0]
    assert BY_NAME["complexity_of_squared_errors"](SMALL, settings).measured == pytest.approx([expected])


def test_the_offset_is_that_of_clipped_shifts():
    check = BY_NAME["offset_of_certain_items"](SMALL, SETTINGS)
    errors = [min(r + 0.1, 1) - r for r in SMALL.posteriors]
    assert check.measured[2] == pytest.approx(sum(m * e for m, e in zip(SMALL.mass, errors, strict=True)))
    assert check.x[2] == pytest.approx(np.sqrt(np.cov(errors, aweights=SMALL.mass, ddof=0)))
    variance = check.x[2] ** 2
    bounds = [
        a + np.sqrt((1 - q) / q * variance)
        for a in np.linspace(0, 0.5, 5001)
        if (q := min(SMALL.mass[SMALL.posteriors <= a].sum(), SMALL.mass[SMALL.posteriors >= 1 - a].sum())) > 0
    ]
    assert check.bound[2] == pytest.approx(min(bounds), abs=2e-4)


def test_the_risk_of_the_best_weight_and_the_cost_are_as_predicted_by_the_formulas():
    world = efficiency.logistic_world(SMALL, (-1.0, 2.0, -0.5))
    check = BY_NAME["weight_of_the_prior"](SMALL, SETTINGS)
    noise = np.full((12, 12), 0.25)
    best = 0.5 / (world.mass @ (world.posteriors - world.prior) ** 2)
    covariance = efficiency.regression_covariance(world, noise, prior_weight=best)
    assert check.bound[4] == pytest.approx(efficiency.limiting_error(world, covariance))
    assert min(check.bound) == check.bound[4]
    assert check.x[4] == 1.0


MUTATIONS = {
    "a factor of 2": lambda terms: 2 * terms,
    "the sign of an offset": lambda terms: terms * np.array([1, -1])[:, None],
    "no prior": lambda terms: terms * np.array([1, 0])[:, None],
}


@pytest.mark.parametrize("mutation", MUTATIONS)
def test_a_wrong_risk_is_detected(mutation, monkeypatch):
    right = regression_checks.regression_risks
    monkeypatch.setattr(regression_checks, "regression_risks", lambda *a, **o: MUTATIONS[mutation](right(*a, **o)))
    assert not BY_NAME["excess_identity"](WORLD, SETTINGS).holds
    assert not BY_NAME["regression_bias"](WORLD, SETTINGS).holds
    assert not BY_NAME["regression_deviation"](WORLD, SETTINGS).holds


def test_noise_with_a_bias_is_detected(monkeypatch):
    def shrunk(world, sample, rng):
        labelled = label_differences(world, sample, rng)
        return replace(labelled, c=labelled.c * (rng.random(len(sample)) < 0.5))

    monkeypatch.setattr(regression_checks, "label_differences", shrunk)
    assert not BY_NAME["excess_identity"](WORLD, SETTINGS).holds
    assert not BY_NAME["regression_error_of_labels"](WORLD, SETTINGS).holds
    assert not BY_NAME["rate_of_a_finite_class"](WORLD, SETTINGS).holds


@pytest.mark.parametrize("method", ["fit_regression", "fit_unbiased"])
def test_a_less_precise_fit_is_detected(method, monkeypatch):
    right = getattr(efficiency, method)

    def of_half_the_pairs(world, sample, **options):
        half = slice(len(sample) // 2)
        return right(
            world, replace(sample, left=sample.left[half], right=sample.right[half], c=sample.c[half]), **options
        )

    monkeypatch.setattr(efficiency, method, of_half_the_pairs)
    assert not efficiency_checks.cost(WORLD, Settings(sizes=(800,), repetitions=200)).holds
