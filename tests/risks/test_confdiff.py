import math

import pytest
import torch

from confdiff.corrections import absolute, identity
from confdiff.losses import LOSSES, logistic
from confdiff.risks import confdiff_risk, confdiff_terms
from finite import Finite, some_distribution


@pytest.mark.parametrize("seed", range(3))
def test_each_term_is_the_partial_risk_of_the_lemma(seed):
    """Lemma 3 of the appendix: A and C are the positive part of the risk, B and D the negative part, half each."""
    d = some_distribution(seed)
    i, j, weight = d.pairs()
    a, b, c, dd = confdiff_terms(d.g[i], d.g[j], d.r[j] - d.r[i], prior=d.prior, weight=weight).tolist()
    positive = (d.p @ (d.r * logistic(d.g))).item() / 2
    negative = (d.p @ ((1 - d.r) * logistic(-d.g))).item() / 2
    assert [a, c] == pytest.approx([positive] * 2, abs=1e-12)
    assert [b, dd] == pytest.approx([negative] * 2, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_every_alpha_is_unbiased(alpha):
    d = some_distribution()
    i, j, weight = d.pairs()
    terms = confdiff_terms(d.g[i], d.g[j], d.r[j] - d.r[i], prior=d.prior, weight=weight, alpha=alpha)
    assert terms.sum().item() == pytest.approx(d.risk(logistic).item(), abs=1e-12)


def test_alpha_weighs_the_two_directions_of_a_pair():
    """Lemma 1, restated: alpha L(x, x') + (1 - alpha) L(x', x), of which each has a term of either class."""
    prior, alpha, (a, b, c) = 0.3, 0.8, (0.7, -1.2, 0.25)

    def phi(z):
        return math.log1p(math.exp(-z))

    terms = confdiff_terms(*(torch.tensor([value]) for value in (a, b, c)), prior=prior, alpha=alpha)
    forth = [alpha * (prior - c) * phi(a), alpha * (1 - prior - c) * phi(-b)]
    back = [(1 - alpha) * (prior + c) * phi(b), (1 - alpha) * (1 - prior + c) * phi(-a)]
    assert terms.tolist() == pytest.approx([*forth, *back])


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("loss", ["logistic", "squared", "hinge"])
def test_the_variance_is_least_at_one_half(seed, loss):
    """Theorem 2, with the variance over a pair as an exact sum."""
    d, phi = some_distribution(seed), LOSSES[loss].function
    i, j, weight = d.pairs()

    def variance(alpha):
        def estimate(x, x_prime):
            c = d.r[x_prime] - d.r[x]
            return confdiff_terms(d.g[x], d.g[x_prime], c, prior=d.prior, loss=phi, alpha=alpha).sum()

        values = torch.stack([estimate(i[k : k + 1], j[k : k + 1]) for k in range(len(i))])
        probabilities = weight / weight.sum()
        return (probabilities @ values**2 - (probabilities @ values) ** 2).item()

    variances = {alpha: variance(alpha) for alpha in (0.0, 0.25, 0.45, 0.5, 0.55, 0.75, 1.0)}
    assert min(variances, key=variances.get) == 0.5
    assert variances[0.0] == pytest.approx(variances[1.0])


def test_the_logistic_risk_is_cross_entropy_with_targets_outside_the_unit_interval():
    g, g_prime, c = torch.randn(9), torch.randn(9), torch.rand(9) * 2 - 1
    cross_entropy = torch.nn.functional.binary_cross_entropy_with_logits
    expected = (cross_entropy(g, 0.4 - c) + cross_entropy(g_prime, 0.4 + c)) / 2
    assert confdiff_risk(g, g_prime, c, prior=0.4, correction=identity).item() == pytest.approx(
        expected.item(), abs=1e-6
    )


def test_a_corrected_risk_depends_on_the_order_inside_pairs():
    """Why orientations are shuffled: with the better item always second, A and B go negative in expectation."""
    p, r = torch.tensor([[0.4, 0.4, 0.2], [0.05, 0.1, 0.9]], dtype=torch.float64)
    d = Finite(p, r, torch.zeros_like(p))
    i, j, weight = d.pairs()
    c = d.r[j] - d.r[i]
    worse, better = torch.where(c > 0, i, j), torch.where(c > 0, j, i)
    mixed = confdiff_terms(d.g[i], d.g[j], c, prior=d.prior, weight=weight)
    ordered = confdiff_terms(d.g[worse], d.g[better], c.abs(), prior=d.prior, weight=weight)
    assert ordered.sum().item() == pytest.approx(mixed.sum().item(), abs=1e-12)
    assert (mixed > 0).all()
    assert ordered[0] < 0
    assert absolute(ordered).sum() > absolute(mixed).sum() + 0.01
