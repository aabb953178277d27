import numpy as np
import pytest
import torch

from confdiff.calibration import adjust_prior, fit_temperature, fit_to_differences
from confdiff.randomness import generator
from confdiff.teacher import Grades
from finite import some_distribution


@pytest.mark.parametrize("temperature", [0.25, 1.0, 3.0])
def test_the_temperature_is_recovered(temperature):
    rng = generator(0, "test")
    scores = 2 * torch.randn(20_000, generator=rng)
    labels = (torch.rand(20_000, generator=rng) < torch.sigmoid(scores / temperature)).float()
    assert fit_temperature(scores, labels) == pytest.approx(temperature, rel=0.05)


def test_perfect_scores_get_a_bounded_temperature():
    assert 0.2 < fit_temperature(torch.tensor([3.0, -3.0]), torch.tensor([1.0, 0.0])) < 0.3


def test_posteriors_are_adjusted_to_another_prior_exactly():
    """On a finite distribution: reweight the classes, recompute the posteriors, compare."""
    finite = some_distribution()
    for prior in (0.05, 0.2, 0.5, 0.9):
        positive = finite.p * finite.r / finite.prior
        negative = finite.p * (1 - finite.r) / (1 - finite.prior)
        expected = prior * positive / (prior * positive + (1 - prior) * negative)
        assert torch.allclose(adjust_prior(finite.r, finite.prior, prior), expected, atol=1e-12)
        back = adjust_prior(adjust_prior(finite.r, finite.prior, prior), prior, finite.prior)
        assert torch.allclose(back, finite.r, atol=1e-12)
    with pytest.raises(ValueError, match="prior must be a probability"):
        adjust_prior(finite.r, 0.5, 1.0)


@pytest.mark.parametrize("old", [0.001, 0.2, 0.497, 0.5, 0.999])
@pytest.mark.parametrize("new", [0.001, 0.2, 0.3, 0.5, 0.8, 0.999])
def test_adjusted_posteriors_stay_probabilities_in_32_bits(old, new):
    r = torch.tensor([0.0, 1e-30, 1e-7, 0.5, 1 - 6e-8, 1.0])
    adjusted = adjust_prior(r, old, new)
    assert (adjusted >= 0).all()
    assert (adjusted <= 1).all()
    assert (adjusted.diff() >= 0).all()
    scores = torch.tensor([18.0, 30.0])  # of which the sigmoid in 32 bits is 1
    exact = 1 / (1 + torch.exp(-(scores.double() + np.log(new / (1 - new)) - np.log(old / (1 - old)))))
    assert Grades(scores, old, 1.0).at_prior(new).double() == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("temperature", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("offset", [0.0, -1.0])
def test_temperature_and_offset_are_recovered_from_differences(temperature, offset):
    rng = generator(0, "test")
    g, g_prime = 3 * torch.randn(2, 5000, generator=rng)
    r, r_prime = (torch.sigmoid((z + offset) / temperature) for z in (g, g_prime))
    prior = float(torch.cat([r, r_prime]).mean())
    fitted = fit_to_differences(g, g_prime, r_prime - r, prior=prior)
    assert fitted == pytest.approx((temperature, offset), abs=0.02)
    noisy = r_prime - r + 0.2 * torch.randn(5000, generator=rng)
    assert fit_to_differences(g, g_prime, noisy, prior=prior) == pytest.approx((temperature, offset), abs=0.2)


def test_without_a_prior_there_is_no_offset():
    g, g_prime = torch.randn(2, 100, generator=generator(0, "test"))
    c = torch.sigmoid((g_prime + 1) / 2) - torch.sigmoid((g + 1) / 2)
    assert fit_to_differences(g, g_prime, c)[1] == 0


def test_a_few_pairs_that_are_all_right_do_not_give_certainty():
    """Without a prior for T the least allowed T would fit best, as it does with many pairs."""
    g, g_prime = torch.tensor([-2.0, 2.0]), torch.tensor([2.0, -2.0])
    c = torch.tensor([1.0, -1.0])
    few, _ = fit_to_differences(g.repeat(5), g_prime.repeat(5), c.repeat(5))
    many, _ = fit_to_differences(g.repeat(5000), g_prime.repeat(5000), c.repeat(5000))
    assert 0.55 < few < 1
    assert many < 0.35


def test_a_free_offset_is_recovered_where_posteriors_come_near_0_and_1():
    g, g_prime = 6 * torch.randn(2, 5000, generator=generator(0, "test"))
    c = torch.sigmoid((g_prime - 2) / 2) - torch.sigmoid((g - 2) / 2)
    assert fit_to_differences(g, g_prime, c, free_offset=True) == pytest.approx((2, -2), abs=0.02)
