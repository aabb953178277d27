import pytest
import torch

from confdiff.methods import METHODS
from confdiff.risks import confdiff_terms, crcr_like_terms, glws_targets
from finite import Finite, some_distribution


def glws_gradient(d):
    """The gradient of the expected GLWS loss at the true scores, per unit of probability."""
    scores = torch.logit(d.r).requires_grad_()
    i, j, weight = d.pairs()
    METHODS["glws"].risk(scores[i], scores[j], d.r[j] - d.r[i], weight=weight).backward()
    return scores.grad / d.p


def test_glws_is_biased_for_posteriors_in_the_middle():
    d = some_distribution()
    middle = Finite(d.p, 0.3 + 0.4 * d.r, d.g)
    certain = Finite(d.p, (d.r > 0.5).double().clamp(1e-9, 1 - 1e-9), d.g)
    assert glws_gradient(middle).abs().max() > 0.01
    assert glws_gradient(certain).abs().max() < 1e-6


def test_glws_reads_a_difference_as_the_probability_of_ordered_labels():
    r, r_prime = torch.tensor([0.4]), torch.tensor([0.7])
    first, second = glws_targets(torch.logit(r), torch.logit(r_prime), r_prime - r)
    assert first.item() == pytest.approx(0.28 * 0.7 / (0.28 * 0.7 + 0.18 * 0.7 + 0.42 * 0.3), abs=1e-6)
    assert second.item() != pytest.approx(0.7, abs=0.01)


def test_the_ablation_is_confdiff_where_all_pairs_are_clear():
    g, g_prime, c = torch.tensor([0.3, -1.0]), torch.tensor([1.0, 0.2]), torch.tensor([0.9, -0.5])
    terms = crcr_like_terms(g, g_prime, c, prior=0.4)
    torch.testing.assert_close(terms[:4], confdiff_terms(g, g_prime, c, prior=0.4))
    assert terms[4] == 0


def test_the_ablation_is_biased():
    d = some_distribution()
    i, j, weight = d.pairs()
    terms = crcr_like_terms(d.g[i], d.g[j], d.r[j] - d.r[i], prior=d.prior, weight=weight, consistency=0.0)
    assert abs(terms.sum().item() - d.risk(torch.nn.functional.softplus).item()) > 0.05
