from dataclasses import replace

import pytest

from confdiff.labelling.answering import AnswerRefused
from labelling.studies import new_answer


def test_an_answer_and_what_follows(study):
    study.invite("Ann", quota=2)
    first = study.next_assignment("Ann")
    turn = study.answer_and_next("Ann", new_answer(first))
    assert (turn.stored.is_new, turn.state, turn.progress.answered, turn.progress.quota) == (True, "open", 1, 2)
    assert turn.next == study.next_assignment("Ann") != first
    last = study.answer_and_next("Ann", new_answer(turn.next))
    assert (last.progress.answered, last.next) == (2, None)


def test_an_answer_that_is_sent_again(study):
    study.invite("Ann")
    answer = new_answer(study.next_assignment("Ann"))
    first = study.answer_and_next("Ann", answer)
    again = study.answer_and_next("Ann", answer)
    assert not again.stored.is_new
    assert (again.next, again.progress) == (first.next, first.progress)


def test_a_refused_answer_changes_nothing(study):
    study.invite("Ann")
    first = study.next_assignment("Ann")
    with pytest.raises(AnswerRefused):
        study.answer_and_next("Ann", replace(new_answer(first), grade=5.0, same=None))
    assert study.next_assignment("Ann") == first
    assert study.progress("Ann").answered == 0


def test_nothing_follows_in_a_paused_study(study):
    study.invite("Ann")
    first = study.next_assignment("Ann")
    study.pause()
    turn = study.answer_and_next("Ann", new_answer(first))
    assert (turn.stored.is_new, turn.state, turn.next) == (True, "paused", None)
