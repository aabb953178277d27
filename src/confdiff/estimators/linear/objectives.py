r"""Objectives of linear models of pairs: a mean over pairs plus an L2 penalty, with the gradient.

Symbols: :math:`w` weights, :math:`b` offset, :math:`g = w x + b` and :math:`g'` the scores of a pair, :math:`u = g' -
g`, :math:`c` the observed difference, :math:`\sigma` the logistic function, :math:`\pi` the class prior.

==========  ===========  =======================================================================  ======
function    link         mean over the pairs of                                                   convex
==========  ===========  =======================================================================  ======
unbiased    probability  cross-entropy of g and g' with the targets :math:`\pi - c, \pi + c`      yes
regression  probability  :math:`(\sigma(g') - \sigma(g) - c)^2`, plus a term for a given prior    no
preference  preference   cross-entropy of u with the target :math:`(1 + c) / 2`                   yes
score       score        :math:`(u - c)^2 / 2`                                                    yes
==========  ===========  =======================================================================  ======
"""

import numpy as np

from confdiff.estimators.linear.design import Design, Vector


def logistic_function(z: Vector) -> Vector:
    """Return the logistic function."""
    from scipy.special import expit

    p: Vector = expit(z)
    return p


def unbiased(point: Vector, design: Design, ridge: Vector, prior: float) -> tuple[float, Vector]:
    """Return the unbiased risk with the logistic loss and its gradient; ``point`` holds the weights and the offset."""
    w = point[:-1]
    g = design.scores(w) + point[-1]
    loss = np.logaddexp(0, g)
    p = logistic_function(g)
    value = (ridge * w) @ w / 2
    slopes = []
    for rows, target in ((design.left, prior - design.c), (design.right, prior + design.c)):
        value += design.weight @ (loss[rows] - target * g[rows]) / 2
        slopes.append(design.weight * (p[rows] - target) / 2)
    item_slopes = design.on_items(*slopes)
    return float(value), np.append(design.pull_scores(item_slopes) + ridge * w, item_slopes.sum())


def regression(point: Vector, design: Design, ridge: Vector, prior: float | None = None) -> tuple[float, Vector]:
    """Return the squared error of the differences and its gradient; ``point`` holds the weights and the offset.

    With a prior, the squared error of the mean probability is added.
    """
    w = point[:-1]
    p = logistic_function(design.scores(w) + point[-1])
    residual = p[design.right] - p[design.left] - design.c
    value = design.weight @ residual**2 + (ridge * w) @ w / 2
    p_slopes = design.on_items(-2 * design.weight * residual, 2 * design.weight * residual)
    if prior is not None:
        frequencies = design.on_items(design.weight, design.weight) / 2
        error = frequencies @ p - prior
        value += error**2
        p_slopes += 2 * error * frequencies
    item_slopes = p_slopes * p * (1 - p)
    return float(value), np.append(design.pull_scores(item_slopes) + ridge * w, item_slopes.sum())


def preference(w: Vector, design: Design, ridge: Vector) -> tuple[float, Vector]:
    """Return the cross-entropy of the preferences and its gradient."""
    u = design.differences(w)
    target = (1 + design.c) / 2
    value = design.weight @ (np.logaddexp(0, u) - target * u) + (ridge * w) @ w / 2
    return float(value), design.pull_differences(design.weight * (logistic_function(u) - target)) + ridge * w


def score(w: Vector, design: Design, ridge: Vector) -> tuple[float, Vector]:
    """Return half the squared error of the score differences and its gradient."""
    residual = design.differences(w) - design.c
    value = design.weight @ residual**2 / 2 + (ridge * w) @ w / 2
    return float(value), design.pull_differences(design.weight * residual) + ridge * w
