r"""Learn the spread of the scores and the noise by marginal likelihood (empirical Bayes).

Symbols as in :mod:`confdiff.ranking.design`, and the ridge :math:`\lambda = v / t^2`. Scores and side bias (with a flat
prior) are integrated out, so that c is normal with the covariance :math:`v (W^{-1} + B B' / \lambda)`, where B is the
incidence matrix. All terms are sums over eigenvalues of the Laplacian, which are computed once for all ridges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from confdiff.ranking.blocks import ComponentBlock, Quadrature
from confdiff.ranking.design import ComparisonDesign

_Floats = NDArray[np.float64]
_LOG_RIDGES = np.log(10) * np.linspace(-6, 6, 61)
_LOG_RIDGE_MEAN = np.log(0.1)  # of the prior of log ridge, which is normal and matters for few comparisons only
_LOG_RIDGE_SPREAD = 1.5  # wider ones read three comparisons in a sorted chain as noise, and reverse an order
_PRIOR_COUNT = 1.0  # comparisons that the prior of the noise is worth
_PRIOR_NOISE = 0.1  # variance of the noise a priori, relative to the mean square of the differences
_LEAST_NOISE = 1e-8


@dataclass(frozen=True)
class Estimates:
    """The parameters that all items share.

    Attributes
    ----------
    ridge : float
        Variance of the noise relative to that of the scores.
    noise : float
        Variance v of the noise of a comparison of weight 1.
    side_bias : float
        Bias b towards the item shown second; 0 if no side is declared.
    side_bias_variance : float
        Its variance.
    degrees_of_freedom : float
        Degrees of freedom of the estimate of the noise.
    """

    ridge: float
    noise: float
    side_bias: float
    side_bias_variance: float
    degrees_of_freedom: float

    @property
    def spread(self) -> float:
        """Variance of the scores a priori."""
        return self.noise / self.ridge


class RidgeEvidence:
    """The marginal likelihood of comparisons as a function of the ridge.

    Parameters
    ----------
    design : ComparisonDesign
        The comparisons.
    blocks : sequence of ComponentBlock
        The connected components.
    rng : Generator
        For the stochastic estimate of a determinant in large components.
    """

    def __init__(self, design: ComparisonDesign, blocks: Sequence[ComponentBlock], rng: np.random.Generator) -> None:
        sums = design.sums(design.c)
        self._count = int(np.count_nonzero(design.weight))
        self._square = float(design.weight @ design.c**2)
        self._trace = _joined([block.trace(rng) for block in blocks])
        self._form = _joined([block.form(sums[block.rows], sums[block.rows]) for block in blocks])
        self._prior_noise = max(_PRIOR_NOISE * self._square / self._count, _LEAST_NOISE)
        self._has_side = design.side is not None and bool(np.any(design.side))
        if design.side is not None and self._has_side:
            side_sums = design.sums(design.side)
            self._side_square = float(design.weight @ design.side**2)
            self._side_product = float(design.weight @ (design.side * design.c))
            self._side_form = _joined([block.form(side_sums[block.rows], side_sums[block.rows]) for block in blocks])
            self._cross_form = _joined([block.form(side_sums[block.rows], sums[block.rows]) for block in blocks])

    def maximise(self) -> Estimates:
        """Return the estimates for the ridge of the largest marginal likelihood."""
        from scipy.optimize import minimize_scalar

        values = [self.loss(log_ridge) for log_ridge in _LOG_RIDGES]
        best = int(np.argmin(values))
        low = _LOG_RIDGES[max(best - 1, 0)]
        high = _LOG_RIDGES[min(best + 1, len(_LOG_RIDGES) - 1)]
        result = minimize_scalar(self.loss, bounds=(low, high), method="bounded", options={"xatol": 1e-4})
        return self.estimates(float(np.exp(result.x)))

    def loss(self, log_ridge: float) -> float:
        """Return minus twice the logarithm of the marginal likelihood, up to a constant."""
        ridge = float(np.exp(log_ridge))
        square, side_square, _ = self._residuals(ridge)
        degrees = self._degrees_of_freedom
        determinant = self._trace.weights @ np.log1p(self._trace.nodes / ridge)
        loss = degrees * np.log(square + _PRIOR_COUNT * self._prior_noise) + determinant
        loss += np.log(side_square) if self._has_side else 0.0
        return float(loss + ((log_ridge - _LOG_RIDGE_MEAN) / _LOG_RIDGE_SPREAD) ** 2)

    def estimates(self, ridge: float) -> Estimates:
        """Return the noise and the side bias, given the ridge."""
        square, side_square, side_bias = self._residuals(ridge)
        degrees = self._degrees_of_freedom
        noise = (square + _PRIOR_COUNT * self._prior_noise) / degrees
        return Estimates(
            ridge=ridge,
            noise=noise,
            side_bias=side_bias,
            side_bias_variance=noise / side_square if self._has_side else 0.0,
            degrees_of_freedom=degrees,
        )

    @property
    def _degrees_of_freedom(self) -> float:
        return max(self._count - self._has_side, 0) + _PRIOR_COUNT

    def _residuals(self, ridge: float) -> tuple[float, float, float]:
        """Return the generalised sum of squares of the residuals, that of the side, and the side bias."""
        square = self._square - _inverse(self._form, ridge)
        if not self._has_side:
            return max(square, 0.0), 0.0, 0.0
        side_square = max(self._side_square - _inverse(self._side_form, ridge), 1e-9 * self._side_square)
        product = self._side_product - _inverse(self._cross_form, ridge)
        return max(square - product**2 / side_square, 0.0), side_square, product / side_square


def _joined(quadratures: Sequence[Quadrature]) -> Quadrature:
    return Quadrature(
        nodes=np.concatenate([quadrature.nodes for quadrature in quadratures]),
        weights=np.concatenate([quadrature.weights for quadrature in quadratures]),
    )


def _inverse(quadrature: Quadrature, ridge: float) -> float:
    """Return the form or trace of the inverse of L + ridge I."""
    return float(quadrature.weights @ (1 / (quadrature.nodes + ridge)))
