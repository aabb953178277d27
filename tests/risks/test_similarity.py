import pytest
import torch

from confdiff.losses import logistic
from confdiff.methods import METHODS
from confdiff.risks import (
    confdiff_terms,
    pcomp_terms,
    sconf_confdiff_terms,
    sconf_risk,
    sconf_terms,
    sd_pcomp_terms,
    sd_terms,
    similarity_regression_terms,
)
from confdiff.risks.variance import Losses, least_variance
from finite import Finite, some_distribution

NEEDS_A_SIDE = [name for name in METHODS if name.startswith(("sconf", "sd"))]


def test_answers_are_unbiased_for_similarities():
    d = some_distribution(1)
    i, j, y, y_prime, weight = d.labelled_pairs()
    answers = (y == y_prime).double()
    for terms in (sconf_terms, sd_terms):
        risk = terms(d.g[i], d.g[j], answers, prior=d.prior, weight=weight).sum()
        assert risk.item() == pytest.approx(d.risk(logistic).item(), abs=1e-12)


def test_similar_and_dissimilar_pairs_may_be_collected_in_any_proportion():
    d = some_distribution(2)
    i, j, y, y_prime, weight = d.labelled_pairs()
    answers = (y == y_prime).double()
    weight = torch.where(y == y_prime, 5.0, 1.0) * weight
    weight = weight / weight.mean()
    right = sd_terms(d.g[i], d.g[j], answers, prior=d.prior, weight=weight).sum()
    wrong = sconf_terms(d.g[i], d.g[j], answers, prior=d.prior, weight=weight).sum()
    assert right.item() == pytest.approx(d.risk(logistic).item(), abs=1e-12)
    assert abs(wrong.item() - d.risk(logistic).item()) > 0.05


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0, None])
def test_the_combination_is_unbiased_for_every_share_and_with_missing_answers(gamma):
    d = some_distribution(3)
    i, j, weight = d.pairs()
    c, s = d.r[j] - d.r[i], d.similarity(i, j)
    nothing = torch.full_like(c, torch.nan)
    both = torch.cat([i, i]), torch.cat([j, j])
    risk = sconf_confdiff_terms(
        d.g[both[0]],
        d.g[both[1]],
        torch.cat([c, nothing]),
        torch.cat([nothing, s]),
        prior=d.prior,
        weight=torch.cat([weight, weight]),
        gamma=gamma,
    ).sum()
    assert risk.item() == pytest.approx(d.risk(logistic).item(), abs=1e-12)


def test_the_ends_of_the_combinations():
    d = some_distribution(4)
    i, j, _ = d.pairs()
    c, s = d.r[j] - d.r[i], d.similarity(i, j)
    g, g_prime = d.g[i], d.g[j]
    torch.testing.assert_close(
        sconf_confdiff_terms(g, g_prime, c, s, prior=0.3, gamma=0.0), confdiff_terms(g, g_prime, c, prior=0.3)
    )
    sconf = sconf_confdiff_terms(g, g_prime, c, s, prior=0.3, gamma=1.0)
    torch.testing.assert_close(sconf.sum(), sconf_terms(g, g_prime, s, prior=0.3).sum())
    nothing = torch.full_like(s, torch.nan)
    torch.testing.assert_close(sd_pcomp_terms(g, g_prime, s, prior=0.3), sd_terms(g, g_prime, s, prior=0.3))
    torch.testing.assert_close(sd_pcomp_terms(g, g_prime, nothing, prior=0.3), pcomp_terms(g, g_prime, prior=0.3))


def test_the_estimated_share_has_the_least_variance_over_many_samples():
    generator = torch.Generator().manual_seed(0)
    d = some_distribution(5, k=40)
    prior = d.prior
    shares = torch.linspace(0, 1, 21).tolist()
    risks = {share: [] for share in shares}
    estimates = []
    for _ in range(400):
        i, j = torch.multinomial(d.p, 2 * 100, replacement=True, generator=generator).reshape(2, -1)
        c = d.r[j] - d.r[i]
        s = (torch.rand(100, generator=generator) < d.similarity(i, j)).double()
        for share in shares:
            risks[share].append(sconf_confdiff_terms(d.g[i], d.g[j], c, s, prior=prior, gamma=share).sum())
        estimates.append(sconf_confdiff_terms(d.g[i], d.g[j], c, s, prior=prior).sum())
    variances = {share: torch.stack(values).var().item() for share, values in risks.items()}
    assert torch.stack(estimates).var().item() < 1.15 * min(variances.values())


def test_a_few_answers_are_weighted_by_their_number():
    few = Losses(torch.zeros(1, 6), torch.tensor([1.0, 0, 0, 0, 0, 0]))
    many = Losses(torch.randn(1, 6), torch.tensor([0.0, 1, 1, 1, 1, 1]))
    assert least_variance(few, many) == pytest.approx(1 / 6)
    none = Losses(torch.zeros(1, 6), torch.zeros(6))
    assert least_variance(none, many) == 0
    assert least_variance(many, none) == 1
    assert least_variance(none, none) == 0.5


@pytest.mark.parametrize("name", NEEDS_A_SIDE)
def test_a_prior_of_one_half_is_refused(name):
    method = METHODS[name]
    targets = [torch.full((2,), 0.5)] * (2 if "differences" in method.learns_from else 1)
    with pytest.raises(ValueError, match="needs a class prior other than 1/2"):
        method.risk(torch.zeros(2), torch.zeros(2), *targets, prior=0.5)


def test_similarities_determine_the_constant_that_differences_leave_open():
    d = some_distribution()
    inside = Finite(d.p, 0.1 + 0.3 * d.r, d.g)
    i, j, weight = inside.pairs()
    c, s = inside.r[j] - inside.r[i], inside.similarity(i, j)
    risks = []
    for shift in (-0.05, 0.0, 0.05, 0.3):
        g = torch.logit(inside.r + shift)
        risks.append(similarity_regression_terms(g[i], g[j], c, s, weight=weight).sum().item())
    assert risks[1] < 1e-12
    assert min(risks[0], risks[2], risks[3]) > 1e-4


def test_answers_that_were_not_given_have_no_gradient():
    g = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    nan = torch.nan
    c, s = torch.tensor([0.5, nan, nan]).double(), torch.tensor([nan, 0.0, nan]).double()
    similarity_regression_terms(g, torch.ones(3).double(), c, s).sum().backward()
    assert (g.grad[:2] != 0).all()
    assert g.grad[2] == 0


def test_the_identity_of_similarity_and_difference():
    d = some_distribution()
    i, j, _ = d.pairs()
    c, s = d.r[j] - d.r[i], d.similarity(i, j)
    torch.testing.assert_close((d.r[i] + d.r[j] - 1) ** 2, c**2 + 2 * s - 1)


def test_a_corrected_risk_is_the_corrected_sum():
    g, s = torch.tensor([3.0, -2.0]), torch.tensor([0.0, 1.0])
    assert sconf_risk(g, g, s, prior=0.8) == sconf_terms(g, g, s, prior=0.8).abs().sum()
