r"""Determine the scale that annotators share by labelled items or same-class answers.

Answers determine the differences of posteriors up to a factor: with scores f in the units of an average annotator,
:math:`r = \pi + (f - \bar f) / \kappa`, where :math:`\kappa` is the scale of this annotator. The expectation of a label
is r, and that of an answer "same class" is :math:`r r' + (1 - r)(1 - r')`. Both are fitted by least squares, as the
slope of the answers on f is: the ratio of the two slopes is then correct even if r is not linear in f. The prior
of :math:`\kappa` is centred at 1, so that few labels do not move it far.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from confdiff.annotators.estimates import CommonScale
from confdiff.annotators.sums import RealArray

_LOG_SPREAD = 0.25  # prior standard deviation of log(kappa)
_SCALES = np.exp(np.linspace(-1.0, 1.0, 81))
_PRIORS = np.linspace(0.02, 0.98, 49)
_LEAST_VARIANCE = 0.02  # of labels and answers


@dataclass(frozen=True, eq=False)
class ScaleEvidence:
    """Scores of items with labels or same-class answers, of one model.

    Attributes
    ----------
    scores : array of shape (m,)
        Scores of labelled items, in the units of an average annotator; the mean over all items is 0.
    labels : array of shape (m,)
        0 or 1.
    first, second : arrays of shape (k,)
        Scores of the items of same-class answers.
    same : array of shape (k,)
        The answers: probabilities, or 0 and 1.
    weight : array of shape (k,)
        Weights of the answers.
    """

    scores: RealArray
    labels: RealArray
    first: RealArray
    second: RealArray
    same: RealArray
    weight: RealArray

    @property
    def source(self) -> CommonScale:
        """What the evidence consists of."""
        if len(self.labels) and len(self.same):
            return "labelled items and same-class answers"
        if len(self.same):
            return "same-class answers"
        return "labelled items" if len(self.labels) else "assumed"

    def log_likelihood(self) -> RealArray:
        """Return the normal log-likelihood of each scale and prior of the grid, (scales, priors)."""
        r = _posteriors(self.scores)
        p = _posteriors(self.first)
        p_prime = _posteriors(self.second)
        q = p * p_prime + (1 - p) * (1 - p_prime)
        total = _log_likelihood(r, self.labels, np.ones(len(self.labels))) + _log_likelihood(q, self.same, self.weight)
        return total.reshape(len(_SCALES), len(_PRIORS))


def _posteriors(scores: RealArray) -> RealArray:
    """Return the posteriors of items for each scale and prior of the grid, (m, scales * priors)."""
    r = scores[:, None, None] / _SCALES[:, None] + _PRIORS
    return np.asarray(r.reshape(len(scores), _SCALES.size * _PRIORS.size))


def _log_likelihood(expected: RealArray, observed: RealArray, weight: RealArray) -> RealArray:
    """Return the normal log-likelihood of each column of expectations, with the variance of the best one."""
    error = weight @ np.square(expected - observed[:, None])
    if not len(observed):
        return error
    variance = max(float(error.min()) / float(weight.sum()), _LEAST_VARIANCE)
    return np.asarray(-error / (2 * variance))


def determine_scale(evidence: Sequence[ScaleEvidence]) -> tuple[float, float]:
    """Return mean and standard deviation of the scale of an average annotator, given labels and same-class answers.

    Parameters
    ----------
    evidence : sequence of ScaleEvidence
        The same labels and answers with the scores of different models; the mean log-likelihood is used.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> r = rng.uniform(0, 1, 4000)
    >>> labels = (rng.uniform(size=4000) < r).astype(float)
    >>> none = np.zeros(0)
    >>> evidence = ScaleEvidence(0.8 * (r - 0.5), labels, first=none, second=none, same=none, weight=none)
    >>> round(determine_scale([evidence])[0], 1)
    0.8
    """
    total = np.mean([part.log_likelihood() for part in evidence], axis=0)
    by_scale = np.log(np.exp(total - total.max()).sum(axis=1) + 1e-300)
    log_density = by_scale - np.square(np.log(_SCALES) / _LOG_SPREAD) / 2
    probability = np.exp(log_density - log_density.max())
    probability /= probability.sum()
    mean = float(probability @ _SCALES)
    error = float(np.sqrt(probability @ np.square(_SCALES - mean)))
    return mean, error
