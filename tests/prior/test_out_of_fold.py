"""Scores of held-out pairs: which pairs count, which items are the same, and how errors of sums grow with them."""

import numpy as np
import pytest

from confdiff.pairs import Pairs
from confdiff.prior.out_of_fold import OutOfFold, item_numbers


def test_items_with_equal_features_are_the_same_item():
    pairs = Pairs([[2.0], [1.0], [2.0], [9.0]], left=[0, 2], right=[1, 0])
    assert item_numbers(pairs).tolist() == [[1, 1], [0, 1]]


def test_pairs_without_weight_are_left_out():
    pairs = Pairs(np.eye(4), left=[0, 2], right=[1, 3], difference=[0.5, -0.5], weight=[0.0, 2.0])
    data = OutOfFold.of_pairs(np.array([[1.0, 2.0], [3.0, 4.0]]), pairs)
    assert len(data) == 1
    assert data.scores.tolist() == [[2.0], [4.0]]
    assert data.c.tolist() == [-0.5]


def test_shared_items_have_a_design_effect():
    ones = np.ones(50)
    apart = OutOfFold(np.zeros((2, 50)), ones, ones, np.arange(100).reshape(2, 50))
    star = OutOfFold(np.zeros((2, 50)), ones, ones, np.stack([np.zeros(50, dtype=int), np.arange(1, 51)]))
    assert apart.design_effect(ones) == pytest.approx(1)
    assert star.design_effect(ones) == pytest.approx((50**2 + 50) / 100)
    assert apart.design_effect(np.zeros(50)) == 1


def test_the_error_of_a_mean_over_items():
    values = np.random.default_rng(0).normal(size=(2, 50))
    apart = OutOfFold(values, values[0], np.ones(50), np.arange(100).reshape(2, 50))
    assert apart.item_error(values) == pytest.approx(values.std() / 10)
