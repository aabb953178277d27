r"""The risk of difference regression on the simulated distribution, on samples and in expectation.

Symbols as in :mod:`confdiff.theory.regression_bounds`. Both terms of the risk are quadratic in the probabilities of
the points, so the risks of all functions on a sample are matrix products.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import brentq

from confdiff.theory.simulation import FloatArray, Sample, World


def regression_risks(world: World, sample: Sample, *, prior: float | None = None) -> FloatArray:
    r"""Return the two terms of the risk of all functions on a sample, (2, m).

    .. math:: \mathrm{mean}[(p' - p - \bar c)^2], \qquad (\mathrm{mean}[\tfrac12 (p + p')] - \bar\pi)^2

    Parameters
    ----------
    world : World
        Distribution and functions.
    sample : Sample
        Pairs with differences.
    prior : float or None
        Given class prior; ``None`` for the true one.
    """
    n = len(sample)
    p = world.probabilities
    counts, occurrences, pull = pair_sums(world, sample)
    squares = p**2 @ occurrences - 2 * ((p @ counts) * p).sum(axis=1) - 2 * p @ pull + sample.c @ sample.c
    means = p @ occurrences / (2 * n)
    return np.stack([squares / n, (means - (world.prior if prior is None else prior)) ** 2])


def pair_sums(world: World, sample: Sample) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the sums over a sample that determine its risks.

    Returns
    -------
    counts : ndarray of shape (k, k)
        How often each pair of points occurs.
    occurrences : ndarray of shape (k,)
        How often each point occurs, first or second.
    pull : ndarray of shape (k,)
        Sum of the differences of the pairs in which a point is second, minus that of those in which it is first.
    """
    k = len(world.mass)
    counts: FloatArray = np.bincount(sample.left * k + sample.right, minlength=k * k).reshape(k, k).astype(np.float64)
    pull: FloatArray = (np.bincount(sample.right, sample.c, k) - np.bincount(sample.left, sample.c, k)).astype(
        np.float64
    )
    return counts, counts.sum(axis=0) + counts.sum(axis=1), pull


def expected_regression_risks(world: World, *, prior: float | None = None) -> FloatArray:
    r"""Return the expectations of the two terms for exact differences, (2, m).

    .. math:: 2 \mathrm{Var}(p - r), \qquad (E p - \bar\pi)^2

    By Proposition 1, noise of mean zero adds the same number to the first term for all functions. The mean of the
    second term over samples is larger by the bias of Proposition 5.
    """
    errors = world.probabilities - world.posteriors
    means = errors @ world.mass
    variances = errors**2 @ world.mass - means**2
    offsets = means + world.prior - (world.prior if prior is None else prior)
    return np.stack([2 * variances, offsets**2])


def squared_errors(world: World) -> FloatArray:
    r"""Return the mean squared error :math:`E (p - r)^2` of all functions, (m,)."""
    return (world.probabilities - world.posteriors) ** 2 @ world.mass


def label_differences(world: World, sample: Sample, rng: np.random.Generator) -> Sample:
    """Return the pairs with the differences of two drawn labels: noise of mean zero."""
    first, second = (rng.random(len(sample)) < world.posteriors[rows] for rows in (sample.left, sample.right))
    return replace(sample, c=second.astype(np.float64) - first)


def well_specified(world: World) -> World:
    """Return the distribution with posteriors that a function of the class represents: that of the least risk."""
    return replace(world, posteriors=world.probabilities[world.true_risks.argmin()])


def with_functions(world: World, functions: slice | list[int]) -> World:
    """Return the distribution with some of the functions."""
    return replace(world, scores=world.scores[functions])


def noise_shift(mass: FloatArray, bias: FloatArray) -> FloatArray:
    r"""Return the shift h of posteriors to which biased differences are equivalent (Proposition 4).

    .. math:: h(z) = \tfrac12 (E[b \mid x' = z] - E[b \mid x = z])

    Parameters
    ----------
    mass : ndarray of shape (k,)
        Probabilities of the points.
    bias : ndarray of shape (k, k)
        Mean of the given difference minus the true one, :math:`b(x, x')`; one row per first point.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> mass = np.array([0.5, 0.5])
    >>> noise_shift(mass, np.array([[0.0, -0.2], [0.2, 0.0]]))
    array([ 0.1, -0.1])
    >>> noise_shift(mass, np.full((2, 2), 0.3))
    array([0., 0.])
    """
    shift: FloatArray = (mass @ bias - bias @ mass) / 2
    return shift


def wrong_prior_shift(mass: FloatArray, posteriors: FloatArray, prior_error: float) -> float:
    r"""Return the K for which :math:`\mathrm{clip}(r + K, 0, 1)` minimises the risk with a wrong prior (Proposition 4).

    .. math:: 2 K = \bar\pi - \pi + E\, \mathrm{clip}(K, -r, 1 - r)

    Parameters
    ----------
    mass, posteriors : ndarray of shape (k,)
        Probabilities of the points, and their posteriors.
    prior_error : float
        :math:`\bar\pi - \pi`.

    Examples
    --------
    >>> round(wrong_prior_shift(np.array([0.5, 0.5]), np.array([0.3, 0.6]), 0.1), 4)
    0.1
    >>> round(wrong_prior_shift(np.array([0.5, 0.5]), np.array([0.0, 1.0]), 0.15), 4)
    0.1
    """
    if prior_error == 0:
        return 0.0

    def excess(shift: float) -> float:
        return float(2 * shift - prior_error - mass @ np.clip(shift, -posteriors, 1 - posteriors))

    return float(brentq(excess, min(0.0, 2 * prior_error), max(0.0, 2 * prior_error), xtol=1e-14))
