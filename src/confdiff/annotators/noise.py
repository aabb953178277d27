"""The noise of annotators: inverse-gamma variances around a common one, whose concentration is learned."""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from confdiff.annotators.sums import RealArray

_SPREAD = np.linspace(0.0, 1.4, 36)  # of the logarithm of variances, roughly; 0: all annotators have the same noise
_SAME = 1e9  # answers that the prior is worth if all annotators have the same noise
_PRIOR_ANSWERS = 2 / np.maximum(np.square(_SPREAD), 2 / _SAME)
_STEPS = 30
_LEAST_VARIANCE = 1e-6  # the answers of an annotator may be exact


@dataclass(frozen=True)
class NoisePrior:
    """The prior of noise variances: ``answers * variance`` divided by a chi-squared variable.

    Attributes
    ----------
    variance : float
        The common variance.
    answers : float
        The number of answers that the prior is worth.
    """

    variance: float
    answers: float

    def update(self, squared_error: RealArray, count: RealArray) -> RealArray:
        """Return the variance of each annotator: the inverse of the posterior mean of the precision."""
        pooled = (self.answers * self.variance + squared_error) / (self.answers + count)
        return np.maximum(pooled, _LEAST_VARIANCE)


def common_noise(squared_error: RealArray, count: RealArray) -> NoisePrior:
    """Return the prior in which all annotators have the same variance."""
    variance = float(squared_error.sum() / max(count.sum(), 1.0))
    return NoisePrior(variance=max(variance, _LEAST_VARIANCE), answers=_SAME)


def learn_noise(squared_error: RealArray, count: RealArray) -> NoisePrior:
    """Return the prior that these sums of squared errors suggest.

    Given the variance, a sum of n squared errors is the variance times a chi-squared variable with n degrees of
    freedom. Its marginal density is computed on a grid of spreads, with the best common variance for each of them. The
    result is the mean over the spreads, which have a flat prior, so that few answers do not exclude a spread.

    Parameters
    ----------
    squared_error : array of shape (A,)
        Sums of squared errors.
    count : array of shape (A,)
        Their degrees of freedom.

    Examples
    --------
    >>> prior = learn_noise(np.array([10.0, 10.0, 1.0, 1.0]), np.array([100.0, 100.0, 100.0, 100.0]))
    >>> bool(prior.update(np.array([10.0, 1.0]), np.array([100.0, 100.0])).round(2).tolist() == [0.1, 0.01])
    True
    """
    error = np.maximum(squared_error, _LEAST_VARIANCE * count)
    nu = _PRIOR_ANSWERS[:, None]
    variance = np.full_like(nu, max(error.sum() / max(count.sum(), 1.0), _LEAST_VARIANCE))
    for _ in range(_STEPS):
        precision = (nu + count) / (nu * variance + error)
        variance = 1 / precision.mean(axis=1, keepdims=True)
    half = nu / 2
    log_density = gammaln(half + count / 2) - gammaln(half) + half * np.log(nu * variance)
    log_density = log_density - (half + count / 2) * np.log(nu * variance + error)
    log_density[0] = -count / 2 * np.log(2 * variance[0]) - error / (2 * variance[0])  # the limit of large nu
    total = log_density.sum(axis=1)
    probability = np.exp(total - total.max())
    probability /= probability.sum()
    spread = float(probability @ _SPREAD)
    answers = float(np.clip(2 / spread**2, 1.0, _SAME)) if spread > 0 else _SAME
    return NoisePrior(variance=float(np.exp(probability @ np.log(variance[:, 0]))), answers=answers)
