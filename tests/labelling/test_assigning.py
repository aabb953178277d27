import itertools
import threading
import time
from collections import Counter
from dataclasses import replace

import pytest

from confdiff.labelling import create_study, open_study
from confdiff.labelling.annotators import claimed_slots
from confdiff.labelling.design import PlannedQuestion
from labelling.studies import ITEMS, SETTINGS, answer_all, new_answer


def in_threads(functions):
    """Run functions at the same time, and return their results; an error in one of them fails the test."""
    barrier = threading.Barrier(len(functions))
    results = [None] * len(functions)

    def run(k):
        barrier.wait()
        try:
            results[k] = functions[k]()
        except BaseException as error:
            results[k] = error

    threads = [threading.Thread(target=run, args=(k,)) for k in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return results


def questions(*rows):
    return [PlannedQuestion(left=a, right=b, kind=kind, question="difference", slot=slot) for a, b, kind, slot in rows]


def test_a_reload_gets_the_same_assignment(study):
    study.invite("Ann")
    first = study.next_assignment("Ann")
    assert study.next_assignment("Ann") == first
    assert first.shown_left in (first.left, first.right)


def test_a_slot_is_asked_in_the_order_of_the_plan(study):
    study.invite("Ann", quota=5)
    asked = [(a.left, a.right, a.kind) for a in answer_all(study, "Ann")]
    assert asked == [(q.left, q.right, q.kind) for q in study.plan() if q.slot == 0][:5]


def test_all_questions_are_asked_once(study):
    for name in ("Ann", "Ben"):
        study.invite(name)
    asked = [*answer_all(study, "Ann"), *answer_all(study, "Ben")]
    assert Counter((a.left, a.right, a.kind) for a in asked) == Counter((q.left, q.right, q.kind) for q in study.plan())


def test_threads_get_no_question_twice_and_keep_the_quotas(study):
    names = ["Ann", "Ben", "Eva", "Gus"]
    for name in names:
        study.invite(name, quota=4)
    given = in_threads([lambda name=name: answer_all(study, name) for name in names for _ in range(2)])
    answers = study.answers()
    assert Counter(answers["annotator"].tolist()) == dict.fromkeys(names, 4)
    assert len(set(answers["client_id"].tolist())) == 16
    planned = Counter((frozenset((q.left, q.right)), q.kind) for q in study.plan())
    numbers = {name: k for k, name in enumerate(study.item_ids())}
    pairs = [frozenset((numbers[a], numbers[b])) for a, b in zip(answers["left"], answers["right"], strict=True)]
    asked = Counter(zip(pairs, answers["kind"].tolist(), strict=True))
    assert all(count <= planned[question] for question, count in asked.items())
    assert sum(map(len, given)) >= 16


def test_threads_of_many_annotators_answer_the_plan_exactly(study):
    names = [f"annotator {k}" for k in range(6)]
    for name in names:
        study.invite(name, quota=1000)
    in_threads([lambda name=name: answer_all(study, name) for name in names])
    answers = study.answers()
    numbers = {name: k for k, name in enumerate(study.item_ids())}
    asked = Counter(
        (frozenset((numbers[a], numbers[b])), kind)
        for a, b, kind in zip(answers["left"], answers["right"], answers["kind"], strict=True)
    )
    planned = Counter((frozenset((q.left, q.right)), q.kind) for q in study.plan())
    assert all(count <= planned[question] for question, count in asked.items())
    originals = {question: count for question, count in planned.items() if question[1] != "repeat"}
    assert all(asked[question] == count for question, count in originals.items())


def test_many_annotators_who_begin_at_once_get_a_slot_each(study_address):
    study = create_study(study_address, {"id": range(200), "x": range(200)}, replace(SETTINGS, judges=30))
    names = [f"annotator {k}" for k in range(30)]
    for name in names:
        study.invite(name)
    first = in_threads([lambda name=name: study.next_assignment(name) for name in names])
    assert all(assignment is not None for assignment in first)
    with study._database.reading() as connection:
        assert set(claimed_slots(connection)) == set(range(30))


def test_a_repeat_is_shown_with_the_sides_swapped(study):
    study.replan(questions((0, 1, "design", 0), (2, 3, "design", 0), (1, 0, "repeat", 0), (3, 2, "repeat", 0)))
    study.invite("Ann", quota=100)
    asked = answer_all(study, "Ann")
    assert [a.kind for a in asked] == ["design", "design", "repeat", "repeat"]
    for first, repeat in zip(asked[:2], asked[2:], strict=True):
        assert {first.shown_left, repeat.shown_left} == {first.left, first.right}


def test_sides_are_tossed(study):
    study.invite("Ann", quota=100)
    sides = {a.shown_left == a.left for a in answer_all(study, "Ann")}
    assert sides == {True, False}


def test_a_pair_is_not_asked_twice_in_a_row(study):
    rows = [(0, 1, "design", 0), (1, 0, "repeat", 0), (2, 3, "design", 0), (0, 1, "gold", 1)]
    study.replan(questions(*rows))
    assert [(q.left, q.right) for q in study.plan() if q.slot == 0] == [(0, 1), (2, 3), (1, 0)]
    study.invite("Ann", quota=100)
    asked = [frozenset((a.left, a.right)) for a in answer_all(study, "Ann")]
    assert all(first != second for first, second in itertools.pairwise(asked))


def test_a_repeat_with_nothing_between_is_left_out_of_the_plan(study):
    study.replan(questions((0, 1, "design", 0), (1, 0, "repeat", 0)))
    assert len(study.plan()) == 1


def test_the_plan_of_a_design_never_asks_a_pair_twice_in_a_row(study_address):
    settings = replace(SETTINGS, judges=1, pairs_per_item=20, repeats=0.3)
    plan = create_study(study_address, {"id": [1, 2, 3], "x": [1, 2, 3]}, settings).plan()
    pairs = [frozenset((q.left, q.right)) for q in plan]
    assert len(pairs) >= 3
    assert all(first != second for first, second in itertools.pairwise(pairs))


def test_questions_of_slots_that_nobody_claimed_follow_the_own_ones(study):
    own = sum(q.slot == 0 for q in study.plan())
    study.invite("Ann", quota=own + 3)
    assert len(answer_all(study, "Ann")) == own + 3


def test_no_questions_are_taken_from_an_annotator_who_works(study):
    own = sum(q.slot == 0 for q in study.plan())
    for name in ("Ann", "Ben"):
        study.invite(name, quota=100)
    study.next_assignment("Ann")
    study.next_assignment("Ben")
    assert len(answer_all(study, "Ann")) == own


def test_questions_of_an_annotator_who_left_are_asked_of_others(study_address):
    study = create_study(study_address, ITEMS, replace(SETTINGS, lease_seconds=1))
    study.replan(questions((0, 1, "design", 0), (2, 3, "design", 1), (4, 5, "design", 1)))
    for name in ("Ann", "Ben"):
        study.invite(name, quota=100)
    study.next_assignment("Ann")
    study.next_assignment("Ben")
    assert len(answer_all(study, "Ann")) == 1
    time.sleep(1.1)
    assert len(answer_all(study, "Ann")) == 2
    assert study.next_assignment("Ben") is None


def test_more_annotators_than_planned_get_questions(study):
    names = ["Ann", "Ben", "Eva"]
    for name in names:
        study.invite(name)
    for name in names:
        assert study.next_assignment(name) is not None
    extra = study.next_assignment("Eva")
    assert (extra.left, extra.right) not in {(q.left, q.right) for q in study.plan()[:2]}
    asked = [a for name in names for a in answer_all(study, name)]
    assert len(asked) == len(study.plan())


def test_a_quota_ends_the_questions_and_can_be_raised(study):
    study.invite("Ann", quota=2)
    assert len(answer_all(study, "Ann")) == 2
    study.set_quota("Ann", 3)
    assert len(answer_all(study, "Ann")) == 1
    study.set_quota("Ann", 0)
    assert study.next_assignment("Ann") is None


def test_the_quota_of_the_study_is_the_default(study_address):
    study = create_study(study_address, ITEMS, replace(SETTINGS, quota=3))
    study.invite("Ann")
    study.invite("Ben", quota=1)
    assert [len(answer_all(study, name)) for name in ("Ann", "Ben")] == [3, 1]


def test_pause_and_close(study):
    study.invite("Ann")
    assert study.state == "open"
    study.pause()
    assert (study.state, study.next_assignment("Ann")) == ("paused", None)
    study.resume()
    assert study.next_assignment("Ann") is not None
    study.close()
    assert (open_study(study.address).state, study.next_assignment("Ann")) == ("closed", None)


def test_a_revoked_annotator_gets_nothing_and_loses_the_slot(study):
    study.invite("Ann")
    study.invite("Ben")
    first = study.next_assignment("Ann")
    study.revoke("Ann")
    assert study.next_assignment("Ann") is None
    taken = study.next_assignment("Ben")
    assert (taken.left, taken.right) == (first.left, first.right)


def test_a_question_of_an_expired_lease_goes_to_one_annotator_only(study_address):
    study = create_study(study_address, ITEMS, replace(SETTINGS, judges=1, lease_seconds=1))
    names = ["Ann", *(f"annotator {k}" for k in range(5))]
    for name in names:
        study.invite(name, quota=100)
    study.replan(questions((0, 1, "design", 0)))
    first = study.next_assignment("Ann")
    time.sleep(1.1)
    taken = in_threads([lambda name=name: study.next_assignment(name) for name in names[1:]])
    assert sum(assignment is not None for assignment in taken) == 1
    assert study.next_assignment("Ann") is None
    assert first.id not in {assignment.id for assignment in taken if assignment}


def test_replanning_keeps_what_was_asked(study):
    study.invite("Ann")
    first = study.next_assignment("Ann")
    study.replan(questions((6, 7, "adaptive", 0)))
    assert [(q.left, q.right, q.kind) for q in study.plan()] == [
        (first.left, first.right, first.kind),
        (6, 7, "adaptive"),
    ]


@pytest.mark.parametrize("row", [(0, 0, "design", 0), (0, 99, "design", 0), (0, 1, "other", 0), (0, 1, "design", -1)])
def test_bad_plans_are_refused_and_change_nothing(study, row):
    before = study.plan()
    with pytest.raises(ValueError, match="questions must"):
        study.replan(questions((0, 1, "design", 0), row))
    assert study.plan() == before


def test_an_unknown_annotator_is_named(study):
    study.invite("Ann")
    with pytest.raises(ValueError, match="no annotator is named 'Bob'; the study has 'Ann'"):
        study.next_assignment("Bob")


def test_another_process_sees_the_same_study(study):
    study.invite("Ann")
    other = open_study(study.address)
    assignment = study.next_assignment("Ann")
    assert other.next_assignment("Ann") == assignment
    other.answer("Ann", new_answer(assignment))
    assert study.progress("Ann").answered == 1
