from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from confdiff.labelling.design import PlannedQuestion
from confdiff.labelling.planning import check_questions, pair_number, planned_questions
from labelling.studies import ITEMS, SETTINGS

ENDS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 2)).filter(lambda row: row[0] != row[1])


def question(left, right, slot=0, kind="design"):
    return PlannedQuestion(left=left, right=right, kind=kind, question="difference", slot=slot)


def ends(asked):
    return frozenset((asked.left, asked.right))


@given(st.lists(ENDS, max_size=30))
def test_no_pair_is_planned_twice_in_a_row(rows):
    plan = [question(*row) for row in rows]
    checked = check_questions(plan, 4)
    for slot in range(3):
        own = [asked for asked in checked if asked.slot == slot]
        assert all(ends(first) != ends(second) for first, second in pairwise(own))
    left_out = Counter(plan) - Counter(checked)
    assert not Counter(checked) - Counter(plan)
    for slot in range(3):  # only questions about one pair at the end of a slot are left out
        assert len({ends(asked) for asked in left_out if asked.slot == slot}) <= 1


def test_a_plan_without_repetitions_keeps_its_order():
    plan = [question(0, 1), question(1, 2), question(0, 1), question(2, 3)]
    assert check_questions(plan, 4) == plan


def test_a_pair_has_one_number():
    numbers = {pair_number(a, b, 100_000) for a, b in [(0, 1), (1, 0), (99_999, 99_998), (99_998, 99_999), (1, 2)]}
    assert len(numbers) == 3


def test_gold_pairs_are_asked_of_everyone():
    settings = replace(SETTINGS, gold=(("cow", "fox", 1.0),), judges=3)
    plan = planned_questions(settings, ITEMS["id"])
    gold = [asked for asked in plan if asked.kind == "gold"]
    assert {asked.slot for asked in gold} == {0, 1, 2}
    assert {ends(asked) for asked in gold} == {frozenset((0, 7))}


def test_the_seed_decides_the_plan():
    plans = [planned_questions(replace(SETTINGS, seed=seed), ITEMS["id"]) for seed in (0, 0, 1)]
    assert plans[0] == plans[1] != plans[2]


@pytest.mark.parametrize("row", [(0, 4), (-1, 0), (2, 2)])
def test_questions_name_two_items(row):
    with pytest.raises(ValueError, match="questions must compare two of 4 items"):
        check_questions([question(*row)], 4)
