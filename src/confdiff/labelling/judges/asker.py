"""One run of a judge: several requests at a time, within the budget, with retries, each question answered once."""

import asyncio
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from confdiff.labelling.annotators import UnknownAnnotator
from confdiff.labelling.answering import CANNOT_SAY, Answer, AnswerRefused
from confdiff.labelling.judges.budget import JudgeBudget
from confdiff.labelling.judges.endpoint import Endpoint, HttpReply
from confdiff.labelling.judges.health import EndpointHealth, quoted
from confdiff.labelling.judges.judge_settings import JudgeSettings
from confdiff.labelling.judges.pauses import Pauses
from confdiff.labelling.judges.prompts import Prompts
from confdiff.labelling.judges.records import (
    ClosedRequest,
    JudgeQuestion,
    JudgingEnded,
    SentRequest,
    close_request,
    open_request,
)
from confdiff.labelling.judges.replies import REFUSED, ReadReply, read_reply
from confdiff.labelling.judges.reply_faults import ANSWERED, FAULTS
from confdiff.labelling.judges.request_forms import RequestForm, most_tokens

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

_MOST_REFUSED = 3  # questions that are refused in every form before any is answered


@dataclass
class JudgeRun:
    """What a run did.

    Attributes
    ----------
    questions : int
        Number of questions that were to be asked in this run.
    answers : int
        Number of answers that were stored, with those that could not say.
    cannot_say : int
        Number of answers without a grade, with refusals.
    requests : int
        Number of requests of this run.
    faults : Counter
        Code of a fault -> number of requests.
    notes : list of str
        Parameters that the endpoint refuses, and what was sent instead.
    stopped : str
        Why the run ended before all questions were asked; empty otherwise.
    has_failed : bool
        Whether that is because the endpoint cannot be used.
    """

    questions: int
    answers: int = 0
    cannot_say: int = 0
    requests: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    stopped: str = ""
    has_failed: bool = False

    @property
    def unanswered(self) -> int:
        """Number of questions that are still without an answer."""
        return self.questions - self.answers


class Asker:
    """Asks a judge; used for one run inside of one event loop."""

    def __init__(
        self,
        study: "Study",
        settings: JudgeSettings,
        prompts: Prompts,
        budget: JudgeBudget,
        endpoint: Endpoint,
        on_progress: Callable[[int, Counter[str]], None],
    ) -> None:
        self._study = study
        self._settings = settings
        self._prompts = prompts
        self._budget = budget
        self._endpoint = endpoint
        self._on_progress = on_progress
        self._health = EndpointHealth(settings.base_url, settings.concurrency)
        self._form = RequestForm()
        self._form_is_accepted = False
        self._refused_questions = 0
        self._excess = 0  # tokens that a request used beyond the bound that was reserved
        self._in_flight = 0
        self._ended = asyncio.Event()
        self._settled = asyncio.Event()
        self._pauses = Pauses(self._ended)

    async def run(self, questions: list[JudgeQuestion], assignments: Mapping[tuple[int, str, int], int]) -> JudgeRun:
        """Ask questions.

        Parameters
        ----------
        questions : list of JudgeQuestion
            Questions without an answer, in the order of asking.
        assignments : mapping
            Key of a question -> its assignment, if it was asked before.
        """
        self._run = JudgeRun(questions=len(questions))
        self._assignments = dict(assignments)
        remaining = iter(questions)
        while not self._form_is_accepted and not self._ended.is_set():  # alone, until the form of requests is known
            question = next(remaining, None)
            if question is None:
                break
            await self._ask(question)
        await asyncio.gather(*(self._work(remaining) for _ in range(self._settings.concurrency)))
        return self._run

    async def _work(self, remaining: Iterator[JudgeQuestion]) -> None:
        while not self._ended.is_set():
            question = next(remaining, None)
            if question is None:
                return
            await self._ask(question)

    async def _ask(self, question: JudgeQuestion) -> None:
        """Ask one question until it is answered, its attempts are used up, or the run ends."""
        for attempt in count():
            await self._pauses.wait_until_resumed()
            messages = self._prompts.messages(question.shown_left, question.shown_right, question.asks)
            body = self._form.body(self._settings, messages, self._prompts.scale(question.asks))
            request = await self._open(question, most_tokens(body, self._settings) + self._excess)
            if request is None:
                return
            reply = await self._endpoint.send(body)
            outcome = self._close(question, request, reply)
            if outcome == "bad-request" and self._adapt(reply):
                continue
            if outcome == ANSWERED or attempt + 1 >= FAULTS[outcome].attempts:
                return
            await self._pauses.back_off(attempt, reply.retry_after)

    async def _open(self, question: JudgeQuestion, tokens: int) -> SentRequest | None:
        """Store a request within the budget; None if the run ends."""
        while not self._ended.is_set():
            if self._budget.has_requests and self._budget.fits(tokens):
                return self._open_within_budget(question, tokens)
            if not self._budget.has_requests or not self._in_flight:
                self._stop(self._budget.exhausted())
            else:
                await self._settled.wait()  # replies may release tokens
        return None

    def _open_within_budget(self, question: JudgeQuestion, tokens: int) -> SentRequest | None:
        try:
            with self._study.database.writing() as connection:
                assignment = self._assignments.get(question.key)
                request = open_request(connection, self._settings.name, question, assignment, tokens)
        except JudgingEnded as end:
            self._stop(str(end))
            return None
        self._assignments[question.key] = request.assignment
        self._budget.reserve(tokens)
        self._in_flight += 1
        self._run.requests += 1
        return request

    def _close(self, question: JudgeQuestion, request: SentRequest, reply: HttpReply) -> str:
        """Store what came back, with the answer if there is one; return the outcome."""
        read = self._read(question, reply)
        closed = ClosedRequest(
            request=request,
            outcome=read.outcome,
            tokens=self._tokens_used(read, request, reply),
            status=reply.status,
            reply=reply.stored,
        )
        answer = self._answer(question, request, read, reply)
        if self._store(closed, answer):
            self._count(read.outcome, answer)
        self._budget.settle(reserved=request.reserved, used=closed.tokens)
        self._in_flight -= 1
        self._settled.set()  # wakes all that wait now
        self._settled.clear()
        if problem := self._health.problem(read.outcome, reply):
            self._stop(problem, has_failed=True)
        self._on_progress(self._run.answers, self._run.faults)
        return read.outcome

    def _store(self, closed: ClosedRequest, answer: Answer | None) -> bool:
        """Store a closed request and its answer in one transaction; return whether the answer could be stored."""
        settings = self._study.settings
        try:
            with self._study.database.writing() as connection:
                close_request(connection, settings, self._settings.name, closed, answer)
        except (AnswerRefused, UnknownAnnotator) as refused:  # such as of a study that was closed meanwhile
            was_deleted = isinstance(refused, UnknownAnnotator)
            self._stop(f"the judge {self._settings.name!r} was deleted" if was_deleted else str(refused).rstrip("."))
            with self._study.database.writing() as connection:
                close_request(connection, settings, self._settings.name, closed, None)
            return False
        return True

    def _read(self, question: JudgeQuestion, reply: HttpReply) -> ReadReply:
        if reply.fault is not None:
            return ReadReply(outcome=reply.fault)
        return read_reply(reply.text, self._prompts.scale(question.asks))

    def _tokens_used(self, read: ReadReply, request: SentRequest, reply: HttpReply) -> int:
        """Return the tokens that the reply states, or else those reserved, unless the request was not processed."""
        if read.tokens is not None:
            self._excess = max(self._excess, read.tokens - request.reserved)
            return read.tokens
        is_charged = reply.was_sent and (read.outcome == ANSWERED or FAULTS[read.outcome].is_charged)
        return request.reserved if is_charged else 0

    def _answer(
        self, question: JudgeQuestion, request: SentRequest, read: ReadReply, reply: HttpReply
    ) -> Answer | None:
        """Return the answer to store; None if the question must be asked again."""
        if read.outcome not in (ANSWERED, "refusal"):
            return None
        scale = self._prompts.scale(question.asks)
        value = None if read.number is None else scale.values.get(read.number)
        reason = REFUSED if read.outcome == "refusal" else CANNOT_SAY
        return Answer(
            assignment=request.assignment,
            client_id=str(uuid.uuid4()),
            grade=value if question.asks == "difference" else None,
            same=value if question.asks == "same" else None,
            reason=reason if value is None else None,
            seconds=reply.seconds,
        )

    def _count(self, outcome: str, answer: Answer | None) -> None:
        if outcome != ANSWERED:
            self._run.faults[outcome] += 1
        if answer is None:
            return
        self._run.answers += 1
        self._run.cannot_say += answer.reason is not None
        if not self._form_is_accepted:
            self._form_is_accepted = True
            self._run.notes += RequestForm().changes(self._form)

    def _adapt(self, reply: HttpReply) -> bool:
        """Change the form of requests after one was refused; return whether to ask the question again."""
        if self._form_is_accepted or self._ended.is_set():
            return False
        following = self._form.after_refusal(reply.text)
        if following is not None:
            self._form = following
            return True
        self._form = RequestForm()  # perhaps only this question is refused, such as for its length
        self._refused_questions += 1
        if self._refused_questions >= _MOST_REFUSED:
            problem = f"the endpoint {self._settings.base_url} refuses requests of every form."
            self._stop(f"{problem}{quoted(reply)}", has_failed=True)
        return False

    def _stop(self, reason: str, *, has_failed: bool = False) -> None:
        if not self._ended.is_set():
            self._run.stopped = reason
            self._run.has_failed = has_failed
            self._ended.set()
