"""Store an answer and assign the next question in one transaction, which a database writes to the disk once."""

from dataclasses import dataclass

from sqlalchemy import Connection

from confdiff.labelling.annotators import AnnotatorProgress, State, progress_of, required_row, state_of
from confdiff.labelling.answering import Answer, Stored, store_answer
from confdiff.labelling.assigning import Assignment, assign
from confdiff.labelling.settings import StudySettings


@dataclass(frozen=True)
class Turn:
    """What a page needs after an answer.

    Attributes
    ----------
    stored : Stored
        Whether the answer was new.
    state : {"open", "paused", "closed"}
        The state of the study.
    progress : AnnotatorProgress
        The progress of the annotator.
    next : Assignment or None
        The next question, if there is one.
    """

    stored: Stored
    state: State
    progress: AnnotatorProgress
    next: Assignment | None


def take_turn(connection: Connection, settings: StudySettings, name: str, answer: Answer) -> Turn:
    """Store an answer, and return what follows.

    Raises
    ------
    AnswerRefused
        If the answer cannot be stored.
    """
    stored = store_answer(connection, settings, name, answer)
    following = assign(connection, settings, name)
    return Turn(
        stored=stored,
        state=state_of(connection),
        progress=progress_of(connection, settings, required_row(connection, name)),
        next=following,
    )
