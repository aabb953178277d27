"""Pair designs: connected, balanced, with the right numbers of every kind, and never the same pair in a row."""

import time
from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from confdiff.labelling.design import design_pairs
from confdiff.labelling.design.pair_keys import number_of_pairs
from confdiff.labelling.design.planning import plan_design
from confdiff.labelling.design.sides import first_shown
from confdiff.tabular.checks.graph import components_of

FRACTIONS = st.sampled_from([0.0, 0.05, 0.1, 0.17])
OPTIONS = st.fixed_dictionaries(
    {
        "pairs_per_item": st.floats(0.5, 30),
        "judges": st.integers(1, 7),
        "design": st.sampled_from(["balanced", "random", "uncertain"]),
        "repeats": FRACTIONS,
        "reserve": FRACTIONS,
        "triangles": FRACTIONS,
        "same_class": FRACTIONS,
        "shared": FRACTIONS,
        "seed": st.integers(0, 2**40),
    }
)
SIZES = st.one_of(st.integers(2, 6), st.integers(7, 60))


def ends(plan, *kinds):
    mask = np.isin(plan.kind, kinds)
    return np.stack([plan.left[mask], plan.right[mask]], axis=1)


def distinct(pairs):
    return {tuple(sorted(pair)) for pair in pairs.tolist()}


def by_slot(questions):
    slots = defaultdict(list)
    for question in questions:
        slots[question.slot].append(question)
    return slots


def pair_of(question):
    return frozenset((question.left, question.right))


@given(n_items=SIZES, options=OPTIONS)
@settings(max_examples=150, deadline=None)
def test_every_slot_asks_a_pair_once_and_repeats_it_later(n_items, options):
    gold = [(0, 1, 0.5)]
    questions = design_pairs(n_items, gold=gold, **options)
    for slot, asked in by_slot(questions).items():
        assert 0 <= slot < options["judges"]
        first = {}
        for position, question in enumerate(asked):
            assert question.left != question.right
            assert 0 <= min(pair_of(question)) <= max(pair_of(question)) < n_items
            assert question.question == ("same" if question.kind == "same-class" else "difference")
            if question.kind == "repeat":
                assert position > first[pair_of(question)][0] + 1
                original = first[pair_of(question)][1]
                assert (question.left, question.right) == (original.right, original.left)
            else:
                assert pair_of(question) not in first
                first[pair_of(question)] = (position, question)
        assert all(pair_of(a) != pair_of(b) for a, b in pairwise(asked))


@given(n_items=SIZES, options=OPTIONS)
@settings(max_examples=100, deadline=None)
def test_no_pair_has_two_kinds(n_items, options):
    plan = plan_design(n_items, **options)
    pairs = [distinct(ends(plan, kind)) for kind in ("design", "triangle", "random", "same-class")]
    assert sum(map(len, pairs)) == len(set().union(*pairs))


@given(n_items=st.integers(20, 80), options=OPTIONS)
@settings(max_examples=100, deadline=None)
def test_the_numbers_of_all_kinds_are_right(n_items, options):
    total = round(n_items * options["pairs_per_item"] / 2)
    plan = plan_design(n_items, **options)
    if total > 0.6 * number_of_pairs(n_items):
        return  # pairs are scarce: some kinds are asked less often
    counts = Counter(plan.kind.tolist())
    expected = {"random": "reserve", "triangle": "triangles", "same-class": "same_class"}
    for kind, name in expected.items():
        assert counts[kind] == round(options[name] * total)
    assert counts["repeat"] <= round(options["repeats"] * total)
    if total >= 20 * options["judges"]:
        assert len(plan) == total
        sizes = np.bincount(plan.slot, minlength=options["judges"])
        assert sizes.max() - sizes.min() <= 6


@given(n_items=SIZES, per_item=st.floats(0.5, 80), seed=st.integers(0, 2**40))
@settings(max_examples=200, deadline=None)
def test_the_design_alone_is_balanced_and_connected(n_items, per_item, seed):
    plan = plan_design(
        n_items, pairs_per_item=per_item, repeats=0, reserve=0, triangles=0, shared=0, judges=1, seed=seed
    )
    total = min(max(1, round(n_items * per_item / 2)), number_of_pairs(n_items))
    assert len(plan) == len(distinct(ends(plan, "design"))) == total
    degree = np.bincount(ends(plan, "design").ravel(), minlength=n_items)
    assert degree.max() - degree.min() <= 1
    tree = ends(plan, "design")[: n_items - 1]
    if total >= n_items - 1:
        assert (components_of(tree[:, 0], tree[:, 1], n_items) == 0).all()


@given(n_items=st.integers(30, 120), seed=st.integers(0, 2**40))
@settings(max_examples=50, deadline=None)
def test_the_default_is_connected_and_balanced_with_its_triangles(n_items, seed):
    plan = plan_design(n_items, shared=0, seed=seed)
    pairs = ends(plan, "design", "triangle")
    degree = np.bincount(pairs.ravel(), minlength=n_items)
    assert degree.max() - degree.min() <= 1
    assert (components_of(*ends(plan, "design").T, n_items) == 0).all()


def test_triangles_are_closed():
    plan = plan_design(100, seed=3)
    neighbours = defaultdict(set)
    for left, right in ends(plan, "design").tolist():
        neighbours[left].add(right)
        neighbours[right].add(left)
    closing = ends(plan, "triangle").tolist()
    assert len(closing) == 50
    assert all(neighbours[left] & neighbours[right] for left, right in closing)


def test_all_slots_overlap_in_items_and_share_pairs():
    plan = plan_design(100, judges=4, shared=0.1, seed=1)
    items = [set(ends(plan, "design")[plan.slot[plan.kind == "design"] == slot].ravel()) for slot in range(4)]
    assert min(len(a & b) for a in items for b in items) > 20
    pairs = Counter(tuple(sorted(pair)) for pair in ends(plan, "design").tolist())
    assert sorted(Counter(pairs.values()).items()) == [(1, 250), (2, 50)]


def test_gold_pairs_are_asked_of_everybody_and_only_as_gold():
    questions = design_pairs(30, judges=3, gold=[(4, 9, 0.5), (2, 1, -1.0)], seed=2)
    gold = [(question.slot, question.left, question.right) for question in questions if question.kind == "gold"]
    assert sorted(gold) == sorted((slot, *pair) for slot in range(3) for pair in ((4, 9), (2, 1)))


def test_most_pairs_are_within_groups_that_are_connected():
    groups = np.repeat(["a", "b", "c", "d"], 25)
    plan = plan_design(100, groups=groups, reserve=0, seed=5)
    pairs = ends(plan, "design")
    within = groups[pairs[:, 0]] == groups[pairs[:, 1]]
    assert 0.7 < within.mean() < 0.95
    assert (components_of(*pairs.T, 100) == 0).all()
    inside = components_of(*pairs[within].T, 100)
    assert all(len(set(inside[groups == group])) == 1 for group in "abcd")


def test_random_pairs_are_uniform():
    counts = Counter()
    for seed in range(300):
        plan = plan_design(12, pairs_per_item=4, judges=1, seed=seed)
        counts.update(distinct(ends(plan, "random")))
    frequency = np.array([counts[a, b] for a in range(12) for b in range(a + 1, 12)])
    expected = frequency.mean()
    chi2 = ((frequency - expected) ** 2 / expected).sum()
    assert chi2 < 66 + 4 * np.sqrt(2 * 66)


def test_the_order_of_items_in_a_pair_is_tossed():
    pairs = ends(plan_design(400, seed=1), "design", "random", "triangle")
    assert abs(np.mean(pairs[:, 0] < pairs[:, 1]) - 0.5) < 0.05


def test_a_seed_gives_the_same_plan():
    assert design_pairs(40, seed=7) == design_pairs(40, seed=7)
    assert design_pairs(40, seed=7) != design_pairs(40, seed=8)


@pytest.mark.parametrize("n_items", [2, 3, 4])
def test_more_questions_than_pairs_are_asked_of_several_annotators(n_items):
    plan = plan_design(n_items, pairs_per_item=1000, judges=3, repeats=0)
    assert distinct(ends(plan, "design", "triangle", "random")) == {
        (a, b) for a in range(n_items) for b in range(a + 1, n_items)
    }
    assert len(plan) == 3 * number_of_pairs(n_items)


def test_repeats_are_shown_the_other_way_round():
    plan = plan_design(60, judges=2, seed=4)
    shown = first_shown(plan, 60, seed=4)
    first = {}
    seen = 0
    for left, right, kind, slot, side in zip(plan.left, plan.right, plan.kind, plan.slot, shown, strict=True):
        key = (slot, min(left, right), max(left, right))
        assert side in (left, right)
        if kind == "repeat":
            assert side == left + right - first[key]
            seen += 1
        first[key] = side
    assert seen == 24
    assert 0.4 < np.mean(shown == plan.left) < 0.6


def test_a_hundred_thousand_items_take_seconds():
    start = time.process_time()
    plan = plan_design(100_000)
    assert time.process_time() - start < 10
    assert len(plan) == 500_000


@pytest.mark.parametrize(
    ("n_items", "options", "message"),
    [
        (1, {}, "at least 2 items, got 1"),
        (5, {"pairs_per_item": 0}, "pairs_per_item must be a positive number"),
        (5, {"pairs_per_item": float("nan")}, "pairs_per_item must be a positive number"),
        (5, {"judges": 0}, "judges must be at least 1"),
        (5, {"design": "best"}, "unknown design 'best'"),
        (5, {"reserve": 1.0}, "reserve must be a fraction"),
        (5, {"same_class": -0.1}, "same_class must be a fraction"),
        (5, {"reserve": 0.5, "triangles": 0.45}, "at least 10% of the questions must be left"),
        (5, {"gold": [(0, 5)]}, "item numbers from 0 to 4"),
        (5, {"gold": [(1, 1)]}, "two different items"),
        (5, {"gold": [(0, 1), (1, 0)]}, "occurs twice"),
        (5, {"groups": ["a"]}, "one value per item"),
    ],
)
def test_options_out_of_range_are_refused(n_items, options, message):
    with pytest.raises(ValueError, match=message):
        design_pairs(n_items, **options)
