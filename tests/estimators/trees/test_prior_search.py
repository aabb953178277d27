"""The search for the prior of boosted trees: held-out scores with and without folds, and several starts."""

import warnings

import numpy as np
import pytest

from confdiff import ConfDiffBoosting, Pairs


def _noisy(seed=0, n=300):
    rng = np.random.default_rng(seed)
    items = rng.normal(size=(2 * n, 2))
    r = 1 / (1 + np.exp(-(6 * items[:, 0] - 4)))
    c = np.clip(r[n:] - r[:n] + rng.normal(0, 0.2, n), -1, 1)
    return Pairs(items, np.arange(n), np.arange(n, 2 * n), c), r


@pytest.mark.parametrize(
    "options",
    [{"n_folds": 3}, {"n_folds": 1}, {"early_stopping": False, "max_iter": 20}],
    ids=["folds", "split", "none"],
)
def test_the_interval_holds_the_prior_however_pairs_are_held_out(options):
    pairs, r = _noisy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a single split leaves more open
        low, high = ConfDiffBoosting(**options).fit(pairs).prior_interval_
    assert low < r.mean() < high
    assert high - low < 0.6


def test_validation_pairs_are_used_if_there_are_no_folds():
    pairs, r = _noisy()
    other, _ = _noisy(seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        low, high = ConfDiffBoosting(n_folds=1).fit(pairs, validation=other).prior_interval_
    assert low < r.mean() < high


def test_few_pairs_leave_every_prior_open():
    pairs, _ = _noisy()
    with pytest.warns(UserWarning, match=r"any value from 0\.00 to 1\.00 fits"):
        model = ConfDiffBoosting().fit(pairs[:5])
    assert model.prior_interval_ == (0.0, 1.0)
    assert not model.is_offset_determined_
