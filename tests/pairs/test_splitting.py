"""The splits that callers get are part of results: their rows are pinned."""

import hashlib
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from confdiff import ItemKFold, Pairs
from confdiff.pairs.splitting import draw_item_parts, fold_units, hold_out_items, hold_out_pairs
from confdiff.tabular.comparisons import compare, split_pairs
from confdiff.tabular.tables import read_items, read_judged
from easy import easy_pairs
from streams import streamed


def hash_of(*parts):
    text = " | ".join(" ".join(map(str, np.asarray(part).tolist())) for part in parts)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def random_comparisons():
    rng = np.random.default_rng(0)
    left = rng.integers(0, 200, 1000)
    right = (left + rng.integers(1, 200, 1000)) % 200
    frame = pd.DataFrame({"left": left, "right": right, "difference": 0.1, "group": left % 10})
    return compare(read_items(pd.DataFrame({"x": np.zeros(200)})), read_judged(frame))


@pytest.mark.parametrize(("seed", "expected"), [(0, "efd0acc2a6bf"), (1, "db0d230e822b")])
def test_folds_of_items_are_pinned(seed, expected):
    folds = ItemKFold(3, seed=seed).split(easy_pairs(n_items=60, n_pairs=100))
    assert hash_of(*(rows for fold in folds for rows in fold)) == expected


@pytest.mark.parametrize(
    ("fraction", "seed", "expected"), [(0.1, 0, "5af80f7433da"), (0.2, 3, "e824d8ac72db"), (0.001, 0, "71fc478fc393")]
)
def test_held_out_pairs_of_classifiers_are_pinned(fraction, seed, expected):
    assert hash_of(*hold_out_items(easy_pairs(n_items=100, n_pairs=2000), fraction, seed)) == expected


def test_held_out_pairs_of_streams_are_pinned(tmp_path):
    training, held_out = hold_out_pairs(streamed(tmp_path, easy_pairs(n_items=100, n_pairs=2000)), 0.1, 0)
    assert hash_of([len(training)], held_out.left, held_out.right) == "76914109999f"


@pytest.mark.parametrize(
    ("unit", "fraction", "seed", "expected"),
    [
        ("item", 0.2, 0, "30d8a38e263b"),
        ("item", 0.3, 1, "f6a40a61c083"),
        ("group", 0.2, 0, "5a928b627c89"),
        ("group", 0.4, 1, "621b73d73b72"),
        ("pair", 0.2, 0, "02013815b1ed"),
        ("pair", 0.4, 1, "3815210ea97a"),
    ],
)
def test_splits_of_comparisons_are_pinned(unit, fraction, seed, expected):
    split = split_pairs(random_comparisons(), fraction, seed, by=unit)
    assert hash_of(*(getattr(split, field.name) for field in fields(split))) == expected


def test_held_out_items_of_streamed_comparisons_are_pinned():
    assert hash_of(draw_item_parts(1000, 0.2, 0), draw_item_parts(3, 0.9, 1)) == "19a47a71c0e0"


def test_folds_of_items_leak_no_item():
    pairs = easy_pairs(n_items=60, n_pairs=100)
    times_tested = np.zeros(100, dtype=int)
    held_out = []
    for training, test in ItemKFold(3, seed=1).split(pairs):
        trained = set(pairs.left[training].tolist()) | set(pairs.right[training].tolist())
        ends = zip(pairs.left[test].tolist(), pairs.right[test].tolist(), strict=True)
        assert all(not {first, second} <= trained for first, second in ends)
        assert sorted([*training, *test]) == list(range(100))
        times_tested[test] += 1
        held_out.append(test.tolist())
    assert times_tested.min() == 1
    assert times_tested.max() == 2  # a pair of two folds
    again = [test.tolist() for _, test in ItemKFold(3, seed=1).split(pairs)]
    assert again == held_out != [test.tolist() for _, test in ItemKFold(3, seed=2).split(pairs)]


def test_items_that_cannot_be_folded():
    pairs = Pairs([[0.0], [1.0]], [0], [1], [0.5])
    with pytest.raises(ValueError, match="2 items are too few for 2 folds"):
        list(ItemKFold(2).split(pairs))


def pairs_within_topics(n_topics, n_items=6, n_pairs=30, seed=0):
    """Return pairs within topics, in random order, and the topic of each."""
    rng = np.random.default_rng(seed)
    topic = rng.permutation(np.repeat(np.arange(n_topics), n_pairs))
    left = rng.integers(0, n_items, len(topic))
    right = (left + rng.integers(1, n_items, len(topic))) % n_items
    return Pairs(np.eye(n_topics * n_items), n_items * topic + left, n_items * topic + right), topic


def test_folds_consist_of_whole_components_where_these_are_small():
    pairs, topic = pairs_within_topics(n_topics=20)
    times_tested = np.zeros(len(pairs), dtype=int)
    for training, test in ItemKFold(4, seed=0).split(pairs):
        assert not set(topic[training]) & set(topic[test])
        assert len(training) + len(test) == len(pairs)
        times_tested[test] += 1
    assert (times_tested == 1).all()


@pytest.mark.parametrize(("n_topics", "n_folds", "are_components"), [(8, 4, True), (7, 4, False), (1, 2, False)])
def test_units_are_components_of_at_most_half_a_fold(n_topics, n_folds, are_components):
    pairs, _ = pairs_within_topics(n_topics)
    units = fold_units(pairs, n_folds)
    assert units.are_components == are_components
    assert len(units.units) == (n_topics if are_components else 6 * n_topics)
    held_out = units.units[:1]
    training, test = units.split(held_out)
    assert sorted([*training, *test]) == list(range(len(pairs)))
    assert np.isin([units.left[test], units.right[test]], held_out).any(axis=0).all()
