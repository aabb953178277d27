"""Fit the model of annotators to answers, whose ends of the scale may mean "at least this much"."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from confdiff.annotators.censoring import may_be_censored
from confdiff.annotators.estimates import AnnotatorEstimates
from confdiff.annotators.estimating import estimate_annotators
from confdiff.annotators.sums import AnswerSums, RealArray

_ROUNDS = 6


def fit_annotators(
    d: ArrayLike,
    c: ArrayLike,
    annotators: ArrayLike,
    *,
    side: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    model: str = "full",
) -> AnnotatorEstimates:
    """Fit the model of annotators to answers and predicted differences.

    On a continuous scale, answers at the ends are first used as they are, and then as "at least this much": their
    expectation and the estimates alternate. The version is used whose predicted answers have the smaller squared error.

    Parameters
    ----------
    d, c, annotators, side, weight
        As in :meth:`AnswerSums.of`.
    model : {"pooled", "scale", "full"}
        As in :func:`estimate_annotators`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> d = rng.uniform(-1, 1, 4000)
    >>> who = np.arange(4000) % 2
    >>> c = np.clip(np.array([0.5, 1.5])[who] * d + 0.2 * rng.normal(size=4000), -1, 1)
    >>> fit_annotators(d, c, who).scale.round(1)
    array([0.5, 1.5])
    """
    difference = np.asarray(d, dtype=np.float64)
    answers = np.asarray(c, dtype=np.float64)

    def estimate(values: RealArray, variance: RealArray | None = None) -> AnnotatorEstimates:
        sums = AnswerSums.of(difference, values, annotators, side=side, weight=weight, variance=variance)
        estimates = estimate_annotators(sums, model)
        spread = float(np.sqrt(sums.dd.sum() / sums.weight.sum())) * estimates.slope
        return replace(estimates, difference_spread=max(spread, 0.0))

    plain = estimate(answers)
    if plain.model == "pooled" or not may_be_censored(answers):
        return plain
    censored = replace(plain, is_censored=True)
    for _ in range(_ROUNDS):
        latent = censored.latent(answers, annotators, side, censored.slope * difference)
        censored = replace(estimate(*latent), is_censored=True)
        if censored.model == "pooled":
            return plain
    w = np.ones(len(answers)) if weight is None else np.asarray(weight, dtype=np.float64)

    def squared_error(estimates: AnnotatorEstimates) -> float:
        predicted = estimates.predict(estimates.slope * difference, annotators, side)
        return float(w @ np.square(predicted - answers))

    return min(plain, censored, key=squared_error)
