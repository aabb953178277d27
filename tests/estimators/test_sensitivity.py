"""Fits with several assumed priors."""

import numpy as np
import pytest

from confdiff import ConfDiffClassifier, Pairs, prior_sensitivity
from easy import easy_pairs


def test_sensitivity_to_the_assumed_prior():
    """A wrong prior costs little where posteriors reach both ends, and the unbiased risk much."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(600, 2)).astype(np.float32)
    r = 1 / (1 + np.exp(-8 * items[:, 0]))
    rows = rng.integers(0, 600, (600, 2))
    pairs = Pairs.from_rows(rows, items, r[rows[:, 1]] - r[rows[:, 0]])
    labelled = (items, r > 0.5)
    found = {}
    for method in ("confdiff-unbiased", "confdiff-regression"):
        model = ConfDiffClassifier(method, model="linear", batch_size=64)
        wrong, right = prior_sensitivity(model, pairs, (0.25, 0.5), labelled=labelled, cv=2)
        assert (wrong.prior, right.prior) == (0.25, 0.5)
        assert wrong.score < right.score
        assert wrong.mean < right.mean
        found[method] = right.accuracy - wrong.accuracy
    assert found["confdiff-regression"] < 0.03 < found["confdiff-unbiased"]
    assert prior_sensitivity(model, pairs, (0.5,), cv=2)[0].accuracy is None


def test_warnings_are_not_repeated_per_fold_and_prior():
    pairs = easy_pairs()
    grouped = Pairs(pairs.items, [0, 1, 2, 4, 5, 6], [1, 2, 0, 5, 6, 4], [0.1, -0.2, 0.1] * 2, group=[0, 0, 0, 1, 1, 1])
    model = ConfDiffClassifier("confdiff-unbiased", model="linear", epochs=1)
    with pytest.warns(UserWarning, match="connected components") as caught:
        prior_sensitivity(model, grouped, (0.3, 0.5), cv=3)
    assert [warning.filename for warning in caught] == [__file__]
