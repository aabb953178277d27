r"""The posterior of scales and side biases, for given spreads and noise.

The answers of annotator a are :math:`c = s_a d + b_a z + e` with :math:`e \sim N(0, v_a)`, and the prior is
:math:`s_a \sim N(\mu, t_s)`, :math:`b_a \sim N(0, t_b)` with a flat prior of :math:`\mu`. Let A be the matrix of the
sums of :math:`(d, z)` products divided by :math:`v_a`, h that of the products with c, and D the diagonal matrix of
:math:`(t_s, t_b)`. Then :math:`W = A (I + D A)^{-1}` is the precision of the least-squares estimate as an observation
of :math:`(\mu, 0)`. All formulas hold for singular A and D.
"""

from dataclasses import dataclass

import numpy as np

from confdiff.annotators.sums import AnswerSums, RealArray


@dataclass(frozen=True, eq=False)
class Posterior:
    """Normal posteriors of scales and biases; spreads of shape (G, 1) give arrays of shape (G, A).

    Attributes
    ----------
    log_evidence : array of shape (G,) or ()
        Log density of all answers with scales, biases and the mean scale integrated out, up to a constant.
    mean_scale : array of shape (G, 1) or (1,)
        The posterior mean of the mean scale.
    scale, bias : arrays
        Posterior means.
    scale_variance, bias_variance, covariance : arrays
        Posterior (co)variances given the mean scale.
    """

    log_evidence: RealArray
    mean_scale: RealArray
    scale: RealArray
    bias: RealArray
    scale_variance: RealArray
    bias_variance: RealArray
    covariance: RealArray

    def squared_error(self, sums: AnswerSums) -> RealArray:
        """Return the posterior expectation of the sum of squared errors of each annotator."""
        s, b = self.scale, self.bias
        at_means = sums.cc - 2 * s * sums.dc - 2 * b * sums.zc + s * s * sums.dd + 2 * s * b * sums.dz + b * b * sums.zz
        spread = self.scale_variance * sums.dd + 2 * self.covariance * sums.dz + self.bias_variance * sums.zz
        return np.maximum(at_means, 0.0) + spread


def posterior_of(
    sums: AnswerSums, noise: RealArray, scale_spread: RealArray | float, bias_spread: RealArray | float
) -> Posterior:
    """Return the posterior for these spreads (standard deviations) and noise variances.

    Parameters
    ----------
    sums : AnswerSums
        Sums for weights with mean 1.
    noise : array of shape (A,)
        Noise variances.
    scale_spread, bias_spread : float or array of shape (G, 1)
        Standard deviations of the priors.
    """
    ts = np.square(scale_spread)
    tb = np.square(bias_spread)
    a11, a12, a22 = sums.dd / noise, sums.dz / noise, sums.zz / noise
    h1, h2 = sums.dc / noise, sums.zc / noise
    determinant = (1 + a11 * ts) * (1 + a22 * tb) - a12 * a12 * ts * tb
    g1 = ((1 + a22 * tb) * h1 - a12 * tb * h2) / determinant
    g2 = ((1 + a11 * ts) * h2 - a12 * ts * h1) / determinant
    w11 = ((1 + a22 * tb) * a11 - a12 * a12 * tb) / determinant
    w12 = a12 / determinant
    w22 = ((1 + a11 * ts) * a22 - a12 * a12 * ts) / determinant
    information = np.maximum(w11.sum(axis=-1, keepdims=True), 1e-300)
    mu = g1.sum(axis=-1, keepdims=True) / information
    explained = ts * h1 * g1 + tb * h2 * g2
    quadratic = (np.log(determinant) - explained + sums.cc / noise + sums.weight * np.log(noise)).sum(axis=-1)
    by_mean = information[..., 0] * mu[..., 0] ** 2 - np.log(information[..., 0])
    return Posterior(
        log_evidence=(by_mean - quadratic) / 2,
        mean_scale=mu,
        scale=mu + ts * (g1 - w11 * mu),
        bias=tb * (g2 - w12 * mu),
        scale_variance=np.maximum(ts - ts * ts * w11, 0.0),
        bias_variance=np.maximum(tb - tb * tb * w22, 0.0),
        covariance=-ts * tb * w12,
    )
