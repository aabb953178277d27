"""What a judge will be asked, and roughly what it costs, before anything is sent."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from confdiff.labelling.annotators import annotator_row
from confdiff.labelling.judges.judge_settings import JudgeSettings, template_of
from confdiff.labelling.judges.prompts import Prompts
from confdiff.labelling.judges.records import (
    JudgeQuestion,
    planned_judge_questions,
    stored_assignments,
    used_by,
)
from confdiff.labelling.judges.request_forms import likely_tokens
from confdiff.labelling.judges.templates import Message

if TYPE_CHECKING:
    from confdiff.labelling.study import Study


@dataclass(frozen=True)
class JudgeEstimate:
    """The work of a judge.

    Attributes
    ----------
    pairs, questions : int
        Number of pairs, and of questions: each pair in both orders.
    answered : int
        Number of questions that the judge answered before.
    tokens : int
        Rough number of tokens of the remaining questions, at four characters per token.
    used_requests, used_tokens : int
        Requests and tokens of the judge so far.
    first_prompt : list of messages
        The prompt of the next question; empty if all are answered.
    """

    pairs: int
    questions: int
    answered: int
    tokens: int
    used_requests: int
    used_tokens: int
    first_prompt: list[Message]

    @property
    def remaining(self) -> int:
        """Number of questions to ask."""
        return self.questions - self.answered


def estimate_judge(study: "Study", settings: JudgeSettings) -> JudgeEstimate:
    """Return the work of a judge without asking or storing anything.

    Raises
    ------
    ValueError
        If the template is not valid, or the study shows images or sounds.
    """
    prompts = Prompts(study, template_of(settings))
    with study.database.reading() as connection:
        planned = planned_judge_questions(connection, settings.pairs)
        row = annotator_row(connection, settings.name)
        stored = {} if row is None else stored_assignments(connection, row.id)
        requests, tokens = (0, 0) if row is None else used_by(connection, row.id)
    remaining = [question for question in planned if not stored.get(question.key, (0, False))[1]]
    return JudgeEstimate(
        pairs=len(planned) // 2,
        questions=len(planned),
        answered=len(planned) - len(remaining),
        tokens=sum(likely_tokens(_messages(prompts, question)) for question in remaining),
        used_requests=requests,
        used_tokens=tokens,
        first_prompt=_messages(prompts, remaining[0]) if remaining else [],
    )


def _messages(prompts: Prompts, question: JudgeQuestion) -> list[Message]:
    return prompts.messages(question.shown_left, question.shown_right, question.asks)
