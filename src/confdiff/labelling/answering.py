"""Store answers, each once, and take the last one back. Answers are never changed: a new row supersedes an old one."""

import math
import re
import time
from dataclasses import dataclass
from numbers import Real
from typing import Any

from sqlalchemy import Connection, Row, insert, select, update

from confdiff.labelling.annotators import answered_by, quota_of, required_row, state_of
from confdiff.labelling.assigning import Assignment, as_assignment, take_question
from confdiff.labelling.schema import annotators, answers, assignments, questions
from confdiff.labelling.settings import StudySettings

CANNOT_SAY = "cannot say"
"""The usual reason of an answer without a grade."""

_CLIENT_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
_LONGEST_TEXT = 2000
_TOLERANCE = 1e-4


class AnswerRefused(ValueError):
    """An answer that cannot be stored, and never will be: sending it again is of no use."""


@dataclass(frozen=True)
class Answer:
    """An answer as the page sends it.

    Parameters
    ----------
    assignment : int
        Number of the assignment.
    client_id : str
        A UUID made by the page, by which an answer that is sent twice is stored once.
    grade : float or None
        On the screen, from -1 (left by far) to 1 (right by far).
    same : float or None
        Whether both items are of the same class, from 0 to 1.
    reason : str or None
        Why the answer has neither of them.
    note : str or None
        A remark.
    seconds : float or None
        Time from showing the question to the answer.
    """

    assignment: int
    client_id: str
    grade: float | None
    same: float | None = None
    reason: str | None = None
    note: str | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Stored:
    """Whether an answer was new, or had been stored before."""

    is_new: bool


def store_answer(connection: Connection, settings: StudySettings, name: str, answer: Answer) -> Stored:
    """Store an answer, unless it or another answer to the same assignment is stored.

    Raises
    ------
    AnswerRefused
        If the answer is not valid, or not one that the annotator may give.
    """
    check_answer(settings, answer)
    row = required_row(connection, name, lock=True)
    if row.revoked:
        raise AnswerRefused("the annotator was revoked.")
    if _is_stored(connection, row.id, answer):
        return Stored(is_new=False)
    assignment = _assignment(connection, row.id, answer.assignment)
    previous = _last_answer(connection, assignment.id)
    if assignment.answered:
        _check_equal(connection, previous, _graded(settings, answer.grade), answer)
        return Stored(is_new=False)
    _check_asked(assignment, answer)
    if state_of(connection) == "closed":
        raise AnswerRefused("the study is closed.")
    if not assignment.is_open and answered_by(connection, row.id) >= quota_of(connection, settings, row):
        raise AnswerRefused("the answer came after the lease, and the quota is used up.")
    now = time.time()
    _insert_answer(connection, answer, _graded(settings, answer.grade), previous, now)
    _close(connection, settings, assignment, row.id, now)
    if not assignment.is_open and answered_by(connection, row.id) >= quota_of(connection, settings, row):
        _end_open(connection, row.id)
    connection.execute(update(annotators).where(annotators.c.id == row.id).values(last_at=now, seen_at=now))
    return Stored(is_new=True)


def _is_stored(connection: Connection, annotator: int, answer: Answer) -> bool:
    query = (
        select(assignments.c.annotator)
        .join(answers, answers.c.assignment == assignments.c.id)
        .where(answers.c.client_id == answer.client_id)
    )
    owner = connection.execute(query).scalar()
    if owner is not None and owner != annotator:
        raise AnswerRefused("client_id must be a new UUID.")
    return owner is not None


def _assignment(connection: Connection, annotator: int, number: int) -> Row[Any]:
    query = select(assignments).where(assignments.c.id == number, assignments.c.annotator == annotator)
    row = connection.execute(query).first()
    if row is None:
        raise AnswerRefused(f"assignment must be one of the annotator's; got {number!r}.")
    return row


def _last_answer(connection: Connection, assignment: int) -> int | None:
    query = select(answers.c.id).where(answers.c.assignment == assignment).order_by(answers.c.id.desc()).limit(1)
    return connection.execute(query).scalar()


def _check_equal(connection: Connection, stored: int | None, grade: float | None, answer: Answer) -> None:
    """Refuse another answer to an assignment that is answered, such as one from a second window.

    Raises
    ------
    AnswerRefused
        If the values of the stored answer are others.
    """
    values = select(answers.c.grade, answers.c.same, answers.c.reason).where(answers.c.id == stored)
    row = connection.execute(values).one()
    if (row.grade, row.same, row.reason) != (grade, answer.same, answer.reason):
        raise AnswerRefused("this question was answered already, perhaps in another window. Undo to change the answer.")


def _insert_answer(
    connection: Connection, answer: Answer, grade: float | None, previous: int | None, now: float
) -> None:
    connection.execute(
        insert(answers).values(
            assignment=answer.assignment,
            client_id=answer.client_id,
            grade=grade,
            same=answer.same,
            reason=answer.reason,
            note=answer.note,
            seconds=answer.seconds,
            is_undo=False,
            supersedes=previous,
            at=now,
        )
    )


def _close(connection: Connection, settings: StudySettings, row: Row[Any], annotator: int, now: float) -> None:
    """Mark the assignment and its question as answered.

    An answer that comes after its lease, when another annotator has the question, counts as one outside of the plan.
    """
    question = row.question
    if question is not None and not take_question(connection, question, annotator, now, settings.lease_seconds):
        question = None
    if question is not None:
        connection.execute(update(questions).where(questions.c.id == question).values(answered=True))
    done = update(assignments).where(assignments.c.id == row.id)
    connection.execute(done.values(answered=True, is_open=False, question=question))


def _end_open(connection: Connection, annotator: int) -> None:
    """End the open assignments of an annotator whose quota a late answer has used up; their questions become free."""
    held = update(questions).where(questions.c.holder == annotator, questions.c.answered.is_(False))
    connection.execute(held.values(holder=None, held_until=None))
    opened = update(assignments).where(assignments.c.annotator == annotator, assignments.c.is_open.is_(True))
    connection.execute(opened.values(is_open=False, question=None))


def undo_last(connection: Connection, settings: StudySettings, name: str) -> Assignment | None:
    """Take the last answer of an annotator back, and return its assignment; None if there is none."""
    if state_of(connection) != "open":
        return None
    row = required_row(connection, name, lock=True)
    if row.revoked:
        return None
    query = (
        select(assignments, answers.c.id.label("last"))
        .join(answers, answers.c.assignment == assignments.c.id)
        .where(assignments.c.annotator == row.id, assignments.c.answered.is_(True))
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    last = connection.execute(query).first()
    if last is None:
        return None
    now = time.time()
    connection.execute(insert(answers).values(assignment=last.id, is_undo=True, supersedes=last.last, at=now))
    reopened = update(assignments).where(assignments.c.id == last.id)
    connection.execute(reopened.values(answered=False, is_open=True))
    if last.question is not None:
        until = now + settings.lease_seconds
        again = update(questions).where(questions.c.id == last.question)
        connection.execute(again.values(answered=False, held_until=until))
    return as_assignment(last)


def check_answer(settings: StudySettings, answer: Answer) -> None:
    """Check the values of an answer.

    Raises
    ------
    AnswerRefused
        If a value is not valid.
    """
    if not isinstance(answer.client_id, str) or not _CLIENT_ID.fullmatch(answer.client_id):
        raise AnswerRefused("client_id must be a UUID.")
    if isinstance(answer.assignment, bool) or not isinstance(answer.assignment, int) or answer.assignment >= 2**63:
        raise AnswerRefused("assignment must be the number of an assignment.")
    for name, low, high in (("grade", -1.0, 1.0), ("same", 0.0, 1.0), ("seconds", 0.0, math.inf)):
        value = getattr(answer, name)
        if value is not None and not _is_between(value, low, high):
            raise AnswerRefused(f"{name} must be a number from {low:g} to {high:g}; got {value!r:.40}.")
    for name in ("reason", "note"):
        value = getattr(answer, name)
        if value is not None and not _is_storable(value):
            raise AnswerRefused(f"{name} must be a text of at most {_LONGEST_TEXT} characters, without NUL.")
    if [answer.grade, answer.same, answer.reason].count(None) != 2:
        raise AnswerRefused("an answer must have one of grade, same and reason.")
    _graded(settings, answer.grade)


def _is_between(value: object, low: float, high: float) -> bool:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return is_number and math.isfinite(float(value)) and low <= float(value) <= high  # type: ignore[arg-type]


def _is_storable(text: object) -> bool:
    """Return whether every database can store a text."""
    if not isinstance(text, str) or len(text) > _LONGEST_TEXT or "\0" in text:
        return False
    return text.isascii() or text.encode("utf-8", "replace").decode() == text


def _graded(settings: StudySettings, grade: float | None) -> float | None:
    """Return a grade as the exact value of its point."""
    if grade is None or settings.points == 0:
        return grade
    half = (settings.points - 1) // 2
    point = round(grade * half)
    if abs(grade * half - point) > _TOLERANCE:
        raise AnswerRefused(f"grade must be a point of the scale with {settings.points} points; got {grade!r:.40}.")
    return point / half


def _check_asked(row: Row[Any], answer: Answer) -> None:
    """Check that an answer answers what was asked."""
    if row.asks == "same" and answer.grade is not None:
        raise AnswerRefused("the question was whether both items are of the same class: pass same instead of grade.")
    if row.asks == "difference" and answer.same is not None:
        raise AnswerRefused("the question was how the items differ: pass grade instead of same.")
