"""Planned questions, as a list of records and as columns."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]

QUESTION_KINDS = ("design", "triangle", "random", "same-class", "repeat", "gold", "adaptive")
"""All kinds of questions; the pairs of kind ``random`` are the reserve on which quality is reported."""


@dataclass(frozen=True, slots=True)
class PlannedQuestion:
    """One question to ask.

    Attributes
    ----------
    left, right : int
        Numbers of the two items. A repeat has the items of its original the other way round.
    kind : str
        One of :data:`QUESTION_KINDS`.
    question : {"difference", "same"}
        Whether a graded difference or a same-class answer is asked for.
    slot : int
        Number of the annotator, from 0.
    """

    left: int
    right: int
    kind: str
    question: str
    slot: int


@dataclass(frozen=True)
class PairDesign:
    """Planned questions as columns, in the order of asking within each slot.

    Attributes
    ----------
    left, right, slot : ndarray of int, shape (n,)
        As in :class:`PlannedQuestion`.
    kind : ndarray of str, shape (n,)
        As in :class:`PlannedQuestion`.
    """

    left: _Ints
    right: _Ints
    kind: NDArray[np.str_]
    slot: _Ints

    def __len__(self) -> int:
        return len(self.left)

    def questions(self) -> list[PlannedQuestion]:
        """Return the questions as a list."""
        columns = zip(self.left.tolist(), self.right.tolist(), self.kind.tolist(), self.slot.tolist(), strict=True)
        return [
            PlannedQuestion(left=left, right=right, kind=kind, question=question_of(kind), slot=slot)
            for left, right, kind, slot in columns
        ]


def question_of(kind: str) -> str:
    """Return what is asked in a question of a kind: ``"difference"`` or ``"same"``."""
    return "same" if kind == "same-class" else "difference"
