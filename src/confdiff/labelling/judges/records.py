"""What a study stores of its judges: their questions, and every request with its raw reply."""

import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from confdiff.labelling.annotators import add_annotator, annotator_row, required_row, state_of
from confdiff.labelling.answering import Answer, store_answer
from confdiff.labelling.judges.judge_settings import JudgeSettings
from confdiff.labelling.schema import annotators, assignments, judge_requests, judges, questions
from confdiff.labelling.settings import StudySettings


class JudgingEnded(Exception):
    """The study asks no questions of the judge any more: it was paused or closed, or the judge was revoked."""


@dataclass(frozen=True)
class JudgeQuestion:
    """A question to a judge: a pair in one order.

    Attributes
    ----------
    left, right : int
        Numbers of the items, in the order of the stored pair.
    shown_left : int
        The item that is shown first.
    pair : int
        One number for both orders of the items.
    kind, asks : str
        Why the pair is asked, and whether a difference or a same-class answer is asked for.
    """

    left: int
    right: int
    shown_left: int
    pair: int
    kind: str
    asks: str

    @property
    def shown_right(self) -> int:
        """The item that is shown second."""
        return self.left + self.right - self.shown_left

    @property
    def key(self) -> tuple[int, str, int]:
        """What distinguishes the questions to a judge."""
        return self.pair, self.asks, self.shown_left


@dataclass(frozen=True)
class SentRequest:
    """A request that is stored and may be sent."""

    id: int
    assignment: int
    reserved: int


@dataclass(frozen=True)
class ClosedRequest:
    """What came back from a request.

    Attributes
    ----------
    request : SentRequest
        The request.
    outcome : str
        ``"answer"``, or the code of a fault.
    tokens : int
        The tokens that count as used.
    status : int or None
        The status of HTTP.
    reply : str
        The reply as it was received, without the key.
    """

    request: SentRequest
    outcome: str
    tokens: int
    status: int | None
    reply: str


@dataclass(frozen=True)
class JudgeUse:
    """What a judge used in all runs.

    Attributes
    ----------
    name, model : str
        The annotator, and the model.
    requests, tokens : int
        Number of requests, and of tokens used or reserved.
    outcomes : dict of str to int
        Outcome -> number of requests; ``"lost"`` for those without a stored reply.
    """

    name: str
    model: str
    requests: int
    tokens: int
    outcomes: dict[str, int]

    @property
    def faults(self) -> int:
        """Number of requests that gave no answer."""
        return self.requests - self.outcomes.get("answer", 0)


def planned_judge_questions(connection: Connection, n_pairs: int | None) -> list[JudgeQuestion]:
    """Return the questions to a judge in the order of asking: the pairs of the plan, each in both orders.

    The plan has one slot per person. A judge is asked about the first pairs of all slots in turn, so that the first
    questions are about all items. A pair that several persons are asked, or one twice, is one pair here.

    Parameters
    ----------
    connection : Connection
        Inside a transaction.
    n_pairs : int or None
        Number of pairs; None is all.
    """
    rows = connection.execute(select(questions).order_by(questions.c.slot, questions.c.position)).all()
    pairs: dict[tuple[int, str], Any] = {}
    for row in _in_turn(rows):
        if row.kind != "repeat":
            pairs.setdefault((row.pair, row.asks), row)
    chosen = list(pairs.values())[:n_pairs]
    return [_question(row, shown_left) for row in chosen for shown_left in (row.left, row.right)]


def _in_turn(rows: Iterable[Any]) -> list[Any]:
    """Return the questions of all slots in turn: the first of each, then the second of each."""
    ranks: Counter[int] = Counter()
    ranked = []
    for row in rows:
        ranked.append((ranks[row.slot], row))
        ranks[row.slot] += 1
    return [row for _, row in sorted(ranked, key=lambda entry: entry[0])]


def _question(row: Any, shown_left: int) -> JudgeQuestion:
    return JudgeQuestion(
        left=row.left, right=row.right, shown_left=shown_left, pair=row.pair, kind=row.kind, asks=row.asks
    )


def register_judge(connection: Connection, settings: JudgeSettings, template: str, quota: int) -> int:
    """Add a judge as an annotator, or check that it is the same judge as before; return the annotator's number.

    Raises
    ------
    ValueError
        If the name belongs to a person or to another judge, or was revoked.
    """
    row = annotator_row(connection, settings.name, lock=True)
    if row is None:
        add_annotator(connection, settings.name, quota=quota, kind="llm")
        row = required_row(connection, settings.name)
    if row.kind != "llm":
        raise ValueError(f"the annotator {settings.name!r} is not an LLM: give the judge another name with name='...'.")
    if row.revoked:
        raise ValueError(f"the judge {settings.name!r} was revoked: invite it again, or give the judge another name.")
    _check_same_judge(connection, row.id, settings, template)
    connection.execute(update(annotators).where(annotators.c.id == row.id).values(quota=quota, training_done=True))
    return int(row.id)


def _check_same_judge(connection: Connection, annotator: int, settings: JudgeSettings, template: str) -> None:
    stored = connection.execute(select(judges).where(judges.c.annotator == annotator)).first()
    if stored is None:
        connection.execute(insert(judges).values(annotator=annotator, model=settings.model, template=template))
        return
    for what, before, now in (("model", stored.model, settings.model), ("template", stored.template, template)):
        if before != now:
            shown = f" ({before!r:.80})" if what == "model" else ""
            raise ValueError(
                f"the judge {settings.name!r} was asked with another {what} before{shown}. Answers to different "
                "prompts are those of different judges: give the new one another name with name='...'."
            )


def stored_assignments(connection: Connection, annotator: int) -> dict[tuple[int, str, int], tuple[int, bool]]:
    """Return the key of each question that a judge was asked -> its assignment, and whether it is answered."""
    rows = connection.execute(select(assignments).where(assignments.c.annotator == annotator)).all()
    return {(row.pair, row.asks, row.shown_left): (row.id, bool(row.answered)) for row in rows}


def used_by(connection: Connection, annotator: int) -> tuple[int, int]:
    """Return the requests and the tokens of a judge in all runs."""
    query = select(func.count(), func.coalesce(func.sum(judge_requests.c.tokens), 0))
    requests, tokens = connection.execute(query.where(judge_requests.c.annotator == annotator)).one()
    return int(requests), int(tokens)


def open_request(
    connection: Connection, name: str, question: JudgeQuestion, assignment: int | None, reserved: int
) -> SentRequest:
    """Store that a request is about to be sent.

    Raises
    ------
    JudgingEnded
        If the study is not open, or the judge was revoked or deleted.
    """
    state = state_of(connection)
    if state != "open":
        raise JudgingEnded(f"the study is {state}")
    row = annotator_row(connection, name)
    if row is None:
        raise JudgingEnded(f"the judge {name!r} was deleted")
    if row.revoked:
        raise JudgingEnded(f"the judge {name!r} was revoked")
    now = time.time()
    if assignment is None:
        values = {
            "annotator": row.id,
            "left": question.left,
            "right": question.right,
            "pair": question.pair,
            "shown_left": question.shown_left,
            "kind": question.kind,
            "asks": question.asks,
            "shown_at": now,
            "is_open": True,
            "answered": False,
        }
        assignment = connection.execute(insert(assignments).values(values).returning(assignments.c.id)).scalar_one()
    request = {"annotator": row.id, "assignment": assignment, "sent_at": now, "tokens": reserved}
    number = connection.execute(insert(judge_requests).values(request).returning(judge_requests.c.id)).scalar_one()
    return SentRequest(id=number, assignment=assignment, reserved=reserved)


def close_request(
    connection: Connection, settings: StudySettings, name: str, closed: ClosedRequest, answer: Answer | None
) -> None:
    """Store what came back from a request, and the answer if there is one."""
    settled = update(judge_requests).where(judge_requests.c.id == closed.request.id)
    connection.execute(
        settled.values(outcome=closed.outcome, tokens=closed.tokens, status=closed.status, reply=closed.reply)
    )
    if answer is not None:
        store_answer(connection, settings, name, answer)


def judge_uses(connection: Connection) -> list[JudgeUse]:
    """Return what each judge of a study used, in the order of their first runs."""
    query = select(judges.c.annotator, judges.c.model, annotators.c.name).join(
        annotators, annotators.c.id == judges.c.annotator
    )
    counts = (
        select(judge_requests.c.annotator, judge_requests.c.outcome, func.count().label("requests"))
        .add_columns(func.sum(judge_requests.c.tokens).label("tokens"))
        .group_by(judge_requests.c.annotator, judge_requests.c.outcome)
    )
    rows = connection.execute(counts).all()
    return [
        _use_of(judge, [row for row in rows if row.annotator == judge.annotator])
        for judge in connection.execute(query.order_by(judges.c.annotator)).all()
    ]


def _use_of(judge: Any, rows: list[Any]) -> JudgeUse:
    return JudgeUse(
        name=judge.name,
        model=judge.model,
        requests=sum(int(row.requests) for row in rows),
        tokens=sum(int(row.tokens) for row in rows),
        outcomes={row.outcome or "lost": int(row.requests) for row in rows},
    )
