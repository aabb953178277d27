"""Assign the next question to an annotator, with a lease, inside one transaction."""

import secrets
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, exists, insert, or_, select, update
from sqlalchemy.sql import Select

from confdiff.labelling.annotators import (
    answered_by,
    claimed_slots,
    is_free,
    quota_of,
    required_row,
    state_of,
    unclaimed_slots,
)
from confdiff.labelling.schema import annotators, answers, assignments, questions, studies
from confdiff.labelling.settings import StudySettings

_MOST_ATTEMPTS = 50  # another annotator may take a question first


@dataclass(frozen=True)
class Assignment:
    """A question that is shown to an annotator.

    Attributes
    ----------
    id : int
        Number of the assignment.
    left, right : int
        Numbers of the items, in the order of the stored pair.
    shown_left : int
        The item on the left of the screen.
    kind : str
        Why the pair is asked: ``random``, ``design``, ``repeat``, ``gold``, ``triangle``, ``same-class``, ``adaptive``.
    question : {"difference", "same"}
        What is asked.
    """

    id: int
    left: int
    right: int
    shown_left: int
    kind: str
    question: str


def as_assignment(row: Row[Any]) -> Assignment:
    """Return an assignment from its row."""
    return Assignment(
        id=row.id,
        left=row.left,
        right=row.right,
        shown_left=row.shown_left,
        kind=row.kind,
        question=row.asks,
    )


def assign(connection: Connection, settings: StudySettings, name: str) -> Assignment | None:
    """Return the open assignment of an annotator, or a new one; None if the quota or the questions are used up."""
    if state_of(connection) != "open":
        return None
    row = required_row(connection, name, lock=True)
    if row.revoked:
        return None
    now = time.time()
    if row.seen_at is None or row.seen_at + settings.lease_seconds / 4 < now:
        connection.execute(update(annotators).where(annotators.c.id == row.id).values(seen_at=now))
    open_row = _open_assignment(connection, settings, row.id, now)
    if open_row is not None:
        return as_assignment(open_row)
    if answered_by(connection, row.id) >= quota_of(connection, settings, row):
        return None
    slot = row.slot if row.slot is not None else _claim_slot(connection, row.id)
    for _ in range(_MOST_ATTEMPTS):
        question = _next_question(connection, settings, row.id, slot, now)
        if question is None:
            return None
        if take_question(connection, question.id, row.id, now, settings.lease_seconds):
            return _insert_assignment(connection, row.id, question, now)
    return None


def take_question(connection: Connection, question: int, annotator: int, now: float, lease: int) -> bool:
    """Hold a question for an annotator if it is free or already theirs; return whether it is theirs now."""
    own = (questions.c.holder == annotator) & questions.c.answered.is_(False)
    taken = update(questions).where(questions.c.id == question, is_free(now) | own)
    return connection.execute(taken.values(holder=annotator, held_until=now + lease)).rowcount == 1


def _keep(connection: Connection, question: int, annotator: int, now: float, lease: int) -> bool:
    """Renew the lease of a question if less than half of it remains; return whether it is still the annotator's."""
    held = select(questions.c.id).where(
        questions.c.id == question,
        questions.c.holder == annotator,
        questions.c.answered.is_(False),
        questions.c.held_until > now + lease / 2,
    )
    return connection.execute(held).first() is not None or take_question(connection, question, annotator, now, lease)


def _open_assignment(connection: Connection, settings: StudySettings, annotator: int, now: float) -> Row[Any] | None:
    """Return the first open assignment, with a new lease; those whose question went to another annotator end."""
    query = (
        select(assignments)
        .where(assignments.c.annotator == annotator, assignments.c.is_open.is_(True))
        .order_by(assignments.c.id)
    )
    for row in connection.execute(query).all():
        if row.question is None or _keep(connection, row.question, annotator, now, settings.lease_seconds):
            return row
        end = update(assignments).where(assignments.c.id == row.id)
        connection.execute(end.values(is_open=False, question=None))
    return None


def _claim_slot(connection: Connection, annotator: int) -> int | None:
    """Reserve the first slot of the plan that nobody claimed; None if all are claimed."""
    if _unclaimed_slot(connection) is None:
        return None
    connection.execute(select(studies.c.id).with_for_update())  # annotators who start at the same time take turns
    slot = _unclaimed_slot(connection)
    if slot is not None:
        connection.execute(update(annotators).where(annotators.c.id == annotator).values(slot=slot))
    return slot


def _unclaimed_slot(connection: Connection) -> int | None:
    for slot in unclaimed_slots(connection, claimed_slots(connection)):
        if connection.execute(select(questions.c.id).where(questions.c.slot == slot).limit(1)).first() is not None:
            return slot
    return None


def _next_question(
    connection: Connection, settings: StudySettings, annotator: int, slot: int | None, now: float
) -> Row[Any] | None:
    """Return the question to ask next, from the first source that has one."""
    suitable = _suitable(connection, annotator, now)
    for query in _sources(connection, settings, suitable, slot, now):
        question = connection.execute(query.limit(1)).first()
        if question is not None:
            return question
    return None


def _sources(
    connection: Connection, settings: StudySettings, suitable: Select[Any], slot: int | None, now: float
) -> Iterator[Select[Any]]:
    """Yield queries: the own slot, slots that nobody claimed, those of annotators who left, and of all others.

    The last source is for annotators without a slot, who are more than the design was made for. Questions of others are
    taken from the end, which their annotators reach last.
    """
    if slot is not None:
        yield suitable.where(questions.c.slot == slot).order_by(questions.c.position)
    claimed = claimed_slots(connection)
    unclaimed = unclaimed_slots(connection, claimed)
    if unclaimed:
        yield suitable.where(questions.c.slot.in_(unclaimed)).order_by(questions.c.position)
    left = [number for number, (_, seen) in claimed.items() if seen + settings.lease_seconds < now and number != slot]
    if left:
        yield suitable.where(questions.c.slot.in_(left)).order_by(questions.c.position.desc())
    if slot is None:
        yield suitable.order_by(questions.c.position.desc())


def _suitable(connection: Connection, annotator: int, now: float) -> Select[Any]:
    """Return the query for free questions that an annotator may be asked now.

    A pair is asked once, and never twice in a row. A repeat needs an earlier answer to the same question.
    """
    seen = exists().where(
        assignments.c.annotator == annotator,
        assignments.c.pair == questions.c.pair,
        assignments.c.asks == questions.c.asks,
    )
    is_repeat = questions.c.kind == "repeat"
    query = select(questions).where(
        is_free(now),
        (is_repeat & seen.where(assignments.c.answered.is_(True))) | (~is_repeat & ~seen),
    )
    last = _last_pair(connection, annotator)
    return query if last is None else query.where(questions.c.pair != last)


def _last_pair(connection: Connection, annotator: int) -> int | None:
    """Return the pair that an annotator answered last."""
    query = (
        select(assignments.c.pair)
        .join(answers, answers.c.assignment == assignments.c.id)
        .where(assignments.c.annotator == annotator)
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    return connection.execute(query).scalar()


def _insert_assignment(connection: Connection, annotator: int, question: Row[Any], now: float) -> Assignment:
    values = {
        "question": question.id,
        "annotator": annotator,
        "left": question.left,
        "right": question.right,
        "pair": question.pair,
        "shown_left": _side(connection, annotator, question),
        "kind": question.kind,
        "asks": question.asks,
        "shown_at": now,
        "is_open": True,
        "answered": False,
    }
    inserted = connection.execute(insert(assignments).values(values).returning(assignments))
    return as_assignment(inserted.one())


def was_asked_about(connection: Connection, name: str, item: int) -> bool:
    """Return whether an item is in a question that an annotator was asked."""
    query = (
        select(assignments.c.id)
        .join(annotators, annotators.c.id == assignments.c.annotator)
        .where(annotators.c.name == name, or_(assignments.c.left == item, assignments.c.right == item))
        .limit(1)
    )
    return connection.execute(query).first() is not None


def _side(connection: Connection, annotator: int, question: Row[Any]) -> int:
    """Return the item to show on the left: tossed, and for repeats the one that was on the right before."""
    ends: tuple[int, int] = (question.left, question.right)
    if question.kind == "repeat":
        before = (
            select(assignments.c.shown_left)
            .where(
                assignments.c.annotator == annotator,
                assignments.c.pair == question.pair,
                assignments.c.asks == question.asks,
            )
            .order_by(assignments.c.id.desc())
            .limit(1)
        )
        shown = connection.execute(before).scalar_one()
        return ends[1] if shown == ends[0] else ends[0]
    return ends[secrets.randbelow(2)]
