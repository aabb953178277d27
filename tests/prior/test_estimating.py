"""The steps of estimating the prior, one by one; the whole estimate is tested in tests/estimators."""

from contextlib import nullcontext

import numpy as np
import pytest
import torch

from confdiff.models import mlp
from confdiff.pairs import Pairs
from confdiff.prior import estimate_prior, identified_interval, is_narrow, open_interval, warn_of_open_prior
from confdiff.training import Recipe
from easy import easy_pairs

rng = np.random.default_rng(0)
R = 0.2 + 0.4 * rng.random((2, 400))  # posteriors of both items of 400 pairs, between .2 and .6


def test_the_interval_does_not_depend_on_a_constant():
    for constant in (-0.15, 0.0, 0.3):  # the same priors fit the differences with every constant
        low, high = identified_interval((R + constant).reshape(-1), tail=0)
        assert low == pytest.approx(R.mean() - R.min())
        assert high == pytest.approx(R.mean() + 1 - R.max())
    assert identified_interval([0.0, 1.0, 1.0], tail=0) == pytest.approx((2 / 3, 2 / 3))
    assert identified_interval([0.5, 0.1, 0.9], weight=[0, 1, 1], tail=0) == pytest.approx((0.4, 0.6))


def test_a_few_items_at_the_ends_do_not_decide():
    p = np.concatenate([R.reshape(-1), [0.0, 1.0]])
    low, high = identified_interval(p)
    assert high - low > 0.55


def test_confidence_intervals_contain_the_true_prior():
    """Exact differences, a model that can fit them, each item once: in 95 % of trials, here in at least 7 of 8."""
    hits = 0
    for seed in range(8):
        generator = np.random.default_rng(seed)
        items = generator.normal(size=(800, 1)).astype(np.float32)
        r = 1 / (1 + np.exp(-(6 * items[:, 0] - 3)))
        pairs = Pairs(items, np.arange(400), np.arange(400, 800), r[400:] - r[:400])
        recipe = Recipe(epochs=300, batch_size=400, learning_rate=0.1, schedule="one-cycle", seed=seed)
        estimate = estimate_prior(pairs, model="linear", recipe=recipe)
        hits += estimate.confidence_low <= r.mean() <= estimate.confidence_high
    assert hits >= 7


@pytest.mark.parametrize("scale", [1.0, [12, 15_000, 0.5]])
def test_the_default_recipe_of_a_linear_model_finds_the_prior(scale):
    """Exact differences and a prior far from 1/2: in 95 % of trials, here in at least 3 of 4."""
    hits = 0
    for seed in range(4):
        generator = np.random.default_rng(seed)
        items = generator.normal(size=(800, 3))
        r = 1 / (1 + np.exp(-(3 * items[:, 0] - 3)))
        pairs = Pairs(items * scale, np.arange(400), np.arange(400, 800), r[400:] - r[:400])
        estimate = estimate_prior(pairs, model="linear")
        hits += estimate.confidence_low <= r.mean() <= estimate.confidence_high
        assert estimate.is_identified
    assert hits >= 3


def test_a_constant_column_does_not_change_the_estimate():
    items = np.random.default_rng(0).normal(size=(400, 2))
    r = 1 / (1 + np.exp(-(3 * items[:, 0] - 1)))
    estimates = []
    for columns in (items, np.column_stack([items, np.full(400, 0.1 + 0.2)])):
        pairs = Pairs(columns, np.arange(200), np.arange(200, 400), r[200:] - r[:200])
        estimates.append(estimate_prior(pairs, model="linear", recipe=Recipe(epochs=300, learning_rate=0.1)).value)
    assert estimates[1] == pytest.approx(estimates[0], abs=0.02)


def test_label_differences_determine_the_prior_up_to_reflection_and_confidence_differences_do_not():
    """Enumerate all pairs of five equally likely items, and both labels of each."""
    r = np.array([0.2, 0.3, 0.5, 0.6, 0.7])
    prior = r.mean()
    for shift in (0.0, 0.2, -0.1):
        shifted = r + shift
        different = shifted[:, None] * (1 - shifted) + (1 - shifted[:, None]) * shifted  # p(y != y' | x, x')
        assert different.mean() == pytest.approx(2 * (prior + shift) * (1 - prior - shift))
        confidence = shifted[:, None] - shifted
        assert (confidence**2).mean() == pytest.approx(2 * r.var())
        assert 2 * r.var() < different.mean()


def test_priors_of_many_classes_are_determined_where_each_is_certainly_absent_somewhere():
    flat = np.random.default_rng(0).dirichlet([0.3, 0.3, 0.3], 500)
    inside = 0.2 + 0.4 * flat
    assert is_narrow(open_interval(flat[250:] - flat[:250], flat[250:] - flat[:250], flat))
    interval = open_interval(inside[250:] - inside[:250], inside[250:] - inside[:250], inside)
    assert not is_narrow(interval)
    for (low, high), prior in zip(interval, inside.mean(axis=0), strict=True):
        assert low < prior < high
    with pytest.warns(UserWarning, match=r"do not determine 0\.\d+ of the class priors"):
        warn_of_open_prior(interval)


def test_priors_that_cannot_be_estimated_are_errors():
    items = torch.zeros(8, 2)
    vectors = Pairs(items, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], np.zeros((6, 3)))
    with pytest.raises(ValueError, match="differences of two classes"):
        estimate_prior(vectors)
    plain = Pairs(items, [0, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 6], np.zeros(6))
    with pytest.raises(ValueError, match="labelled items must have 2 features; got 3"):
        estimate_prior(plain, labelled=(np.zeros((1, 3)), [1]))


def _small(n_features):
    return mlp(n_features, hidden=(32, 32))


def test_the_estimated_interval_contains_the_prior_and_reports_when_it_is_open():
    rng = np.random.default_rng(0)
    items = rng.normal(size=(900, 2)).astype(np.float32)
    rows = rng.integers(0, 900, (900, 2))
    for low, high, known in ((0.0, 1.0, True), (0.2, 0.6, False)):
        r = low + (high - low) / (1 + np.exp(-(4 * items[:, 0] - 1)))
        pairs = Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]])
        with nullcontext() if known else pytest.warns(UserWarning, match="do not determine the class prior"):
            estimate = estimate_prior(pairs, model=_small)
        assert estimate.is_identified == known
        assert estimate.confidence_low <= r.mean() <= estimate.confidence_high
        assert ("do not determine the class prior" in str(estimate)) != known
    with pytest.raises(ValueError, match="needs at least 6 pairs; got 4"):
        estimate_prior(easy_pairs()[:4])
