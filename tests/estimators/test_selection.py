"""Tests of comparisons on held-out pairs."""

import math
from itertools import product

import numpy as np
import pytest

from confdiff.estimators.selection import (
    ComparedCandidate,
    Estimate,
    HeldOutPairs,
    Selection,
    variance_by_items,
    variance_by_units,
)
from confdiff.metrics import difference_r2, pairwise_accuracy

RNG = np.random.default_rng(0)
LEFT = RNG.integers(0, 12, 40)
RIGHT = RNG.integers(12, 25, 40)
C = RNG.uniform(-1, 1, 40)
PREDICTED = C + RNG.normal(0, 0.3, 40)
OTHER = C + RNG.normal(0, 0.4, 40)


def _held_out(weight=None):
    weight = np.ones(len(C)) if weight is None else weight
    return HeldOutPairs(differences=C, weight=weight, clustering=variance_by_items(LEFT, RIGHT))


def test_variance_by_items_sums_products_of_pairs_that_share_an_item():
    contributions = RNG.normal(size=len(LEFT))
    items = [{left, right} for left, right in zip(LEFT, RIGHT, strict=True)]
    products = [
        contributions[i] * contributions[j] for i, j in product(range(len(LEFT)), repeat=2) if items[i] & items[j]
    ]
    unique = {frozenset(both): 0.0 for both in items}
    for both, value in zip(items, contributions, strict=True):
        unique[frozenset(both)] += value
    least = sum(value**2 for value in unique.values())
    assert variance_by_items(LEFT, RIGHT)(contributions) == pytest.approx(max(sum(products), least))


def test_variance_by_items_of_pairs_without_common_items_is_the_sum_of_squares():
    contributions = RNG.normal(size=5)
    rows = np.arange(10)
    assert variance_by_items(rows[::2], rows[1::2])(contributions) == pytest.approx(contributions @ contributions)


def test_variance_by_units_squares_the_sums_of_units():
    variance = variance_by_units(np.array(["a", "b", "a"]))
    assert variance(np.array([1.0, 5.0, 2.0])) == pytest.approx(3**2 + 5**2)


def test_values_agree_with_the_metrics():
    weight = RNG.uniform(0.5, 2, len(C))
    held_out = _held_out(weight)
    assert held_out.r2(PREDICTED).value == pytest.approx(difference_r2(PREDICTED, C, weight))
    assert held_out.pairwise_accuracy(PREDICTED).value == pytest.approx(pairwise_accuracy(PREDICTED, C))


def test_gain_is_the_difference_of_both_r2():
    held_out = _held_out()
    expected = held_out.r2(PREDICTED).value - held_out.r2(OTHER).value
    assert held_out.r2_gain(PREDICTED, OTHER).value == pytest.approx(expected)
    assert held_out.r2_gain(PREDICTED, PREDICTED) == Estimate(value=0.0, error=0.0)


def test_error_of_the_gain_matches_repeated_draws():
    rng = np.random.default_rng(1)
    n = 300
    rows = np.arange(2 * n)
    gains = []
    errors = []
    for _ in range(200):
        c = rng.uniform(-1, 1, n)
        held_out = HeldOutPairs(differences=c, weight=np.ones(n), clustering=variance_by_items(rows[::2], rows[1::2]))
        gain = held_out.r2_gain(0.8 * c + rng.normal(0, 0.2, n), c + rng.normal(0, 0.3, n))
        gains.append(gain.value)
        errors.append(gain.error)
    assert np.mean(errors) == pytest.approx(np.std(gains), rel=0.15)


def test_error_of_accuracy_is_binomial_for_independent_pairs():
    n = 400
    rows = np.arange(2 * n)
    c = np.where(np.arange(n) % 4 == 0, -0.5, 0.5)
    held_out = HeldOutPairs(differences=c, weight=np.ones(n), clustering=variance_by_items(rows[::2], rows[1::2]))
    accuracy = held_out.pairwise_accuracy(np.ones(n))
    assert accuracy.value == pytest.approx(0.75)
    assert accuracy.error == pytest.approx(math.sqrt(0.75 * 0.25 / n))


def test_ties_and_classes_have_no_pairwise_accuracy():
    rows = np.arange(4)
    clustering = variance_by_items(rows[::2], rows[1::2])
    ties = HeldOutPairs(differences=np.zeros(2), weight=np.ones(2), clustering=clustering)
    vectors = HeldOutPairs(differences=np.array([[0.5, -0.5]] * 2), weight=np.ones(2), clustering=clustering)
    assert math.isnan(ties.pairwise_accuracy(np.ones(2)).value)
    assert math.isnan(ties.r2(np.ones(2)).value)
    assert math.isnan(vectors.pairwise_accuracy(np.zeros((2, 2))).value)
    assert vectors.r2(np.zeros((2, 2))).value == 0


def _selection():
    row = ComparedCandidate(
        candidate="linear",
        link="score",
        folds=5,
        seconds=0.25,
        chosen=True,
        r2=Estimate(value=0.5, error=0.02),
        gain=Estimate(value=0.0, error=0.0),
        pairwise_accuracy=None,
    )
    skipped = ComparedCandidate(
        candidate="mlp", link="score", folds=0, seconds=0.0, chosen=False, note="not tried: 9,000 features"
    )
    return Selection(rows=(row, skipped), held_out="items", folds=5, pairs=100)


def test_selection_through_json():
    selection = _selection()
    assert Selection.from_json(selection.to_json()) == selection
    assert selection.chosen is selection.rows[0]


def test_selection_needs_one_chosen_row():
    values = _selection().to_json()
    values["rows"][0]["chosen"] = False
    with pytest.raises(ValueError, match="one chosen row"):
        Selection.from_json(values)


def test_selection_as_text():
    header, chosen, skipped = _selection().to_text().splitlines()
    assert header.split() == ["candidate", "link", "R²", "gain", "pairwise", "accuracy", "seconds"]
    assert chosen.startswith("*  linear")
    assert "0.500 ± 0.020" in chosen
    assert skipped.endswith("not tried: 9,000 features")
