"""Check the propositions of docs/theory.md by enumeration over small distributions, with the library's own risks."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
import torch

from confdiff.corrections import absolute, relu
from confdiff.losses import logistic
from confdiff.risks import confdiff_terms, regression_terms
from confdiff.theory.regression_bounds import proposition_5_bias, proposition_6_offset_error
from confdiff.theory.regression_risks import noise_shift
from finite import some_distribution

SEEDS = range(5)


def regression(d, p, c, *, prior, weight=None):
    """The two terms of the risk over all pairs with the differences c."""
    i, j, pairs = d.pairs()
    g = torch.logit(p)
    return regression_terms(g[i], g[j], c, prior=prior, weight=pairs if weight is None else weight)


def biased(d, seed):
    """Biased differences of all pairs, and the shift that they amount to."""
    generator = torch.Generator().manual_seed(seed)
    k = len(d.p)
    bias = 0.2 * torch.randn(k, k, generator=generator, dtype=torch.float64)
    shift = noise_shift(d.p.numpy(), bias.numpy())
    i, j, _ = d.pairs()
    return d.r[j] - d.r[i] + bias[i, j], torch.from_numpy(shift)


def variance(d, values):
    return (d.p @ values**2 - (d.p @ values) ** 2).item()


# Proposition 1


@pytest.mark.parametrize("seed", SEEDS)
def test_the_risk_is_a_norm_of_the_error_and_noise_shifts_the_posterior(seed):
    """With biased differences and a wrong prior, J(p) - J(q) is the same norm of p - r - h and of q - r - h."""
    d = some_distribution(seed)
    c, shift = biased(d, seed)
    prior = 0.6
    q = torch.rand(6, generator=torch.Generator().manual_seed(seed + 100), dtype=torch.float64)

    def norm(p):
        return 2 * variance(d, p - d.r - shift) + (d.p @ p - prior).item() ** 2

    risks = [regression(d, p, c, prior=prior).sum().item() for p in (torch.sigmoid(d.g), q)]
    assert risks[0] - risks[1] == pytest.approx(norm(torch.sigmoid(d.g)) - norm(q), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_twice_the_weight_the_excess_risk_is_twice_the_mean_squared_error(seed):
    d = some_distribution(seed)
    i, j, _ = d.pairs()
    c = d.r[j] - d.r[i]
    p = torch.sigmoid(d.g)
    excess = regression(d, p, c, prior=d.prior) - regression(d, d.r, c, prior=d.prior)
    assert (excess[0] + 2 * excess[1]).item() == pytest.approx(2 * (d.p @ (p - d.r) ** 2).item())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_errors_of_classes_and_of_the_logistic_risk_follow_from_the_squared_error(seed):
    d = some_distribution(seed)
    p = torch.sigmoid(d.g)
    squared_error = (d.p @ (p - d.r) ** 2).item()
    wrong = (p >= 0.5) != (d.r >= 0.5)
    excess_error = (d.p @ (2 * d.r - 1).abs().where(wrong, torch.zeros_like(p))).item()
    assert excess_error <= 2 * math.sqrt(squared_error)
    assert excess_error <= 2 * squared_error / (d.r - 0.5).abs().min().item()
    excess_risk = (d.risk(logistic) - replace(d, g=torch.logit(d.r)).risk(logistic)).item()
    assert 2 * squared_error <= excess_risk <= (2 + 2 * math.cosh(d.g.abs().max().item())) * squared_error


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_may_be_chosen_by_any_rule(seed):
    """The posterior stays a minimiser of the first term if pairs are not drawn at random. That of the risk does not."""
    d = some_distribution(seed)
    i, j, pairs = d.pairs()
    c = d.r[j] - d.r[i]
    chosen = pairs * (c.abs() > 0.2) * (1 + i)
    weight = chosen / chosen.mean()
    g = torch.logit(d.r).requires_grad_()
    regression_terms(g[i], g[j], c, weight=weight)[0].backward()
    assert g.grad.abs().max() < 1e-12
    other = torch.logit(d.r).requires_grad_()
    confdiff_terms(other[i], other[j], c, prior=d.prior, weight=weight).sum().backward()
    assert other.grad.abs().max() > 0.01


# Proposition 2


def test_the_order_of_a_pair_has_no_influence():
    """So the family of Lemma 1, which weights both orders, has one member here."""
    generator = torch.Generator().manual_seed(0)
    g, g_prime, c = torch.randn(3, 20, generator=generator, dtype=torch.float64)
    swapped = regression_terms(g_prime, g, -c, prior=0.3)
    torch.testing.assert_close(regression_terms(g, g_prime, c, prior=0.3), swapped)


# Proposition 4


@pytest.mark.parametrize("seed", SEEDS)
def test_noise_and_a_wrong_prior_shift_the_posterior_of_the_unbiased_risk_too(seed):
    d = some_distribution(seed)
    c, shift = biased(d, seed)
    i, j, pairs = d.pairs()
    risk = confdiff_terms(d.g[i], d.g[j], c, prior=d.prior + 0.1, weight=pairs).sum()
    assert risk.item() == pytest.approx(replace(d, r=d.r + shift + 0.1).risk(logistic).item())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_shift_is_at_most_half_the_bias_in_mean_square(seed):
    d = some_distribution(seed)
    c, shift = biased(d, seed)
    i, j, pairs = d.pairs()
    assert d.p @ shift**2 <= (pairs * (c - d.r[j] + d.r[i]) ** 2).mean() / 2


def test_a_bias_towards_a_side_has_no_effect():
    assert noise_shift(np.array([0.2, 0.3, 0.5]), np.full((3, 3), 0.15)) == pytest.approx(np.zeros(3))


@pytest.mark.parametrize("factor", [0.5, 1.3])
def test_a_factor_shrinks_posteriors_towards_the_prior(factor):
    d = some_distribution()
    c = d.r[None, :] - d.r[:, None]
    shift = noise_shift(d.p.numpy(), (factor - 1) * c.numpy())
    assert d.r.numpy() + shift == pytest.approx((d.prior + factor * (d.r - d.prior)).numpy())


# Proposition 5


@pytest.mark.parametrize("correction", [relu, absolute])
def test_corrections_change_nothing(correction):
    generator = torch.Generator().manual_seed(0)
    g, g_prime, c = torch.randn(3, 20, generator=generator, dtype=torch.float64)
    terms = regression_terms(g, g_prime, c, prior=0.3)
    assert (terms >= 0).all()
    assert torch.equal(correction(terms), terms)


def test_the_bias_over_all_samples_of_two_pairs():
    d = some_distribution(k=3)
    p = torch.sigmoid(d.g)
    mean = torch.zeros(2, dtype=torch.float64)
    for rows in product(range(3), repeat=4):
        i, j = torch.tensor(rows[:2]), torch.tensor(rows[2:])
        terms = regression_terms(d.g[i], d.g[j], d.r[j] - d.r[i], prior=0.4)
        mean += torch.prod(d.p[list(rows)]) * terms
    i, j, _ = d.pairs()
    bias = mean - regression(d, p, d.r[j] - d.r[i], prior=0.4)
    assert bias.tolist() == pytest.approx([0.0, proposition_5_bias(2, variance(d, p))], abs=1e-12)


# Proposition 6


@pytest.mark.parametrize("seed", SEEDS)
def test_certain_items_limit_the_offset(seed):
    """Random p in [0, 1]; half of the mass is near certainty on each side or the other."""
    rng = np.random.default_rng(seed)
    r = np.array([0.0, 0.05, 0.4, 0.95, 1.0])
    mass = rng.dirichlet(np.ones(5)) * 0.6 + 0.08
    q = min(mass[:2].sum(), mass[3:].sum())
    for scale in (0.05, 0.3, 1.0):
        for _ in range(200):
            error = np.clip(r + scale * rng.normal() + 0.2 * scale * rng.normal(size=5), 0, 1) - r
            offset = mass @ error
            assert abs(offset) <= proposition_6_offset_error(mass @ (error - offset) ** 2, margin=0.05, mass=q)


def test_the_bound_of_the_offset_is_attained():
    a, q, t = 0.1, 0.3, 0.4
    r = np.array([0.1, 0.5, 0.9])
    mass = np.array([0.3, 0.4, 0.3])
    error = np.array([t, t, a])
    assert ((r + error >= 0) & (r + error <= 1)).all()
    offset = mass @ error
    assert offset == pytest.approx(proposition_6_offset_error(mass @ (error - offset) ** 2, margin=a, mass=q))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_offset_from_labelled_items(seed):
    """mean(y - p) of one random labelled item: its mean is the offset, its variance E r (1 - r) + Var(p - r)."""
    d = some_distribution(seed)
    p = torch.sigmoid(d.g)
    mean = d.p @ (d.r * (1 - p) + (1 - d.r) * -p)
    square = d.p @ (d.r * (1 - p) ** 2 + (1 - d.r) * p**2)
    assert mean.item() == pytest.approx((d.p @ (d.r - p)).item())
    assert (square - mean**2).item() == pytest.approx((d.p @ (d.r * (1 - d.r))).item() + variance(d, p - d.r))
