import pytest
import torch

from confdiff.risks import supervised_risk, supervised_terms


def test_is_binary_cross_entropy_over_both_items():
    g, g_prime, r, r_prime = torch.randn(4, 11)
    r, r_prime = torch.sigmoid(r), torch.sigmoid(r_prime)
    expected = torch.nn.functional.binary_cross_entropy_with_logits(torch.cat([g, g_prime]), torch.cat([r, r_prime]))
    assert supervised_risk(g, g_prime, r, r_prime).item() == pytest.approx(expected.item(), abs=1e-6)


def test_a_term_sees_only_its_own_items():
    zeros, r = torch.zeros(3), torch.tensor([0.2, 0.5, 1.0])
    before = supervised_terms(zeros, zeros, r, r)
    after = supervised_terms(zeros, zeros + 1, r, r)
    assert before[0] == after[0]
    assert before[1] != after[1]
