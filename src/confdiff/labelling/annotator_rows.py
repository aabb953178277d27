"""What the owner's page shows of each annotator: progress, grades, agreement, side bias and self-contradiction."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.annotators import JudgedAnnotator, measure_annotators
from confdiff.tabular.checks.graph import Judgements, edges_of
from confdiff.tabular.checks.repeats import Repeats, repeats_of

if TYPE_CHECKING:
    from confdiff.labelling.annotators import Annotator
    from confdiff.labelling.judged_tables import AnswerTable
    from confdiff.labelling.study import Study

_Floats = NDArray[np.float64]
_BARS = 7  # of the distribution of grades on a fine scale


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator on the owner's page.

    Attributes
    ----------
    name, kind : str
        Name, and whether the annotator is a person, an LLM or simulated.
    quota, answered : int
        Number of questions to answer, and of those answered.
    revoked : bool
        Whether the link no longer works.
    training_done : bool
        Whether the training round is over.
    last_at : float or None
        Time of the last answer, in seconds since 1970.
    seconds_per_answer, seconds_left : float or None
        Typical time of an answer, and the time for the rest of the quota: None for LLM judges, whom a command asks.
    grades : tuple of int
        Number of answers per point of the scale, left by far first, as on the screen.
    cannot_say : int
        Number of questions that the annotator could not answer.
    judged : Annotator or None
        The annotator compared with the others, as ``confdiff check`` does; None without graded answers.
    repeats : Repeats
        The pairs that the annotator judged more than once, in the order of the screen.
    """

    name: str
    kind: str
    quota: int
    answered: int
    revoked: bool
    training_done: bool
    last_at: float | None
    seconds_per_answer: float | None
    seconds_left: float | None
    grades: tuple[int, ...]
    cannot_say: int
    judged: JudgedAnnotator | None
    repeats: Repeats

    def as_dict(self) -> dict[str, Any]:
        """Return the row as JSON values."""
        judged = self.judged
        measures = {name: getattr(judged, name, None) for name in _JUDGED}
        is_assessed = judged is not None and judged.is_assessed
        own = {name: getattr(self, name) for name in _OWN}
        return own | measures | {"assessed": is_assessed, "repeats": vars(self.repeats)}


_OWN = (
    "name",
    "kind",
    "quota",
    "answered",
    "revoked",
    "training_done",
    "last_at",
    "seconds_per_answer",
    "seconds_left",
    "grades",
    "cannot_say",
)
_JUDGED = ("compared", "bias", "bias_error", "slope", "slope_error", "correlation", "same_sign", "deviations")


def annotator_rows(study: "Study", table: "AnswerTable") -> tuple[AnnotatorRow, ...]:
    """Return one row per annotator, in the order of their invitations.

    Parameters
    ----------
    study : Study
        The study.
    table : AnswerTable
        Its answers.
    """
    answered = table.answered()
    judged = _judged_annotators(answered)
    on_screen = answered.judgements_on_screen()
    judge = answered.annotator[on_screen.rows]
    return tuple(
        _row(study, annotator, table, judged.get(annotator.name), on_screen[judge == annotator.name])
        for annotator in study.annotators()
    )


def _judged_annotators(table: "AnswerTable") -> Mapping[str, JudgedAnnotator]:
    if not table.check_data.is_usable.any():
        return {}
    return {annotator.name: annotator for annotator in measure_annotators(table.check_data)}


def _row(
    study: "Study",
    annotator: "Annotator",
    table: "AnswerTable",
    judged: JudgedAnnotator | None,
    on_screen: Judgements,
) -> AnnotatorRow:
    own = table[table.annotator == annotator.name]
    progress = study.progress(annotator.name)
    pace = progress.seconds_per_answer
    rest = max(progress.quota - progress.answered, 0)
    return AnnotatorRow(
        name=annotator.name,
        kind=annotator.kind,
        quota=progress.quota,
        answered=progress.answered,
        revoked=annotator.revoked,
        training_done=annotator.training_done,
        last_at=annotator.last_at,
        seconds_per_answer=pace,
        seconds_left=None if pace is None or annotator.revoked or annotator.kind == "llm" else pace * rest,
        grades=grade_counts(own.grade, study.settings.points),
        cannot_say=int((~own.is_graded & np.isnan(own.same)).sum()),
        judged=judged,
        repeats=repeats_of(edges_of(on_screen)),
    )


def grade_counts(grades: _Floats, points: int) -> tuple[int, ...]:
    """Return the number of grades per point of the scale.

    Parameters
    ----------
    grades : ndarray, shape (n,)
        Grades from -1 to 1; NaN is not counted.
    points : int
        Number of points; 0 for a fine scale, whose grades are counted in seven bars of equal width.

    Examples
    --------
    >>> grade_counts(np.array([-1.0, 0.0, 0.0, 1.0]), 3)
    (1, 2, 1)
    """
    grades = grades[np.isfinite(grades)]
    bars = points or _BARS
    position = (grades + 1) / 2
    number = np.rint(position * (bars - 1)) if points else np.minimum(np.floor(position * bars), bars - 1)
    counts = np.bincount(number.astype(np.int64), minlength=bars)
    return tuple(counts.tolist())
