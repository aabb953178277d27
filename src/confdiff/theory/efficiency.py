r"""Asymptotic variances of a logistic model that is learned from differences, and fits on samples to compare with them.

Symbols: :math:`\varphi` the features of an item, :math:`r = \sigma(\theta^\top \varphi)` its posterior,
:math:`q = r (1 - r)`, and :math:`s^2(x, x')` the variance of noise of mean zero in the difference of a pair. The
estimates are consistent, so :math:`n\,\mathrm{Cov}(\hat\theta) \to A^{-1} S A^{-1}` with the expected curvature
:math:`A` and the covariance :math:`S` of the gradient of one pair, both at the truth. Expectations are sums over all
pairs of points.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from confdiff.theory.regression_risks import pair_sums
from confdiff.theory.simulation import FloatArray, Sample, World

_Objective = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]
"""weights -> (value, gradient, curvature)."""


def features(world: World) -> FloatArray:
    """Return the features of the points: a constant and the coordinates, (k, 3)."""
    return np.column_stack([np.ones(len(world.mass)), world.points])


def logistic_world(world: World, weights: tuple[float, float, float]) -> World:
    """Return the distribution with posteriors of a logistic model with these weights of the features."""
    return replace(world, posteriors=_sigmoid(features(world) @ np.array(weights)))


def label_noise(world: World) -> FloatArray:
    """Return the variance of label differences y' - y around c, (k, k)."""
    slopes = _slopes(world)
    return slopes[:, None] + slopes


def regression_covariance(world: World, noise: FloatArray, *, prior_weight: float = 1.0) -> FloatArray:
    r"""Return the limit of :math:`n\,\mathrm{Cov}(\hat\theta)` for difference regression, (3, 3).

    With :math:`u = p' - p`, the gradient :math:`\nabla u = q' \varphi' - q \varphi`, and :math:`a = E q \varphi`:

    .. math:: A = E \nabla u \nabla u^\top + w a a^\top, \qquad
        S = E s^2 \nabla u \nabla u^\top + \tfrac12 w^2 \mathrm{Var}(r)\, a a^\top

    Parameters
    ----------
    world : World
        Distribution with logistic posteriors.
    noise : ndarray of shape (k, k)
        Variance of the noise of each pair of points.
    prior_weight : float
        Weight w of the term of the prior: 1 in the library, 0 without a prior.
    """
    gradients = _slopes(world)[:, None] * features(world)
    mean = world.mass @ gradients
    from_prior = np.outer(mean, mean)
    differences = gradients[None] - gradients[:, None]
    pairs = np.outer(world.mass, world.mass)
    curvature = _second_moment(pairs, differences) + prior_weight * from_prior
    score = _second_moment(pairs * noise, differences) + prior_weight**2 * world.posterior_variance / 2 * from_prior
    return _sandwich(curvature, score)


def unbiased_covariance(world: World, noise: FloatArray) -> FloatArray:
    r"""Return the limit of :math:`n\,\mathrm{Cov}(\hat\theta)` for the unbiased risk with the logistic loss, (3, 3).

    .. math:: A = E q \varphi \varphi^\top, \qquad
        S = \tfrac14 E v v^\top + \tfrac14 E s^2 (\varphi' - \varphi)(\varphi' - \varphi)^\top, \qquad
        v = (r' - \pi) \varphi + (r - \pi) \varphi'

    Parameters as in :func:`regression_covariance`.
    """
    phi = features(world)
    centred = world.posteriors - world.prior
    pairs = np.outer(world.mass, world.mass)
    exact = centred[None, :, None] * phi[:, None] + centred[:, None, None] * phi[None]
    score = _second_moment(pairs, exact) / 4 + _second_moment(pairs * noise, phi[None] - phi[:, None]) / 4
    curvature = phi.T @ ((world.mass * _slopes(world))[:, None] * phi)
    return _sandwich(curvature, score)


def limiting_error(world: World, covariance: FloatArray) -> float:
    r"""Return the limit of :math:`n E (\hat p - r)^2` for estimates with this covariance."""
    gradients = _slopes(world)[:, None] * features(world)
    return float(world.mass @ ((gradients @ covariance) * gradients).sum(axis=1))


def best_prior_weight(world: World, noise_variance: float) -> float:
    r"""Return the weight of the prior with the least asymptotic variance, :math:`2 s^2 / \mathrm{Var}(r)`.

    It holds if the noise has the same variance :math:`s^2` for all pairs (Proposition 2).
    """
    return 2 * noise_variance / world.posterior_variance


def fit_regression(world: World, sample: Sample, *, prior_weight: float = 1.0) -> FloatArray:
    """Return the probabilities of the points under the logistic model with the least risk near the truth, (k,)."""
    counts, occurrences, pull = pair_sums(world, sample)
    laplacian = np.diag(occurrences) - counts - counts.T
    per_item = occurrences / occurrences.sum()
    n = len(sample)
    phi = features(world)

    def objective(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        p = _sigmoid(phi @ weights)
        offset = per_item @ p - world.prior
        value = p @ (laplacian @ p - 2 * pull) / n + prior_weight * offset**2
        by_point = 2 * (laplacian @ p - pull) / n + 2 * prior_weight * offset * per_item
        jacobian = (p * (1 - p))[:, None] * phi
        curvature = 2 * laplacian / n + 2 * prior_weight * np.outer(per_item, per_item)
        return float(value), by_point @ jacobian, jacobian.T @ curvature @ jacobian

    return _sigmoid(phi @ _descend(objective, _true_weights(world)))


def fit_unbiased(world: World, sample: Sample) -> FloatArray:
    """Return the probabilities of the points under the logistic model with the least unbiased risk, (k,)."""
    _, occurrences, pull = pair_sums(world, sample)
    targets = world.prior * occurrences + pull
    n = len(sample)
    phi = features(world)

    def objective(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        g = phi @ weights
        p = _sigmoid(g)
        value = (occurrences @ np.logaddexp(0, g) - targets @ g) / (2 * n)
        gradient = (occurrences * p - targets) @ phi / (2 * n)
        return float(value), gradient, phi.T @ ((occurrences * p * (1 - p))[:, None] * phi) / (2 * n)

    return _sigmoid(phi @ _descend(objective, _true_weights(world)))


def _descend(objective: _Objective, weights: FloatArray) -> FloatArray:
    """Minimise by Newton's method, or that of Gauss and Newton, with halved steps where the value would rise."""
    value, gradient, curvature = objective(weights)
    for _ in range(100):
        step = np.linalg.solve(curvature, gradient)
        if gradient @ step < 1e-20:
            break
        size = 1.0
        while (trial := objective(weights - size * step))[0] > value and size > 1e-6:
            size /= 2
        if trial[0] > value:
            break
        weights = weights - size * step
        value, gradient, curvature = trial
    return weights


def _true_weights(world: World) -> FloatArray:
    logits = np.log(world.posteriors / (1 - world.posteriors))
    weights: FloatArray = np.linalg.lstsq(features(world), logits, rcond=None)[0].astype(np.float64)
    return weights


def _slopes(world: World) -> FloatArray:
    return world.posteriors * (1 - world.posteriors)


def _sigmoid(g: FloatArray) -> FloatArray:
    probabilities: FloatArray = 1 / (1 + np.exp(-g))
    return probabilities


def _second_moment(weights: FloatArray, vectors: FloatArray) -> FloatArray:
    """Return the weighted sum of the outer squares of vectors, (k, k, d) -> (d, d)."""
    flat = vectors.reshape(-1, vectors.shape[-1])
    return flat.T @ (weights.reshape(-1, 1) * flat)


def _sandwich(curvature: FloatArray, score: FloatArray) -> FloatArray:
    inverse = np.linalg.inv(curvature)
    return inverse @ score @ inverse
