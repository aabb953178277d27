"""Annotators of a study: invitations, sessions, quotas, and deletion on request."""

import math
import time
from collections.abc import Container
from dataclasses import dataclass
from statistics import median
from typing import Any, Literal

from sqlalchemy import Connection, Row, delete, func, insert, or_, select, update

from confdiff.labelling.schema import (
    annotators,
    answers,
    assignments,
    judge_requests,
    judges,
    questions,
    sessions,
    studies,
)
from confdiff.labelling.settings import StudySettings
from confdiff.labelling.tokens import digest, new_token
from confdiff.validation import check_choice, check_count

ANNOTATOR_KINDS = ("person", "llm", "simulated")
"""Kinds of annotators."""

State = Literal["open", "paused", "closed"]
"""The states of a study."""

_LONGEST_NAME = 100
_MOST_ANSWERS = 10**9
_LONGEST_ANSWER = 600.0  # seconds; longer ones are breaks


class UnknownAnnotator(ValueError):
    """The study has no annotator of a name, or has none any more."""


@dataclass(frozen=True)
class Invitation:
    """An invited annotator and the token of the link, which is not stored."""

    name: str
    token: str


@dataclass(frozen=True)
class Annotator:
    """An annotator as the owner sees them; times are seconds since 1970."""

    name: str
    kind: str
    quota: int
    answered: int
    revoked: bool
    training_done: bool
    last_at: float | None


@dataclass(frozen=True)
class AnnotatorProgress:
    """Number of answers, the quota, and the median of seconds per answer (None before the first)."""

    answered: int
    quota: int
    seconds_per_answer: float | None


def add_annotator(connection: Connection, name: str, *, quota: int | None, kind: str) -> Invitation:
    """Add an annotator; a further invitation of a name renews the link, and ends the old one with its sessions."""
    name = check_name(name)
    check_choice("kind", kind, ANNOTATOR_KINDS)
    _check_quota(quota)
    token = new_token()
    known = annotator_row(connection, name, lock=True)
    if known is None:
        connection.execute(
            insert(annotators).values(
                name=name,
                kind=kind,
                token_hash=digest(token),
                quota=quota,
                revoked=False,
                training_done=False,
                created_at=time.time(),
            )
        )
        return Invitation(name=name, token=token)
    connection.execute(delete(sessions).where(sessions.c.annotator == known.id))
    values: dict[str, Any] = {"token_hash": digest(token), "revoked": False}
    if quota is not None:
        values["quota"] = quota
    connection.execute(update(annotators).where(annotators.c.id == known.id).values(values))
    return Invitation(name=name, token=token)


def _check_quota(quota: object) -> None:
    if quota is not None and check_count("quota", quota, least=0) > _MOST_ANSWERS:
        raise ValueError(f"quota must be at most {_MOST_ANSWERS:,}; got {quota!r}.")


def check_name(name: object) -> str:
    """Return the name of an annotator without blanks around it."""
    if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
        raise ValueError(f"name must be a text of 1 to {_LONGEST_NAME} printable characters; got {name!r:.120}.")
    return name.strip()


def annotator_row(connection: Connection, name: str, *, lock: bool = False) -> Row[Any] | None:
    """Return the row of an annotator, or None; with ``lock``, other transactions on the annotator wait."""
    if not name.isprintable():  # databases differ in what they do with NUL and halves of surrogate pairs
        return None
    query = select(annotators).where(annotators.c.name == name)
    return connection.execute(query.with_for_update() if lock else query).first()


def required_row(connection: Connection, name: str, *, lock: bool = False) -> Row[Any]:
    """Return the row of an annotator, who must exist."""
    row = annotator_row(connection, name.strip(), lock=lock)
    if row is None:
        names = connection.execute(select(annotators.c.name).order_by(annotators.c.name)).scalars().all()
        known = ", ".join(map(repr, names[:10])) + (" ..." if len(names) > 10 else "")
        raise UnknownAnnotator(f"no annotator is named {name!r}; the study has {known or 'none'}.")
    return row


def revoke_annotator(connection: Connection, name: str) -> None:
    """End the link and the sessions of an annotator; the answers remain, and unanswered questions become free."""
    row = required_row(connection, name, lock=True)
    connection.execute(delete(sessions).where(sessions.c.annotator == row.id))
    connection.execute(update(annotators).where(annotators.c.id == row.id).values(revoked=True, slot=None))
    _release(connection, row.id)


def _release(connection: Connection, annotator: int) -> None:
    """Make questions free that an annotator holds and has not answered."""
    held = (questions.c.holder == annotator) & questions.c.answered.is_(False)
    connection.execute(update(questions).where(held).values(holder=None, held_until=None))


def change_quota(connection: Connection, name: str, quota: int | None) -> None:
    """Set the quota of an annotator; None is that of the study."""
    _check_quota(quota)
    row = required_row(connection, name, lock=True)
    connection.execute(update(annotators).where(annotators.c.id == row.id).values(quota=quota))


def remove_annotator(connection: Connection, name: str) -> int:
    """Delete an annotator with all answers, assignments and sessions; return the number of answers."""
    row = required_row(connection, name, lock=True)
    own = select(assignments.c.id).where(assignments.c.annotator == row.id)
    count = answered_by(connection, row.id)
    connection.execute(delete(answers).where(answers.c.assignment.in_(own)))
    connection.execute(delete(judge_requests).where(judge_requests.c.annotator == row.id))
    connection.execute(delete(judges).where(judges.c.annotator == row.id))
    connection.execute(delete(assignments).where(assignments.c.annotator == row.id))
    held = update(questions).where(questions.c.holder == row.id)
    connection.execute(held.values(holder=None, held_until=None, answered=False))
    connection.execute(delete(sessions).where(sessions.c.annotator == row.id))
    connection.execute(delete(annotators).where(annotators.c.id == row.id))
    return count


def mark_trained(connection: Connection, name: str) -> None:
    """Record that an annotator finished the training round."""
    row = required_row(connection, name, lock=True)
    connection.execute(update(annotators).where(annotators.c.id == row.id).values(training_done=True))


def answered_by(connection: Connection, annotator: int) -> int:
    """Return the number of answers of an annotator that count."""
    query = select(func.count()).where(assignments.c.annotator == annotator, assignments.c.answered.is_(True))
    return int(connection.execute(query).scalar_one())


def quota_of(connection: Connection, settings: StudySettings, row: Row[Any]) -> int:
    """Return how many answers an annotator may give: their own quota, that of the study, or their part of the plan."""
    if row.quota is not None:
        return int(row.quota)
    if settings.quota is not None:
        return settings.quota
    if row.slot is not None:
        planned = connection.execute(select(func.count()).where(questions.c.slot == row.slot)).scalar_one()
        return int(planned)
    return equal_part(connection)


def equal_part(connection: Connection) -> int:
    """Return the number of planned questions per slot, rounded up."""
    count, last = connection.execute(select(func.count(), func.max(questions.c.slot))).one()
    return 0 if last is None else math.ceil(count / (last + 1))


def as_annotator(connection: Connection, settings: StudySettings, row: Row[Any]) -> Annotator:
    """Return an annotator as the owner sees them."""
    return Annotator(
        name=row.name,
        kind=row.kind,
        quota=quota_of(connection, settings, row),
        answered=answered_by(connection, row.id),
        revoked=row.revoked,
        training_done=row.training_done,
        last_at=row.last_at,
    )


def progress_of(connection: Connection, settings: StudySettings, row: Row[Any]) -> AnnotatorProgress:
    """Return the progress of an annotator."""
    recent = (
        select(answers.c.seconds)
        .join(assignments, answers.c.assignment == assignments.c.id)
        .where(assignments.c.annotator == row.id, answers.c.seconds.is_not(None))
        .order_by(answers.c.id.desc())
        .limit(100)
    )
    seconds = [min(value, _LONGEST_ANSWER) for value in connection.execute(recent).scalars()]
    return AnnotatorProgress(
        answered=answered_by(connection, row.id),
        quota=quota_of(connection, settings, row),
        seconds_per_answer=median(seconds) if seconds else None,
    )


def state_of(connection: Connection) -> State:
    """Return whether the study is open, paused or closed."""
    state: State = connection.execute(select(studies.c.state)).scalar_one()
    return state


def claimed_slots(connection: Connection) -> dict[int, tuple[int, float]]:
    """Return slot -> the annotator who claimed it, and when they last asked for a question."""
    rows = connection.execute(
        select(annotators.c.slot, annotators.c.id, annotators.c.seen_at).where(annotators.c.slot.is_not(None))
    )
    return {row.slot: (row.id, row.seen_at or 0.0) for row in rows}


def unclaimed_slots(connection: Connection, claimed: Container[int]) -> list[int]:
    """Return the slots of the plan that nobody claimed. Slots are numbered from 0."""
    last = connection.execute(select(func.max(questions.c.slot))).scalar()
    return [] if last is None else [slot for slot in range(last + 1) if slot not in claimed]


def is_free(now: float) -> Any:
    """Return the condition that a question is neither answered nor held by somebody whose lease runs."""
    return questions.c.answered.is_(False) & or_(questions.c.holder.is_(None), questions.c.held_until < now)
