"""The steepness of probabilities: rescale the scores of a linear model by labels or same-class answers.

A penalised model of noisy answers is timid: its probabilities are nearer to the class prior than those of the items.
"""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from confdiff.annotators import ScaleEvidence
from confdiff.estimators.linear.design import Vector
from confdiff.estimators.linear.solving import Solution
from confdiff.prior.shape import offset_at

_LOG_SPREAD = 0.35  # prior standard deviation of the logarithm of the factor
_FACTORS = np.exp(np.linspace(-1.2, 1.2, 49))
_LEAST = 1e-4  # the least probability of a label or an answer


def rescaled(solution: Solution, scores: Vector, weight: Vector, prior: float, evidence: ScaleEvidence) -> Solution:
    """Return a solution whose scores are multiplied by the factor that labels and same-class answers suggest.

    The factor is the posterior mean of its logarithm, whose prior is centred at 0. The mean probability of the items
    remains the class prior.

    Parameters
    ----------
    solution : Solution
        The weights, and the offset at the centre of the features.
    scores : array of shape (N,)
        Scores of the items without the offset.
    weight : array of shape (N,)
        Weights of the items in the mean probability.
    prior : float
        Class prior.
    evidence : ScaleEvidence
        Labels and answers, with the scores of their items without the offset.

    Examples
    --------
    >>> scores = np.linspace(-1, 1, 200)
    >>> none = np.zeros(0)
    >>> labels = (scores > 0).astype(float)
    >>> evidence = ScaleEvidence(scores, labels, first=none, second=none, same=none, weight=none)
    >>> flat = Solution(w=np.ones(1), b=0.0, n_iter=1, value=0.0, slope=0.0, message="")
    >>> bool(rescaled(flat, scores, np.ones(200), 0.5, evidence).w[0] > 2)
    True
    """
    offsets = np.array([offset_at(factor * scores, prior, weight) for factor in _FACTORS])
    total = np.array([_log_likelihood(evidence, *point) for point in zip(_FACTORS, offsets, strict=True)])
    total -= np.square(np.log(_FACTORS) / _LOG_SPREAD) / 2
    probability = np.exp(total - total.max())
    factor = float(np.exp(probability @ np.log(_FACTORS) / probability.sum()))
    return replace(solution, w=factor * solution.w, b=offset_at(factor * scores, prior, weight))


def _log_likelihood(evidence: ScaleEvidence, factor: float, offset: float) -> float:
    """Return the log-likelihood of labels and answers for these scores times a factor, plus an offset."""
    p = expit(factor * evidence.first + offset)
    p_prime = expit(factor * evidence.second + offset)
    of_labels = _bernoulli(expit(factor * evidence.scores + offset), evidence.labels)
    of_answers = _bernoulli(p * p_prime + (1 - p) * (1 - p_prime), evidence.same)
    return float(of_labels.sum() + evidence.weight @ of_answers)


def _bernoulli(probability: Vector, outcome: Vector) -> Vector:
    """Return the log-likelihood of each outcome, which may be a probability itself."""
    likely = np.clip(probability, _LEAST, 1 - _LEAST)
    likelihood: Vector = outcome * np.log(likely) + (1 - outcome) * np.log1p(-likely)
    return likelihood
