"""Ranking losses against their definitions, pair by pair."""

import math

import pytest
import torch

from confdiff.risks import bpr_terms, mrl_terms

G, G_PRIME = [0.4, -1.0, 2.0, 0.5], [1.5, 0.3, -0.2, 3.0]
C = [0.2, -0.7, -0.1, 0.0]  # the last is a tie


def preferred_by(g, g_prime, c):
    """How far the preferred item is ahead; None for a tie."""
    return None if c == 0 else g_prime - g if c > 0 else g - g_prime


@pytest.mark.parametrize(
    ("terms", "loss"),
    [(bpr_terms, lambda ahead: math.log(1 + math.exp(-ahead))), (mrl_terms, lambda ahead: max(0.0, 1 - ahead))],
)
def test_the_mean_loss_of_the_preferred_and_nothing_for_a_tie(terms, loss):
    ahead = [preferred_by(*pair) for pair in zip(G, G_PRIME, C, strict=True)]
    expected = sum(loss(a) for a in ahead if a is not None) / 4
    assert terms(*map(torch.tensor, (G, G_PRIME, C))).item() == pytest.approx(expected)


@pytest.mark.parametrize("terms", [bpr_terms, mrl_terms])
def test_only_the_sign_of_a_difference_counts(terms):
    g, g_prime, c = map(torch.tensor, (G, G_PRIME, C))
    assert terms(g, g_prime, c).equal(terms(g, g_prime, c.sign()))
    weight = torch.tensor([2.0, 0.0, 0.0, 1.0])
    assert terms(g, g_prime, c, weight=weight).item() == pytest.approx(terms(g[:1], g_prime[:1], c[:1]).item() / 2)
