"""Fit scores and the model of annotators in turn, the latter to differences of scores without the answers."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from confdiff.annotators import AnnotatorEstimates, AnswerSums, choose_model, estimate_annotators
from confdiff.ranking.design import ComparisonDesign
from confdiff.ranking.evidence import RidgeEvidence
from confdiff.ranking.scoring import Scores, fit_scores, split_design
from confdiff.tabular.checks.graph import components_of

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_ROUNDS = 3
_FOLDS = 5


def fit_judged_scores(
    design: ComparisonDesign,
    component: _Rows,
    annotator: _Rows,
    *,
    annotator_model: str = "auto",
    ridge: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[Scores, AnnotatorEstimates]:
    """Fit scores to answers of annotators with their own scale, side bias and noise.

    Parameters
    ----------
    design, component, ridge, level, seed
        As in :func:`~confdiff.ranking.scoring.fit_scores`.
    annotator : ndarray of int, shape (n,)
        Who gave each answer.
    annotator_model : {"auto", "pooled", "scale", "full"}
        The model of annotators; ``"auto"`` chooses by held-out answers.
    """
    scores = fit_scores(design, component, ridge=ridge, level=level, seed=seed)
    adjusted = design
    model = annotator_model
    for number in range(_ROUNDS):
        d = out_of_fold_differences(adjusted, scores.estimates.ridge, seed=seed)
        if number == 0 and annotator_model == "auto":
            choice = choose_model(d, design.c, annotator, side=design.side, weight=design.weight, seed=seed)
            model = choice.model
        sums = AnswerSums.of(d, design.c, annotator, side=design.side, weight=design.weight)
        estimates = estimate_annotators(sums, model)
        if estimates.model == "pooled":
            break
        adjusted = _adjusted(design, annotator, estimates)
        scores = fit_scores(adjusted, component, ridge=ridge, level=level, seed=seed)
    return scores, estimates


def _adjusted(design: ComparisonDesign, annotator: _Rows, estimates: AnnotatorEstimates) -> ComparisonDesign:
    """Return the comparisons of an average annotator; a side bias per annotator replaces the common one."""
    target, precision = estimates.adjusted(design.c, annotator, design.side)
    return replace(
        design,
        c=target,
        weight=design.weight * precision,
        side=None if estimates.has_side else design.side,
    )


def out_of_fold_differences(design: ComparisonDesign, ridge: float, *, seed: int = 0) -> _Floats:
    """Return the differences of scores that were fitted without the fold of each comparison.

    Parameters
    ----------
    design : ComparisonDesign
        n comparisons.
    ridge : float
        The strength of the penalty.
    seed : int
        Of the folds.

    Returns
    -------
    ndarray, shape (n,)
        Without side bias. An item without other comparisons has the score 0.
    """
    fold = np.random.default_rng(seed).permutation(len(design)) % _FOLDS
    differences = np.zeros(len(design))
    for number in range(_FOLDS):
        held_out = fold == number
        score = ridge_scores(design, ~held_out, ridge)
        differences[held_out] = score[design.right[held_out]] - score[design.left[held_out]]
    return differences


def ridge_scores(design: ComparisonDesign, training: NDArray[np.bool_], ridge: float) -> _Floats:
    """Return the scores and side bias that minimise the penalised squared error, without their uncertainty."""
    part = ComparisonDesign(
        n_items=design.n_items,
        left=design.left[training],
        right=design.right[training],
        c=design.c[training],
        weight=design.weight[training],
        side=None if design.side is None else design.side[training],
    )
    score = np.zeros(design.n_items)
    if not len(part):
        return score
    component = components_of(part.left, part.right, part.n_items)
    compared = np.flatnonzero(component >= 0)
    position = np.full(part.n_items, -1)
    position[compared] = np.arange(len(compared))
    part = replace(part, n_items=len(compared), left=position[part.left], right=position[part.right])
    blocks = split_design(part, component[compared])
    bias = 0.0
    if part.side is not None:
        bias = RidgeEvidence(part, blocks, np.random.default_rng(0)).estimates(ridge).side_bias
    residual = part.c if part.side is None else part.c - bias * part.side
    sums = part.sums(residual)
    for block in blocks:
        score[compared[block.rows]] = block.solve(ridge, sums[block.rows][:, None])[:, 0]
    return score
