"""Tests that run over the whole table of methods, so that a new row is tested without a new test."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from confdiff.corrections import absolute, identity, relu
from confdiff.losses import LOSSES, logistic
from confdiff.methods import METHODS, REFERENCES, find_method
from finite import some_distribution

everywhere = pytest.mark.parametrize("name", METHODS)
every_loss = pytest.mark.parametrize("loss", [facts.function for facts in LOSSES.values()], ids=list(LOSSES))


def targets_of(method, i, j, distribution):
    """The exact supervision of pairs of points (labels are drawn, so oracle-hard has a test of its own)."""
    r = distribution.r
    if method.learns_from == "differences":
        return [r[j] - r[i]]
    return [r[i], r[j]]


def random_batch(name, n=7, seed=0):
    chance = torch.Generator().manual_seed(seed)

    def rand():
        return torch.rand(n, generator=chance, dtype=torch.float64)

    g, g_prime = rand() * 6 - 3, rand() * 6 - 3
    kind = METHODS[name].learns_from
    targets = [rand() * 2 - 1] if kind == "differences" else [rand(), rand()]
    if kind == "labels":
        targets = [t.round() for t in targets]
    return g, g_prime, targets


# What each method's risk is, written again from the formulas, one pair at a time.
def l_plus(z):
    return math.log(1 + math.exp(-z))


def l_minus(z):
    return math.log(1 + math.exp(z))


def confdiff_restated(f):
    def risk(g, g_prime, targets, prior):
        (c,) = targets
        n = len(g)
        a = sum((prior - c[i]) * l_plus(g[i]) for i in range(n)) / (2 * n)
        b = sum((1 - prior - c[i]) * l_minus(g_prime[i]) for i in range(n)) / (2 * n)
        cc = sum((prior + c[i]) * l_plus(g_prime[i]) for i in range(n)) / (2 * n)
        d = sum((1 - prior + c[i]) * l_minus(g[i]) for i in range(n)) / (2 * n)
        return f(a) + f(b) + f(cc) + f(d)

    return risk


def supervised_restated(g, g_prime, targets, prior):
    r, r_prime = targets
    n = len(g)
    first = sum(r[i] * l_plus(g[i]) + (1 - r[i]) * l_minus(g[i]) for i in range(n))
    second = sum(r_prime[i] * l_plus(g_prime[i]) + (1 - r_prime[i]) * l_minus(g_prime[i]) for i in range(n))
    return (first + second) / (2 * n)


RESTATED = {
    "confdiff-unbiased": confdiff_restated(lambda z: z),
    "confdiff-relu": confdiff_restated(lambda z: max(0.0, z)),
    "confdiff-abs": confdiff_restated(abs),
    "oracle-hard": supervised_restated,
    "oracle-soft": supervised_restated,
}


@everywhere
@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_scalar_restatement(name, seed):
    g, g_prime, targets = random_batch(name, seed=seed)
    value = METHODS[name].risk(g, g_prime, *targets, prior=0.3).item()
    restated = RESTATED[name](g.tolist(), g_prime.tolist(), [t.tolist() for t in targets], 0.3)
    assert value == pytest.approx(restated, abs=1e-12)


@everywhere
@every_loss
@pytest.mark.parametrize("seed", range(3))
def test_partial_risks_sum_to_the_true_risk_in_expectation(name, loss, seed):
    method, d = METHODS[name], some_distribution(seed)
    i, j, weight = d.pairs()
    terms = method.partial_risks(d.g[i], d.g[j], *targets_of(method, i, j, d), prior=d.prior, weight=weight, loss=loss)
    assert terms.sum().item() == pytest.approx(d.risk(loss).item(), abs=1e-12)


@every_loss
def test_oracle_hard_is_unbiased_over_labels(loss):
    d = some_distribution()
    i, j, y, y_prime, weight = d.labelled_pairs()
    terms = METHODS["oracle-hard"].partial_risks(d.g[i], d.g[j], y, y_prime, weight=weight, loss=loss)
    assert terms.sum().item() == pytest.approx(d.risk(loss).item(), abs=1e-12)


@everywhere
def test_every_partial_risk_is_not_negative_in_expectation(name):
    method, d = METHODS[name], some_distribution()
    i, j, weight = d.pairs()
    terms = method.partial_risks(d.g[i], d.g[j], *targets_of(method, i, j, d), prior=d.prior, weight=weight)
    assert (terms >= 0).all()


@everywhere
def test_swapping_the_items_of_all_pairs_changes_nothing(name):
    g, g_prime, targets = random_batch(name)
    method = METHODS[name]
    swapped = [-targets[0]] if method.learns_from == "differences" else targets[::-1]
    before = method.risk(g, g_prime, *targets, prior=0.3)
    assert method.risk(g_prime, g, *swapped, prior=0.3).item() == pytest.approx(before.item(), abs=1e-12)


@everywhere
def test_gradients(name):
    g, g_prime, targets = random_batch(name)
    weight = torch.rand(len(g), dtype=torch.float64)
    g.requires_grad_()
    g_prime.requires_grad_()
    method = METHODS[name]
    assert torch.autograd.gradcheck(lambda a, b: method.risk(a, b, *targets, prior=0.3, weight=weight), (g, g_prime))


@everywhere
def test_whole_weights_are_repetitions(name):
    g, g_prime, targets = random_batch(name)
    counts = torch.tensor([1, 0, 2, 3, 1, 0, 4])
    method = METHODS[name]
    weighted = method.risk(g, g_prime, *targets, prior=0.3, weight=counts / counts.double().mean())
    repeat = [t.repeat_interleave(counts) for t in (g, g_prime, *targets)]
    assert weighted.item() == pytest.approx(method.risk(*repeat, prior=0.3).item(), abs=1e-12)


@everywhere
@pytest.mark.parametrize("wrong", ["a column", "too short", "a single number"])
def test_nothing_broadcasts(name, wrong):
    g, g_prime, targets = random_batch(name)
    change = {"a column": lambda t: t[:, None], "too short": lambda t: t[1:], "a single number": lambda t: t[0]}[wrong]
    for place in range(2 + len(targets)):
        arguments = [g, g_prime, *targets]
        arguments[place] = change(arguments[place])
        with pytest.raises(ValueError, match="must be vectors of one length"):
            METHODS[name].risk(*arguments, prior=0.3)


@everywhere
def test_a_prior_for_each_pair(name):
    g, g_prime, targets = random_batch(name)
    method = METHODS[name]
    scalar = method.risk(g, g_prime, *targets, prior=0.3)
    vector = method.risk(g, g_prime, *targets, prior=torch.full_like(g, 0.3))
    assert vector.item() == pytest.approx(scalar.item(), abs=1e-12)
    if method.needs_prior:
        with pytest.raises(ValueError, match="needs the class prior"):
            method.risk(g, g_prime, *targets)
        with pytest.raises(ValueError, match="one length"):
            method.risk(g, g_prime, *targets, prior=torch.full((3,), 0.3))


@settings(max_examples=50)
@given(
    values=st.lists(st.tuples(*[st.floats(-30, 30)] * 2, st.floats(-1, 1)), min_size=1, max_size=20),
    prior=st.floats(0.01, 0.99),
)
def test_unbiased_below_relu_below_abs(values, prior):
    g, g_prime, c = torch.tensor(values, dtype=torch.float64).T
    risks = [METHODS[f"confdiff-{kind}"].risk(g, g_prime, c, prior=prior) for kind in ("unbiased", "relu", "abs")]
    assert all(torch.isfinite(risk) for risk in risks)
    assert risks[0] <= risks[1] + 1e-9
    assert risks[1] <= risks[2] + 1e-9


def test_rows_are_complete():
    for name, method in METHODS.items():
        assert method.name == name
        assert any(method.reference.startswith(f"{paper} (") for paper in REFERENCES)
        assert method.correction in (identity, relu, absolute)
        g, g_prime, targets = random_batch(name)
        assert method.partial_risks(g, g_prime, *targets, prior=0.5, loss=logistic).shape == (len(method.term_names),)


def test_only_corrected_differences_need_exchangeable_pairs():
    need = {name for name, method in METHODS.items() if method.needs_exchangeable_pairs}
    assert need == {"confdiff-relu", "confdiff-abs"}


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(ValueError, match="Did you mean 'confdiff-abs'"):
        find_method("ConfDiff-ABS")
