"""Compare the bounds with values computed by hand, which detects a wrong sign, factor or square."""

import math

import numpy as np
import pytest
import torch

from confdiff.corrections import absolute, relu
from confdiff.losses import LOSSES
from confdiff.risks import confdiff_terms
from confdiff.theory.bounds import (
    LARGEST_CHANGE,
    PAPER_CHANGE,
    LossConstants,
    estimation_error_of_the_corrected,
    lemma_4_complexity_of_the_risk,
    lemma_5_uniform_deviation,
    lemma_6_negative_terms,
    theorem_3_estimation_error,
    theorem_4_estimation_error_under_noise,
    theorem_5_bias,
    theorem_5_deviation,
    theorem_6_estimation_error_of_the_corrected,
)

# ln(2/delta) = 2 for this delta, so that sqrt(ln(2/delta) / 2n) = 1/sqrt(n).
DELTA = 2 * math.exp(-2)
LOSS = LossConstants(bound=3.0, lipschitz=0.5)
LEAST = (0.3, 0.6, 0.0, 3.0)  # with C = 3 and n = 50: exponents -1, -4, 0, -100
LATER = math.exp(-2) + math.exp(-8) + 1 + math.exp(-200)  # Delta with n = 100


def test_worked_by_hand():
    assert lemma_4_complexity_of_the_risk(0.2, lipschitz=0.5) == pytest.approx(0.2)
    assert lemma_5_uniform_deviation(100, 0.2, delta=DELTA, loss=LOSS) == pytest.approx(0.4 + 0.6)  # 4/2*.2 + 2*3/10
    assert theorem_3_estimation_error(100, 0.2, delta=DELTA, loss=LOSS) == pytest.approx(0.8 + 1.2)
    noisy = theorem_4_estimation_error_under_noise(100, 0.2, delta=DELTA, loss=LOSS, mean_error=0.1, prior_error=-0.05)
    assert noisy == pytest.approx(1.6 + 2.4 + 1.2 + 0.6)
    delta_of_the_paper = math.exp(-1) + math.exp(-4) + 1 + math.exp(-100)
    assert lemma_6_negative_terms(50, LEAST, bound=3.0) == pytest.approx(delta_of_the_paper)
    bias = theorem_5_bias(50, LEAST, bound=3.0, correction_lipschitz=2.0)
    assert bias == pytest.approx(2 * 3 * 3 * delta_of_the_paper)
    options = {"delta": DELTA, "bound": 3.0, "correction_lipschitz": 2.0}
    far = [90.0] * 4  # so that Delta is 0
    assert theorem_5_deviation(100, far, **options, change=PAPER_CHANGE) == pytest.approx(2 * 3 * 2 / 10)
    assert theorem_5_deviation(100, far, **options) == pytest.approx(4 * 3 * 2 / 10)
    assert theorem_5_deviation(100, LEAST, **options) == pytest.approx(4 * 3 * 2 / 10 + 2 * 3 * 3 * LATER)
    paper = theorem_6_estimation_error_of_the_corrected(
        100, 0.2, LEAST, delta=DELTA, loss=LOSS, correction_lipschitz=2.0, change=PAPER_CHANGE
    )
    assert paper == pytest.approx(8 * 0.5 * 0.2 + 4 * 3 * 3 / 10 + 4 * 3 * 3 * LATER)


def test_as_they_are_called_for_relu_and_abs():
    """Without arguments for the correction: L_f = 1, and the change that is valid for every loss."""
    assert theorem_5_bias(100, LEAST, bound=3.0) == pytest.approx(2 * 2 * 3 * LATER)
    assert theorem_5_deviation(100, LEAST, delta=DELTA, bound=3.0) == pytest.approx(4 * 3 / 10 + 12 * LATER)
    ours = theorem_6_estimation_error_of_the_corrected(100, 0.2, LEAST, delta=DELTA, loss=LOSS)
    assert ours == pytest.approx(8 * 0.5 * 0.2 + (2 * 4 + 4) * 3 / 10 + 4 * 2 * 3 * LATER)


def test_our_own_bound_worked_by_hand():
    delta = 8 * math.exp(-2)  # more than a probability, but a quarter of it is DELTA
    with pytest.raises(ValueError, match="delta must be a probability"):
        estimation_error_of_the_corrected(100, 0.2, delta=delta, loss=LOSS)
    delta = 8 * math.exp(-18)  # sqrt(18 / 200) = .3
    bound = estimation_error_of_the_corrected(100, 0.2, delta=delta, loss=LOSS, correction_lipschitz=2.0)
    assert bound == pytest.approx(2 * (12 * 0.5 * 0.2 + 8 * 3 * 0.3))
    assert estimation_error_of_the_corrected(100, 0.2, delta=delta, loss=LOSS) == pytest.approx(bound / 2)


def test_bounds_of_nonsense_are_refused():
    with pytest.raises(ValueError, match="least must have four values"):
        lemma_6_negative_terms(100, [0.5], bound=1.0)
    with pytest.raises(ValueError, match="least must be"):
        lemma_6_negative_terms(100, [-0.5] * 4, bound=1.0)
    with pytest.raises(ValueError, match="complexity must be"):
        lemma_5_uniform_deviation(100, -0.1, delta=0.1, loss=LOSS)
    with pytest.raises(ValueError, match="bound must be"):
        theorem_5_bias(100, LEAST, bound=0.0)


def test_constants_are_those_of_the_loss():
    for name, facts in LOSSES.items():
        constants = LossConstants.of(name, 1.7)
        z = torch.linspace(-1.7, 1.7, 10_001, dtype=torch.float64)
        values = facts.function(z)
        assert constants.bound == pytest.approx(values.max().item(), rel=1e-6)
        slopes = (values.diff() / z.diff()).abs().max().item()
        assert constants.lipschitz == pytest.approx(slopes, rel=1e-3)


@pytest.mark.parametrize("bad", [{"delta": 0.0}, {"delta": 1.0}, {"n": 0}])
def test_bad_arguments_are_named(bad):
    with pytest.raises(ValueError, match=r"(delta|n) must be"):
        lemma_5_uniform_deviation(bad.get("n", 10), 0.1, delta=bad.get("delta", 0.1), loss=LOSS)


def corrected(g, g_prime, c, prior, correction):
    return correction(confdiff_terms(g, g_prime, c, prior=prior)).sum().item()


@pytest.mark.parametrize("s", [1.0, 4.0, 30.0])
def test_a_corrected_risk_can_change_by_more_than_the_paper_s_proof_has(s):
    """Seven pairs of which one is replaced: A and B are negative, C and D positive, and all four grow in size.

    With a loss between 0 and C, the paper's proof has 2 C/n; here it is 3 C/n and more.
    """
    small, large = (math.log1p(math.exp(-z)) for z in (s, -s))
    g = torch.tensor([-s, s] * 3 + [-s]).double()
    g_prime = torch.tensor([s, -s] * 3 + [s]).double()
    c = torch.tensor([1.0] * 6 + [-1.0]).double()
    before = confdiff_terms(g, g_prime, c, prior=0.5)
    g[-1], g_prime[-1], c[-1] = s, -s, 1.0
    after = confdiff_terms(g, g_prime, c, prior=0.5)
    assert ((after.abs() - before.abs()) > 0).all()
    change = (after.abs().sum() - before.abs().sum()).item() * 7 / large
    assert change == pytest.approx(3 + small / large)
    assert PAPER_CHANGE < change < LARGEST_CHANGE


def test_four_parts_are_reached_where_a_loss_can_be_large_for_both_labels():
    flat = torch.ones_like
    g = torch.zeros(9).double()
    c = torch.tensor([1.0, -1.0] * 4 + [0.0]).double()
    # The other pairs must leave A and B below 0 and C and D above; their weights represent many pairs.
    weight = torch.tensor([4.0, 0.0] * 4 + [1.0]).double()
    risks = []
    for replaced in (-1.0, 1.0):
        c[-1] = replaced
        risks.append(confdiff_terms(g, g, c, prior=0.5, weight=weight, loss=flat).abs().sum().item() * 9)
    assert risks[1] - risks[0] == pytest.approx(LARGEST_CHANGE)


@pytest.mark.parametrize("correction", [relu, absolute])
def test_no_single_pair_changes_a_corrected_risk_by_more_than_four_parts(correction):
    rng = np.random.default_rng(0)
    worst = 0.0
    for _ in range(300):
        n, prior = int(rng.integers(1, 6)), float(rng.uniform(0.05, 0.95))
        g, g_prime = (torch.from_numpy(rng.choice([-5.0, 0.0, 5.0], n)) for _ in range(2))
        c = torch.from_numpy(rng.choice([-1.0, 0.0, 1.0], n))
        before = corrected(g, g_prime, c, prior, correction)
        g[0], g_prime[0], c[0] = (float(rng.choice(values)) for values in ([-5, 5], [-5, 5], [-1, 1]))
        worst = max(worst, abs(corrected(g, g_prime, c, prior, correction) - before) * n / math.log1p(math.exp(5)))
    assert worst <= LARGEST_CHANGE
    assert worst > 1
