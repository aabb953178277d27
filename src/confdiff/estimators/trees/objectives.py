r"""Objectives of boosted trees: gradient and Hessian of a risk by the score of each item.

Items are stored once, so the gradients of all pairs of an item are added up. Symbols: :math:`F` the scores of the
items, (N,) or (N, K) for K classes, :math:`p` their probabilities, :math:`q = p (1 - p)`, :math:`a, b` the first and
the second item of a pair with the difference :math:`c`. Values are n times the risks of :mod:`confdiff.risks`, for
weights of mean 1.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from scipy.special import expit, log_expit, log_softmax, softmax

from confdiff.corrections import Correction
from confdiff.estimators.trees.ends import Ends, Floats

Derivatives = tuple[Floats, Floats]
"""Gradient and diagonal of the Hessian (an approximation above 0), in the shape of the scores."""

_NO_CURVATURE = 1e-9
_LEAST_CURVATURE = 1e-3  # per pair of an item; it limits the steps of items whose probability is near 0 or 1


class Objective(Protocol):
    """A risk of the scores of items."""

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian."""


@dataclass(frozen=True)
class ProbabilityDifference:
    r"""Squared error of the differences of probabilities, and of their mean if a prior is given.

    .. math:: \sum w (p_b - p_a - c)^2 + n (\bar p - \pi)^2

    The Hessian is that of Gauss and Newton without its entries for two different items.
    """

    ends: Ends
    c: Floats
    prior: float | None = None

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""
        p = expit(scores)
        error = p[self.ends.right] - p[self.ends.left] - self.c
        return float(self.ends.error_weight @ error**2) + self.ends.n_pairs * self._excess(p) ** 2

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian."""
        ends = self.ends
        p = expit(scores)
        q = p * (1 - p)
        degrees = ends.degrees
        slope = 2 * ends.error_weight * (p[ends.right] - p[ends.left] - self.c)
        gradient = q * (ends.sums(-slope, slope) + self._excess(p) * degrees)
        return gradient, _positive(ends.error_degrees) * np.maximum(2 * q**2, _LEAST_CURVATURE)

    def _excess(self, p: Floats) -> float:
        """Return the mean probability of both items of the pairs minus the prior, 0 without one."""
        if self.prior is None:
            return 0.0
        return float(self.ends.degrees @ p) / (2 * self.ends.n_pairs) - self.prior


@dataclass(frozen=True)
class ClassDifferences:
    r"""Squared error of the differences of the probabilities of K classes, and of their means if priors are given.

    .. math:: \tfrac12 \sum w \lVert p_b - p_a - c \rVert^2 + \tfrac n2 \lVert \bar p - \pi \rVert^2

    The Hessian is scaled by K / (K - 1), because the trees of all classes move the same probabilities.
    """

    ends: Ends
    c: Floats
    prior: Floats | None = None

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""
        p = softmax(scores, axis=1)
        error = p[self.ends.right] - p[self.ends.left] - self.c
        squares = float(self.ends.weight @ (error**2).sum(axis=1))
        return (squares + self.ends.n_pairs * float((self._excess(p) ** 2).sum())) / 2

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian."""
        ends = self.ends
        p = softmax(scores, axis=1)
        degrees = ends.degrees[:, None]
        slope = ends.weight[:, None] * (p[ends.right] - p[ends.left] - self.c)
        by_probability = ends.sums(-slope, slope) + self._excess(p) * degrees / 2
        gradient = p * (by_probability - (by_probability * p).sum(axis=1, keepdims=True))
        others = (p**2).sum(axis=1, keepdims=True) - p**2
        curvature = p**2 * ((1 - p) ** 2 + others)
        scale = p.shape[1] / (p.shape[1] - 1)
        return gradient, scale * degrees * np.maximum(curvature, _LEAST_CURVATURE)

    def _excess(self, p: Floats) -> Floats:
        if self.prior is None:
            return np.zeros(p.shape[1])
        mean: Floats = self.ends.degrees @ p / (2 * self.ends.n_pairs)
        return mean - self.prior


@dataclass(frozen=True)
class Preference:
    r"""Cross-entropy of the probability :math:`s = \sigma(F_b - F_a)` with the target :math:`(1 + c)/2`."""

    ends: Ends
    c: Floats

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""
        margin = scores[self.ends.right] - scores[self.ends.left]
        target = (1 + self.c) / 2
        losses = -target * log_expit(margin) - (1 - target) * log_expit(-margin)
        return float(self.ends.error_weight @ losses)

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian."""
        ends = self.ends
        s = expit(scores[ends.right] - scores[ends.left])
        slope = ends.error_weight * (s - (1 + self.c) / 2)
        curvature = ends.error_weight * np.maximum(s * (1 - s), _LEAST_CURVATURE)
        return ends.sums(-slope, slope), _positive(ends.sums(curvature, curvature))


@dataclass(frozen=True)
class ScoreDifference:
    r"""Squared error of the differences of scores, :math:`\sum w (F_b - F_a - c)^2`."""

    ends: Ends
    c: Floats

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""
        return float(self.ends.error_weight @ self._errors(scores) ** 2)

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian."""
        slope = 2 * self.ends.error_weight * self._errors(scores)
        return self.ends.sums(-slope, slope), 2 * _positive(self.ends.error_degrees)

    def _errors(self, scores: Floats) -> Floats:
        errors: Floats = scores[self.ends.right] - scores[self.ends.left] - self.c
        return errors


@dataclass(frozen=True)
class CrossEntropy:
    r"""Corrected partial risks with the logistic loss: :math:`\sum_j f(\sum_i t_{ij} \ell(F_i, k))`.

    The targets of both items of a pair may lie outside of [0, 1]: of ConfDiff they are :math:`\pi_k \mp c_k`, of
    supervised learning the posteriors or labels. There is one partial risk for each class of the first and of the
    second items. For two classes the scores are (N,), and the targets have the columns of both classes all the same.

    Attributes
    ----------
    left, right : array of shape (n, K)
        The targets of the first and of the second items.
    correction : callable
        The correction f of tensors.
    slope : callable
        Its derivative, of arrays.
    """

    ends: Ends
    left: Floats
    right: Floats
    correction: Correction
    slope: Callable[[Floats], Floats]

    def value(self, scores: Floats) -> float:
        """Return n times the risk."""
        return float(self.correction(torch.from_numpy(self._partial_sums(_log_probabilities(scores)))).sum())

    def derivatives(self, scores: Floats) -> Derivatives:
        """Return the gradient and the diagonal of the Hessian; the latter is that of uncorrected risks."""
        weight = self.ends.weight[:, None] / 2
        log_p = _log_probabilities(scores)
        slopes = self.slope(self._partial_sums(log_p))
        targets = self.ends.sums(weight * self.left * slopes[0], weight * self.right * slopes[1])
        p = np.exp(log_p)
        gradient = p * targets.sum(axis=1, keepdims=True) - targets
        degrees = self.ends.degrees[:, None] / 2
        hessian = degrees * np.maximum(p * (1 - p), _LEAST_CURVATURE)
        if scores.ndim == 1:
            return gradient[:, 1], hessian[:, 1]
        return gradient, hessian * p.shape[1] / (p.shape[1] - 1)

    def _partial_sums(self, log_p: Floats) -> Floats:
        """Return n times the partial risks, (2, K), from the logarithms of the probabilities of items."""
        losses = -log_p
        ends = self.ends
        of_left = ends.weight @ (self.left * losses[ends.left])
        of_right = ends.weight @ (self.right * losses[ends.right])
        return np.stack([of_left, of_right]) / 2


def _positive(curvature: Floats) -> Floats:
    """Return the curvature with a small value for items whose pairs all have the precision 0."""
    return np.maximum(curvature, _NO_CURVATURE)


def _log_probabilities(scores: Floats) -> Floats:
    """Return the logarithms of the probabilities of both or of K classes, (N, K)."""
    if scores.ndim == 1:
        return np.stack([log_expit(-scores), log_expit(scores)], axis=1)
    log_p: Floats = log_softmax(scores, axis=1)
    return log_p
