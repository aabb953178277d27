import pytest
import torch

from confdiff.corrections import CORRECTIONS
from confdiff.risks import pcomp_risk, pcomp_terms


@pytest.mark.parametrize("correction", CORRECTIONS.values(), ids=list(CORRECTIONS))
def test_the_risk_is_the_sum_of_corrected_terms(correction):
    g, g_prime = torch.randn(2, 9, generator=torch.Generator().manual_seed(0))
    terms = pcomp_terms(g, g_prime, prior=0.3)
    assert torch.equal(pcomp_risk(g, g_prime, prior=0.3, correction=correction), correction(terms).sum())
