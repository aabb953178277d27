"""Cells that name an item of a pair by its id or by its side."""

import numpy as np
import pytest

from confdiff.tabular.side_words import named_sides
from confdiff.tabular.sides import shown_sides
from confdiff.tabular.tables import read_judged

NAMES = {"left": "left", "right": "right"}


def drawn_pairs(n_items, n=200):
    rng = np.random.default_rng(0)
    left = rng.integers(1, n_items + 1, n)
    right = (left + rng.integers(0, n_items - 1, n)) % n_items + 1
    return left, right, rng.choice([1, -1], n)


@pytest.mark.parametrize("kind", [int, str])
def test_ids_from_1_are_ids_if_more_cells_are_ids_of_their_pair(kind):
    left, right, sides = drawn_pairs(20)
    assert {1, 2} <= {*left.tolist(), *right.tolist()}
    cells = np.where(sides > 0, left, right).astype(kind)
    assert named_sides(cells, left, right, NAMES).tolist() == sides.tolist()


@pytest.mark.parametrize("kind", [int, float, str])
def test_1_and_2_are_sides_if_more_cells_are_sides(kind):
    left, right, sides = drawn_pairs(20)
    cells = np.where(sides > 0, 1, 2).astype(kind)
    assert named_sides(cells, left, right, NAMES).tolist() == sides.tolist()


def test_ids_that_differ_in_case_or_beyond_2_to_the_53_are_different():
    left = np.array(["a01", "A01", "a01"])
    right = np.array(["A01", "a01", "b"])
    assert named_sides(np.array(["A01", "A01", "B"]), left, right, NAMES).tolist() == [-1, 1, -1]  # B is a side
    large = np.array([2**53, 2**53])
    assert named_sides(large + np.arange(2), large, large + 1, NAMES).tolist() == [1, -1]


def test_an_id_of_another_pair_is_no_side():
    left = np.array([5, 6, 7, 1])
    right = np.array([6, 7, 8, 2])
    assert named_sides(np.array([5, 7, 2, 1]), left, right, NAMES).tolist() == [1, -1, 0, 1]


def test_contradictory_cells_name_nothing():
    left = np.array([1, 2])
    right = np.array([2, 1])
    assert named_sides(np.array([1, 1]), left, right, NAMES).tolist() == [0, 0]


def test_the_item_shown_first_may_be_a_side_in_any_case_an_id_or_missing():
    cells = ["Left", "B", "p", None]
    table = {"left": ["p", "p", "p", "q"], "right": ["q", "r", "r", "r"], "difference": [0.1] * 4, "shown_first": cells}
    assert shown_sides(read_judged(table)).tolist() == [1, -1, 1, 0]
    table["shown_first"] = ["Left", "B", "q", None]
    with pytest.raises(ValueError, match="row 2: 'q' is neither an item of the pair nor"):
        shown_sides(read_judged(table))
