import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from confdiff.losses import hinge, squared
from confdiff.risks import euclidean_projection, information_projection, projected_targets, regression_terms
from finite import some_distribution

probabilities = st.floats(0, 1)
differences = st.floats(-1, 1)


@pytest.mark.parametrize("project", [euclidean_projection, information_projection])
@given(p=probabilities, p_prime=probabilities, c=differences)
def test_projections_are_posteriors_that_differ_by_c(project, p, p_prime, c):
    t = project(*(torch.tensor([value], dtype=torch.float64) for value in (p, p_prime, c))).item()
    assert math.isfinite(t)
    assert -1e-12 <= t <= 1 + 1e-12
    assert -1e-12 <= t + c <= 1 + 1e-12


@pytest.mark.parametrize("project", [euclidean_projection, information_projection])
@given(p=st.floats(0.001, 0.999), p_prime=st.floats(0.001, 0.999))
def test_consistent_predictions_are_unchanged(project, p, p_prime):
    first, second = torch.tensor([p], dtype=torch.float64), torch.tensor([p_prime], dtype=torch.float64)
    assert project(first, second, second - first).item() == pytest.approx(p, abs=1e-9)


@pytest.mark.parametrize("project", [euclidean_projection, information_projection])
def test_projections_are_symmetric_in_items_and_classes(project):
    generator = torch.Generator().manual_seed(0)
    p, p_prime = torch.rand(2, 50, generator=generator, dtype=torch.float64)
    c = torch.rand(50, generator=generator, dtype=torch.float64) * 2 - 1
    t = project(p, p_prime, c)
    torch.testing.assert_close(project(p_prime, p, -c), t + c)
    torch.testing.assert_close(project(1 - p, 1 - p_prime, -c), 1 - t)


def test_information_projection_has_the_least_divergence():
    generator = torch.Generator().manual_seed(1)
    p, p_prime = torch.rand(2, 20, generator=generator, dtype=torch.float64) * 0.98 + 0.01
    c = torch.rand(20, generator=generator, dtype=torch.float64) * 1.8 - 0.9

    def of_both(t):
        return divergence(t, p) + divergence(t + c, p_prime)

    least = of_both(information_projection(p, p_prime, c))
    for fraction in torch.linspace(0, 1, 101, dtype=torch.float64):
        low, high = (-c).clamp(min=0), (1 - c).clamp(max=1)
        assert (least <= of_both(low + fraction * (high - low)) + 1e-12).all()


def test_shifted_targets_have_the_mean_of_the_prior_where_nothing_is_clipped():
    g, g_prime, c = torch.zeros(3), torch.zeros(3), torch.tensor([0.1, -0.2, 0.3])
    t, t_prime = projected_targets(g, g_prime, c, prior=0.4)
    assert torch.cat([t, t_prime]).mean().item() == pytest.approx(0.4)
    torch.testing.assert_close(t_prime - t, c)


@pytest.mark.parametrize("weight", [3.0, 0.5])
def test_only_the_ratio_of_weights_moves_targets(weight):
    g, c = torch.zeros(2), torch.tensor([0.1, -0.2])
    plain = projected_targets(g, g, c, prior=0.4)
    for made, expected in zip(
        projected_targets(g, g, c, prior=0.4, weight=torch.full((2,), weight)), plain, strict=True
    ):
        torch.testing.assert_close(made, expected)
    t, t_prime = projected_targets(g, g, c, prior=0.4, weight=torch.tensor([1.0, 0.0]))
    assert (t[0] + t_prime[0]).item() / 2 == pytest.approx(0.4)


def test_differences_beyond_what_is_possible_count_as_certain():
    t, t_prime = projected_targets(torch.zeros(2), torch.zeros(2), torch.tensor([1.7, -3.0]))
    assert t.tolist() == [0, 1]
    assert t_prime.tolist() == [1, 0]


def test_no_gradient_flows_through_targets():
    g = torch.zeros(2, requires_grad=True)
    assert not any(t.requires_grad for t in projected_targets(g, g, torch.tensor([0.1, 0.2]), prior=0.3))


def test_probabilities_are_those_of_the_loss():
    g, g_prime, c = torch.tensor([-0.5]), torch.tensor([0.5]), torch.tensor([0.5])
    assert regression_terms(g, g_prime, c, loss=squared)[0].item() == pytest.approx(0)  # (1 + g) / 2
    with pytest.raises(ValueError, match="the scores of the hinge loss do not determine probabilities"):
        regression_terms(g, g_prime, c, loss=hinge)
    with pytest.raises(ValueError, match="do not determine probabilities"):
        regression_terms(g, g_prime, c, loss=lambda z: z)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("labels_only", [False, True])
def test_the_excess_risk_of_regression_is_twice_the_variance_and_the_squared_mean_of_the_error(seed, labels_only):
    """The identity behind docs/beyond-the-paper.md, by enumeration: also with label differences instead of c."""
    d = some_distribution(seed)
    if labels_only:
        i, j, y, y_prime, weight = d.labelled_pairs()
        c = y_prime - y
    else:
        i, j, weight = d.pairs()
        c = d.r[j] - d.r[i]

    def risk(p):
        g = torch.logit(p)
        return regression_terms(g[i], g[j], c, prior=d.prior, weight=weight).sum().item()

    error = torch.sigmoid(d.g) - d.r
    mean = d.p @ error
    expected = 2 * (d.p @ error.square() - mean**2) + mean**2
    assert risk(torch.sigmoid(d.g)) - risk(d.r) == pytest.approx(expected.item(), abs=1e-12)
    assert expected >= d.p @ error.square()  # so that the squared error of the posterior is bounded by it


def test_alternating_information_projections_and_fits_never_go_up():
    """Fit: p is the mean target of each point. Project: t has the least divergence to p. Both lower one objective."""
    d = some_distribution()
    i, j, weight = d.pairs()
    c = d.r[j] - d.r[i]
    p = torch.sigmoid(d.g)
    values = []
    for _ in range(30):
        t = information_projection(p[i], p[j], c)
        sums = torch.zeros_like(p).index_add(0, i, weight * t).index_add(0, j, weight * (t + c))
        totals = torch.zeros_like(p).index_add(0, i, weight).index_add(0, j, weight)
        p = sums / totals
        values.append((weight * (divergence(t, p[i]) + divergence(t + c, p[j]))).sum().item())
    assert all(later <= earlier + 1e-12 for earlier, later in pairwise(values))
    assert values[-1] < 0.1 * values[0]


def divergence(t, p):
    return torch.xlogy(t, t / p) + torch.xlogy(1 - t, (1 - t) / (1 - p))
