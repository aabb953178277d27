"""Check answers to the question whether two items are of the same class, and show the class prior that they imply."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import plural
from confdiff.tabular.answers import ANSWER
from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.finding import Finding, row_findings


@dataclass(frozen=True)
class AnswerMeasure:
    """Same-class answers of usable pairs.

    Attributes
    ----------
    count : int
        Number of answers.
    without_difference : int
        Number of pairs that have an answer only.
    mean : float
        Mean answer: the fraction of pairs of the same class.
    prior : float
        The smaller of the two class priors with E[same] = 1 - 2 prior (1 - prior), for pairs of independent items.
    """

    count: int
    without_difference: int
    mean: float
    prior: float


def measure_answers(data: CheckData) -> AnswerMeasure | None:
    """Return the number and the mean of the answers, or None if there are none."""
    rows = data.is_answered
    if data.pairs.same is None or not rows.any():
        return None
    weight = np.ones(len(rows)) if data.pairs.weight is None else data.pairs.weight
    mean = float(np.average(data.pairs.same[rows], weights=weight[rows] if weight[rows].any() else None))
    return AnswerMeasure(
        count=int(rows.sum()),
        without_difference=int((rows & np.isnan(data.pairs.difference)).sum()),
        mean=mean,
        prior=float(0.5 - 0.5 * np.sqrt(max(0.0, 2 * mean - 1))),
    )


def answer_findings(data: CheckData, answers: AnswerMeasure | None) -> list[Finding]:
    """Return findings about answers outside [0, 1], and about tables without any difference."""
    findings = row_findings(
        "invalid-same",
        "error",
        _is_invalid(data),
        source=data.pairs.source,
        text="with a same-class answer outside 0 to 1.",
        action=f"`fit` stops with an error: write {ANSWER}.",
    )
    if answers is None:
        return findings
    if not np.isfinite(data.pairs.difference).any():
        return [*findings, _without_differences(answers)]
    return [*findings, _besides_differences(answers)]


def _is_invalid(data: CheckData) -> NDArray[np.bool_]:
    same = data.pairs.same
    if same is None:
        return np.zeros(len(data.pairs), dtype=bool)
    invalid: NDArray[np.bool_] = (same < 0) | (same > 1)
    return invalid


def _without_differences(answers: AnswerMeasure) -> Finding:
    return Finding(
        kind="answers-only",
        severity="warning",
        count=answers.count,
        text=f"The pairs have {plural(answers.count, 'same-class answer')} and no differences. {answers.mean:.0%} are "
        f"of the same class: for independent items, a class prior of {answers.prior:.2f} or {1 - answers.prior:.2f}.",
        action="Answers do not determine which class is the positive one: pass positives='rarer' or "
        "positives='commoner', or the prior. A few pairs with differences would do, too.",
    )


def _besides_differences(answers: AnswerMeasure) -> Finding:
    return Finding(
        kind="same-class-answers",
        severity="note",
        count=answers.count,
        text=f"{plural(answers.count, 'pair')} with a same-class answer, {answers.mean:.0%} of the same class. "
        f"{answers.without_difference:,} of them have no difference.",
        action="`fit` uses them for the class prior, which differences may leave open.",
    )
