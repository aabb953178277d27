"""Measure the quality of a study's answers on the questions that are reserved for it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from confdiff.ranking.ranking_items import rank_items
from confdiff.tabular.model.agreement import Agreement, agreement
from confdiff.tabular.scales import PLAIN_SCALE

if TYPE_CHECKING:
    from confdiff.labelling.judged_tables import AnswerTable

FEWEST_ANSWERS = 10
"""The fewest answers of the reserve, without ties, on which quality is reported."""


@dataclass(frozen=True)
class ReserveQuality:
    """Agreement of a ranking with answers to random pairs that it was not fitted to.

    Attributes
    ----------
    answers : int
        Number of answers to reserved questions.
    agreement : Agreement or None
        None with too few comparable answers.
    """

    answers: int
    agreement: Agreement | None


def reserve_quality(table: "AnswerTable") -> ReserveQuality:
    """Rank the items by the other answers, and compare the ranking with those of the reserve.

    Adaptive and repeated questions would flatter or blame the ranking. The reserve is a random sample of all pairs, so
    its pairwise accuracy is that of any random pair. A pair of the reserve is left out of the ranking wherever it was
    asked.

    Parameters
    ----------
    table : AnswerTable
        The answers of a study.
    """
    graded = table[table.is_graded]
    reserve = graded[graded.is_reserve]
    training = graded[~np.isin(graded.pair_numbers(), reserve.pair_numbers())]
    if np.count_nonzero(reserve.difference) < FEWEST_ANSWERS or not np.any(training.difference):
        return ReserveQuality(answers=len(reserve), agreement=None)
    ranking = rank_items(training.columns(), scale=PLAIN_SCALE, annotator_model="pooled", n_proposals=0)
    predicted = ranking.differences(reserve.left, reserve.right)
    comparable = np.isfinite(predicted)
    if np.count_nonzero(reserve.difference[comparable]) < FEWEST_ANSWERS:
        return ReserveQuality(answers=len(reserve), agreement=None)
    measured = agreement(predicted[comparable], reserve.difference[comparable])
    return ReserveQuality(answers=len(reserve), agreement=measured)
