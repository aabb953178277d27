"""The prior from label differences: the moment, its error, and the two priors that fit."""

import numpy as np
import pytest

from confdiff.pairs import Pairs
from confdiff.prior.label_differences import LabelMoment, check_label_differences, label_moment, rarer_prior


def _label_pairs(prior, rows, rng, weight=None):
    """Return pairs of items with random labels; the item is its own only feature."""
    labels = (rng.random(rows.max() + 1) < prior).astype(float)
    items = np.arange(rows.max() + 1.0)[:, None]
    return Pairs.from_rows(rows, items, labels[rows[:, 1]] - labels[rows[:, 0]], weight=weight)


def test_the_moment_is_inverted():
    for prior in (0.05, 0.2, 0.5):
        assert rarer_prior(2 * prior * (1 - prior)) == pytest.approx(prior)


def test_two_intervals_mirror_each_other_and_merge_at_one_half():
    (low, high), (mirrored_low, mirrored_high) = LabelMoment(mean=0.32, error=0.01).alternatives
    assert low < 0.2 < high < 0.5
    assert (mirrored_low, mirrored_high) == pytest.approx((1 - high, 1 - low))
    ((low, high),) = LabelMoment(mean=0.49, error=0.02).alternatives
    assert low < 0.5 < high
    assert low == pytest.approx(1 - high)


@pytest.mark.parametrize("design", ["each item once", "few items", "one item in half of the pairs"])
def test_the_standard_error_is_right_also_if_items_repeat(design):
    rng = np.random.default_rng(0)
    rows = {
        "each item once": np.arange(400).reshape(200, 2),
        "few items": np.array([(a, b) for a in range(25) for b in range(a)][:200]),
        "one item in half of the pairs": np.column_stack(
            [np.where(np.arange(200) % 2, 0, np.arange(200) + 1), np.arange(201, 401)]
        ),
    }[design]
    moments = [label_moment(_label_pairs(0.15, rows, rng)) for _ in range(300)]
    spread = np.std([moment.mean for moment in moments])
    assert np.sqrt(np.mean([moment.error**2 for moment in moments])) == pytest.approx(spread, rel=0.15)


def test_repeated_pairs_count_once_and_weights_count():
    rng = np.random.default_rng(0)
    once = _label_pairs(0.3, np.arange(200).reshape(100, 2), rng)
    twice = once[np.repeat(np.arange(100), 2)]
    assert label_moment(twice) == label_moment(once)
    weight = np.where(np.arange(100) < 50, 1.0, 0.0)
    half = Pairs(once.items, once.left, once.right, once.difference, weight=weight)
    assert label_moment(half).mean == pytest.approx(float((once.difference[:50] ** 2).mean()))
    assert label_moment(half).error > label_moment(once).error


def test_other_values_and_several_classes_are_refused():
    items = np.zeros((4, 1))
    with pytest.raises(ValueError, match=r"needs differences of -1, 0 and 1; got 1 other values, such as 0.5"):
        check_label_differences(Pairs(items, [0, 1], [2, 3], [1.0, 0.5]))
    with pytest.raises(ValueError, match="is for two classes; got vectors"):
        check_label_differences(Pairs(items, [0, 1], [2, 3], np.zeros((2, 3))))
    check_label_differences(Pairs(items, [0, 1, 1], [2, 3, 2], [1.0, 0.0, -1.0]))
