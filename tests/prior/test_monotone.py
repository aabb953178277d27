"""The profile of the held-out error over the prior, from scores of any quality."""

import numpy as np
import pytest
from scipy.special import expit

from confdiff.prior.estimate import confidence_interval
from confdiff.prior.monotone import fit_monotone
from confdiff.prior.out_of_fold import OutOfFold


def held_out(low, high, *, n=800, noise=0.3, seed=0, error=0.5, repeats=1):
    """Return noisy scores of pairs with posteriors between two limits, and the mean of the posteriors."""
    rng = np.random.default_rng(seed)
    z = 3 * rng.normal(size=(2, n // repeats))
    r = low + (high - low) * expit(z - 1)
    rows = np.tile(np.arange(2 * (n // repeats)).reshape(2, -1), repeats)
    scores = (0.5 * z + error * rng.normal(size=z.shape) + 2).reshape(-1)[rows]  # wrong scale and offset
    c = np.clip(np.tile(r[1] - r[0], repeats) + noise * rng.normal(size=rows.shape[1]), -1, 1)
    return OutOfFold(scores=scores, c=c, weight=np.ones(len(c)), rows=rows), float(r.mean())


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (0.05, 0.5), (0.4, 0.95)])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_intervals_cover_the_prior_and_are_hardly_wider_than_what_is_open(low, high, noise):
    covered = 0
    widths = []
    for seed in range(10):
        data, prior = held_out(low, high, noise=noise, seed=seed, error=0.3)
        ends = confidence_interval(fit_monotone(data), data)
        covered += ends[0] <= prior <= ends[1]
        widths.append(ends[1] - ends[0])
    assert covered >= 9
    assert np.mean(widths) < 1 - (high - low) + 0.17


def test_scores_only_need_the_right_order():
    data, _ = held_out(0.0, 1.0)
    other = OutOfFold(scores=4 * data.scores**3 - 7, c=data.c, weight=data.weight, rows=data.rows)
    assert fit_monotone(other).interval() == pytest.approx(fit_monotone(data).interval(), abs=1e-3)


def test_worse_scores_and_fewer_pairs_make_the_interval_wider():
    widths = []
    for options in ({}, {"error": 4.0}, {"n": 100}):
        data, _ = held_out(0.1, 0.9, **options)
        low, high = fit_monotone(data).interval()
        widths.append(high - low)
    assert widths[1] > widths[0] + 0.05
    assert widths[2] > widths[0] + 0.05


def test_scores_without_information_leave_everything_open():
    rng = np.random.default_rng(0)
    data = OutOfFold(
        scores=rng.normal(size=(2, 50)),
        c=rng.choice([-1.0, 1.0], 50),
        weight=np.ones(50),
        rows=np.arange(100).reshape(2, 50),
    )
    low, high = fit_monotone(data).interval()
    assert low < 0.2
    assert high > 0.8
    equal = OutOfFold(scores=np.zeros((2, 5)), c=np.zeros(5), weight=np.ones(5), rows=np.arange(10).reshape(2, 5))
    assert fit_monotone(equal).interval() == (0.0, 1.0)


def test_repeated_pairs_do_not_make_the_interval_narrower():
    """The same 200 pairs four times, without noise: the error of the scores repeats, too."""
    once, _ = held_out(0.0, 1.0, n=200, noise=0.0)
    four_times, _ = held_out(0.0, 1.0, n=800, noise=0.0, repeats=4)
    widths = [np.diff(confidence_interval(fit_monotone(data), data))[0] for data in (once, four_times)]
    assert widths[1] > 0.8 * widths[0]


def test_the_profile_is_flat_inside_and_rises_outside():
    data, _ = held_out(0.2, 0.7)
    fit = fit_monotone(data)
    inside = [fit.excess(prior) for prior in np.linspace(fit.low, fit.high, 5)]
    assert inside == pytest.approx([inside[0]] * 5, rel=1e-3)
    assert fit.excess(fit.low / 2) > inside[0]
    assert fit.excess((1 + fit.high) / 2) > inside[0]


def test_weights_of_zero_are_like_missing_pairs():
    data, _ = held_out(0.0, 1.0)
    half = OutOfFold(scores=data.scores[:, ::2], c=data.c[::2], weight=data.weight[::2], rows=data.rows[:, ::2])
    tiny = np.where(np.arange(len(data)) % 2, 1e-9, 1.0)
    weighted = OutOfFold(scores=data.scores, c=data.c, weight=tiny, rows=data.rows)
    assert fit_monotone(weighted).interval() == pytest.approx(fit_monotone(half).interval(), abs=0.03)


def test_values_are_the_step_function():
    data, _ = held_out(0.0, 1.0, noise=0.0, error=0.0)
    fit = fit_monotone(data)
    values = fit.values(data.scores)
    assert np.corrcoef(values.reshape(-1), data.scores.reshape(-1))[0, 1] > 0.9
    assert np.average(values) == pytest.approx(0, abs=1e-9)
