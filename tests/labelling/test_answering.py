import time
import uuid
from dataclasses import replace

import numpy as np
import pytest
from sqlalchemy import create_engine, func, select

from confdiff.labelling import create_study
from confdiff.labelling.answering import CANNOT_SAY, Answer, AnswerRefused
from confdiff.labelling.design import PlannedQuestion
from confdiff.labelling.schema import answers
from labelling.studies import ITEMS, SETTINGS, answer_all, new_answer


@pytest.fixture
def ann(study):
    study.invite("Ann", quota=100)
    return study


def rows_of(study):
    with study._database.reading() as connection:
        return connection.execute(select(answers).order_by(answers.c.id)).all()


def test_a_grade_becomes_right_minus_left_as_stored(ann):
    signs = set()
    for _ in range(8):
        assignment = ann.next_assignment("Ann")
        ann.answer("Ann", new_answer(assignment, grade=2 / 3, seconds=1.5, note="a note"))
        columns = ann.answers()
        sign = 1 if assignment.shown_left == assignment.left else -1
        ids = ann.item_ids()
        assert columns["difference"][-1] == sign * 2 / 3
        assert columns["shown_first"][-1] == ids[assignment.shown_left]
        assert (columns["left"][-1], columns["right"][-1]) == (ids[assignment.left], ids[assignment.right])
        assert (columns["seconds"][-1], columns["note"][-1]) == (1.5, "a note")
        signs.add(sign)
    assert signs == {1, -1}


def test_the_time_of_an_answer(ann):
    before = time.time()
    ann.answer("Ann", new_answer(ann.next_assignment("Ann")))
    stored = ann.answers()["time"][0]
    assert stored.dtype == np.dtype("datetime64[us]")
    assert before - 0.001 <= stored.astype(np.int64) / 1e6 <= time.time() + 0.001
    assert ann.annotators()[0].last_at == pytest.approx(before, abs=5)


def test_an_answer_that_is_sent_twice_is_stored_once(ann):
    answer = new_answer(ann.next_assignment("Ann"))
    assert [ann.answer("Ann", answer).is_new for _ in range(3)] == [True, False, False]
    assert len(ann.answers()["left"]) == 1


def test_a_second_answer_to_an_assignment_is_not_stored(ann):
    assignment = ann.next_assignment("Ann")
    assert ann.answer("Ann", new_answer(assignment, grade=1.0)).is_new
    assert not ann.answer("Ann", new_answer(assignment, grade=1.0)).is_new
    with pytest.raises(AnswerRefused, match="answered already, perhaps in another window"):
        ann.answer("Ann", new_answer(assignment, grade=-1.0))
    with pytest.raises(AnswerRefused, match="answered already"):
        ann.answer("Ann", new_answer(assignment, grade=None, reason=CANNOT_SAY))
    assert abs(ann.answers()["difference"][0]) == 1.0
    assert len(ann.answers(superseded=True)["left"]) == 1


def test_an_undo_supersedes_and_is_answered_again(ann):
    first = ann.next_assignment("Ann")
    ann.answer("Ann", new_answer(first, grade=1.0))
    later = ann.next_assignment("Ann")
    assert ann.undo("Ann") == first
    assert ann.progress("Ann").answered == 0
    assert len(ann.answers()["left"]) == 0
    assert ann.next_assignment("Ann") == first
    ann.answer("Ann", new_answer(first, grade=-1 / 3))
    assert ann.next_assignment("Ann") == later
    columns = ann.answers(superseded=True)
    assert columns["superseded"].tolist() == [True, False]
    assert np.abs(columns["difference"]).tolist() == [1.0, 1 / 3]
    assert np.abs(ann.answers()["difference"]).tolist() == [1 / 3]


def test_several_answers_are_undone_in_reverse(ann):
    given = [ann.next_assignment("Ann")]
    ann.answer("Ann", new_answer(given[0]))
    given.append(ann.next_assignment("Ann"))
    ann.answer("Ann", new_answer(given[1]))
    assert [ann.undo("Ann"), ann.undo("Ann"), ann.undo("Ann")] == [given[1], given[0], None]
    assert ann.next_assignment("Ann") == given[0]


def test_rows_are_only_added(ann):
    first = ann.next_assignment("Ann")
    ann.answer("Ann", new_answer(first, grade=1.0))
    before = rows_of(ann)
    ann.undo("Ann")
    ann.answer("Ann", new_answer(first, grade=0.0))
    after = rows_of(ann)
    assert after[: len(before)] == before
    assert [(row.is_undo, row.supersedes) for row in after] == [
        (False, None),
        (True, after[0].id),
        (False, after[1].id),
    ]


def test_an_answer_that_was_undone_is_not_revived_by_sending_it_again(ann):
    answer = new_answer(ann.next_assignment("Ann"))
    ann.answer("Ann", answer)
    ann.undo("Ann")
    assert not ann.answer("Ann", answer).is_new
    assert len(ann.answers()["left"]) == 0


def test_cannot_say_counts_and_carries_no_difference(ann):
    assignment = ann.next_assignment("Ann")
    ann.answer("Ann", Answer(assignment.id, str(uuid.uuid4()), grade=None, reason=CANNOT_SAY))
    columns = ann.answers()
    assert np.isnan(columns["difference"][0])
    assert columns["reason"][0] == CANNOT_SAY
    assert ann.progress("Ann").answered == 1


def test_same_class_questions(study_address):
    study = create_study(study_address, ITEMS, replace(SETTINGS, same_class=0.4))
    study.invite("Ann", quota=100)
    asked = answer_all(study, "Ann")
    assert {a.question for a in asked} == {"difference", "same"}
    columns = study.answers()
    is_same = np.array([a.question == "same" for a in asked])
    assert (columns["same"][is_same] == 1).all()
    assert np.isnan(columns["difference"][is_same]).all()
    assert np.isnan(columns["same"][~is_same]).all()


def test_an_answer_must_answer_what_was_asked(study_address):
    study = create_study(study_address, ITEMS, SETTINGS)
    study.invite("Ann")
    for question, values in (("difference", {"grade": None, "same": 1.0}), ("same", {"grade": 0.0})):
        study.replan([PlannedQuestion(left=0, right=1, kind="design", question=question, slot=0)])
        assignment = study.next_assignment("Ann")
        with pytest.raises(AnswerRefused, match="the question was"):
            study.answer("Ann", Answer(assignment.id, str(uuid.uuid4()), **values))
        study.delete_annotator("Ann")
        study.invite("Ann")


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"grade": 1.5}, "grade must be a number from -1 to 1"),
        ({"grade": float("nan")}, "grade must be a number"),
        ({"grade": True}, "grade must be a number"),
        ({"grade": 0.5}, "grade must be a point of the scale with 7 points"),
        ({"grade": None}, "one of grade, same and reason"),
        ({"grade": 0.0, "same": 1.0}, "one of grade, same and reason"),
        ({"grade": 0.0, "reason": CANNOT_SAY}, "one of grade, same and reason"),
        ({"grade": 0.0, "seconds": -1.0}, "seconds must be a number from 0"),
        ({"grade": 0.0, "seconds": float("inf")}, "seconds must be a number from 0"),
        ({"grade": 0.0, "note": "x" * 5000}, "note must be a text of at most 2000"),
        ({"grade": 0.0, "note": "a\x00b"}, "note must be a text"),
        ({"grade": 0.0, "note": "\ud800"}, "note must be a text"),
        ({"grade": 0.0, "client_id": "short"}, "client_id must be a UUID"),
        ({"grade": 0.0, "client_id": None}, "client_id must be a UUID"),
        ({"grade": 0.0, "assignment": 2**70}, "assignment must be the number"),
        ({"grade": 0.0, "assignment": 10**6}, "assignment must be one of the annotator's"),
        ({"grade": 0.0, "assignment": True}, "assignment must be the number"),
    ],
)
def test_bad_answers_are_refused(ann, values, message):
    assignment = ann.next_assignment("Ann")
    given = {"assignment": assignment.id, "client_id": str(uuid.uuid4())} | values
    with pytest.raises(AnswerRefused, match=message):
        ann.answer("Ann", Answer(**given))
    assert len(rows_of(ann)) == 0


def test_a_fine_scale_takes_every_grade(study_address):
    study = create_study(study_address, ITEMS, replace(SETTINGS, points=0))
    study.invite("Ann")
    study.answer("Ann", new_answer(study.next_assignment("Ann"), grade=0.123))
    assert abs(study.answers()["difference"][0]) == 0.123


def test_grades_are_stored_as_exact_points(ann):
    ann.answer("Ann", new_answer(ann.next_assignment("Ann"), grade=0.66667))
    assert abs(ann.answers()["difference"][0]) == 2 / 3


def test_the_assignment_of_another_annotator_is_refused(ann):
    ann.invite("Ben")
    with pytest.raises(AnswerRefused, match="one of the annotator's"):
        ann.answer("Ben", new_answer(ann.next_assignment("Ann")))


def test_the_client_id_of_another_annotator_is_refused(ann):
    ann.invite("Ben")
    first = new_answer(ann.next_assignment("Ann"))
    ann.answer("Ann", first)
    stolen = replace(new_answer(ann.next_assignment("Ben")), client_id=first.client_id)
    with pytest.raises(AnswerRefused, match="new UUID"):
        ann.answer("Ben", stolen)


def test_answers_after_a_pause_are_stored_and_after_closing_refused(ann):
    assignment = ann.next_assignment("Ann")
    ann.pause()
    sent = new_answer(assignment)
    assert ann.answer("Ann", sent).is_new
    assert ann.undo("Ann") is None
    ann.resume()
    assignment = ann.next_assignment("Ann")
    ann.close()
    with pytest.raises(AnswerRefused, match="the study is closed"):
        ann.answer("Ann", new_answer(assignment))
    assert not ann.answer("Ann", sent).is_new


def test_a_revoked_annotator_cannot_answer(ann):
    assignment = ann.next_assignment("Ann")
    ann.revoke("Ann")
    with pytest.raises(AnswerRefused, match="revoked"):
        ann.answer("Ann", new_answer(assignment))
    assert ann.undo("Ann") is None


@pytest.fixture
def late(study_address):
    """A study whose only question Ann let go, so that Ben has it."""
    study = create_study(study_address, ITEMS, replace(SETTINGS, lease_seconds=1))
    study.replan([PlannedQuestion(left=0, right=1, kind="design", question="difference", slot=0)])
    for name in ("Ann", "Ben"):
        study.invite(name, quota=1)
    first = study.next_assignment("Ann")
    assert study.next_assignment("Ben") is None
    time.sleep(1.1)
    return study, first, study.next_assignment("Ben")


def test_a_late_answer_counts_if_nobody_else_has_the_question(ann):
    assignment = ann.next_assignment("Ann")
    ann.answer("Ann", new_answer(assignment, seconds=5000.0))
    assert ann.progress("Ann").seconds_per_answer == 600


def test_a_late_answer_is_stored_outside_of_the_plan(late):
    study, first, second = late
    assert study.answer("Ann", new_answer(first)).is_new
    assert study.answer("Ben", new_answer(second)).is_new
    assert study.answers()["annotator"].tolist() == ["Ann", "Ben"]
    assert study.next_assignment("Ann") is None


def test_a_late_answer_never_exceeds_the_quota(late):
    study, first, second = late
    study.answer("Ben", new_answer(second))
    assert study.next_assignment("Ann") is None
    study.set_quota("Ann", 0)
    with pytest.raises(AnswerRefused, match="quota is used up"):
        study.answer("Ann", new_answer(first))
    assert study.answers()["annotator"].tolist() == ["Ben"]


def test_a_late_answer_that_uses_up_the_quota_ends_the_open_question(late):
    study, first, _ = late
    study.replan([PlannedQuestion(left=0, right=2, kind="design", question="difference", slot=0)])
    other = study.next_assignment("Ann")
    assert other.right == 2
    assert study.answer("Ann", new_answer(first)).is_new
    assert study.next_assignment("Ann") is None
    with pytest.raises(AnswerRefused, match="quota is used up"):
        study.answer("Ann", new_answer(other))
    assert study.answers()["annotator"].tolist() == ["Ann"]


def test_an_undo_of_a_late_answer_keeps_the_question_of_the_other(late):
    study, first, second = late
    study.answer("Ann", new_answer(first))
    study.answer("Ben", new_answer(second))
    assert study.undo("Ann") == first
    assert study.next_assignment("Ann") == first
    study.answer("Ann", new_answer(first))
    assert len(study.answers()["left"]) == 2


def test_answers_survive_with_full_synchronisation(tmp_path, closing_engines):
    path = tmp_path / "animals.db"
    study = create_study(path, ITEMS, SETTINGS)
    with study._database.writing() as connection:
        pragmas = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar_one()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout", "secure_delete")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "foreign_keys": 1,
        "busy_timeout": 30_000,
        "secure_delete": 1,
    }


def test_a_write_begins_by_locking_the_file(tmp_path, closing_engines):
    path = tmp_path / "animals.db"
    study = create_study(path, ITEMS, SETTINGS)
    other = create_engine(f"sqlite:///{path}", connect_args={"timeout": 0})
    with study._database.writing() as connection:
        connection.execute(select(func.count()).select_from(answers))
        with pytest.raises(Exception, match="locked"), other.begin() as second:
            second.exec_driver_sql("UPDATE study SET state = 'closed'")
    other.dispose()
    assert study.state == "open"
