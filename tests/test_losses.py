import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from confdiff.losses import LOSSES

each = pytest.mark.parametrize("name", LOSSES)


@each
@pytest.mark.parametrize("C", [0.3, 1.0, 2.5, 7.0])
def test_bound_and_lipschitz_constant_are_tight(name, C):
    facts = LOSSES[name]
    z = torch.linspace(-C, C, 20_001, dtype=torch.float64)
    values = facts.function(z)
    steepest = (values.diff() / z.diff()).abs().max().item()
    assert values.max().item() == pytest.approx(facts.bound(C), rel=1e-9)
    assert steepest <= facts.lipschitz(C) * (1 + 1e-9)
    assert steepest == pytest.approx(facts.lipschitz(C), rel=2e-3)


@each
@given(z=st.floats(-30, 30))
def test_not_negative_and_falling(name, z):
    loss = LOSSES[name].function
    low, high = loss(torch.tensor([z, z + 0.5], dtype=torch.float64)).tolist()
    assert high >= 0
    if name != "squared" or z + 0.5 <= 1:
        assert high <= low


@each
@pytest.mark.parametrize("r", [0.1, 0.5, 0.85])
def test_probability_recovers_the_posterior_from_the_minimiser(name, r):
    """Where a loss is called proper, the score that minimises the pointwise risk determines the posterior."""
    facts = LOSSES[name]
    g = torch.linspace(-8, 8, 160_001, dtype=torch.float64)
    best = g[(r * facts.function(g) + (1 - r) * facts.function(-g)).argmin()]
    if facts.probability is None:
        assert name in {"sigmoid", "ramp", "hinge"}
    else:
        assert facts.probability(best).item() == pytest.approx(r, abs=1e-3)


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "exponential"])
def test_finite_far_out(name):
    z = torch.tensor([-1e4, 1e4])
    assert np.isfinite(LOSSES[name].function(z).numpy()).all()


@pytest.mark.parametrize("name", [name for name, facts in LOSSES.items() if facts.probability])
def test_probabilities_are_between_0_and_1_and_rise_with_the_score(name):
    p = LOSSES[name].probability(torch.linspace(-9, 9, 101))
    assert 0 <= p.min() < 0.01
    assert 0.99 < p.max() <= 1
    assert (p.diff() >= 0).all()
    assert p[50].item() == pytest.approx(0.5)
