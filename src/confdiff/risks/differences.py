r"""Difference-consistent learning: the two probabilities of a pair should differ by the given difference.

The estimators of :mod:`confdiff.risks.confdiff` give each item of a pair a target of its own, :math:`\pi \mp c`. This
is correct on average over the item's partners. But the posteriors of a pair also differ by :math:`c`, and both lie in
[0, 1]. The risks of this module use these two facts.

Symbols: :math:`p, p'` the probabilities that the scores :math:`g, g'` represent, :math:`c` the confidence difference,
:math:`\pi` the class prior, :math:`(t, t' = t + c)` the feasible posteriors of a pair: :math:`t` lies in the segment
:math:`[\max(0, -c), \min(1, 1 - c)]`.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from confdiff.losses import MarginLoss, logistic, probability
from confdiff.reduction import mean_over_pairs, sum_over_pairs
from confdiff.risks.supervised import supervised_terms
from confdiff.validation import check_same_shape

Projection = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(p, p_prime, c) -> t, the feasible posterior of the first item that fits the predictions best."""


def regression_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    precision: Tensor | None = None,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the squared error of the predicted difference and, if a prior is given, that of the predicted mean.

    .. math:: \mathrm{mean}[(p' - p - c)^2], \qquad \mathrm{mean}[\tfrac12 (p + p') - \pi]^2

    The squared error is proper for the mean. If differences have errors of mean zero (an example are label
    differences), the best :math:`p' - p` is still the true difference. It determines :math:`p` up to a constant, which
    the second term fixes. Without it, posteriors near 0 and 1 determine the constant.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Confidence differences.
    precision : Tensor of shape (n,) or None
        Relative precision of the differences, with mean 1: a factor of the weights in the first term only.
    prior : float or None
        Class prior; ``None`` leaves the second term at 0.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> regression_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.5, -0.5]), prior=0.3)
    tensor([0.2500, 0.0400])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    w = 1.0 if weight is None else weight
    p = probability(g, loss)
    p_prime = probability(g_prime, loss)
    precision_weight = w if precision is None else w * precision
    error = mean_over_pairs(precision_weight * (p_prime - p - c).square())
    offset = error.new_zeros(()) if prior is None else mean_over_pairs(w * ((p + p_prime) / 2 - prior))
    return torch.stack([error, offset.square()])


def euclidean_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""Return the point of the segment nearest to the predictions: each item gets half of the residual, then clipped.

    .. math:: t = \mathrm{clip}(\tfrac12 (p + p' - c),\ \max(0, -c),\ \min(1, 1 - c))

    Parameters
    ----------
    p, p_prime : Tensor of shape (n,)
        Predicted probabilities of the first and of the second items.
    c : Tensor of shape (n,)
        Confidence differences, in [-1, 1].

    Returns
    -------
    Tensor of shape (n,)
        The posterior t of each first item; that of the second is t + c.

    Examples
    --------
    >>> euclidean_projection(torch.tensor([0.5, 0.9]), torch.tensor([0.5, 0.9]), torch.tensor([0.4, 0.4]))
    tensor([0.3000, 0.6000])
    """
    return torch.clamp((p + p_prime - c) / 2, min=(-c).clamp(min=0), max=(1 - c).clamp(max=1))


def information_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""Return the point of the segment with the least Kullback-Leibler divergence to the predictions.

    It solves :math:`\mathrm{logit}\, t + \mathrm{logit}(t + c) = \mathrm{logit}\, p + \mathrm{logit}\, p'`, the
    quadratic :math:`(1 - k) t^2 + (c + k (2 - c)) t - k (1 - c) = 0` with :math:`k = pp'/((1 - p)(1 - p'))`.

    Parameters and result as in :func:`euclidean_projection`.

    >>> information_projection(torch.tensor([0.5, 0.9]), torch.tensor([0.5, 0.9]), torch.tensor([0.4, 0.4]))
    tensor([0.3000, 0.5830])
    """
    s = (torch.logit(p.double(), eps=1e-12) + torch.logit(p_prime.double(), eps=1e-12)).to(torch.float64)
    d = c.double()
    k = torch.exp(-s.abs())  # for s > 0 the same equation holds for v = 1 - t', with -s instead of s
    half = d + k * (2 - d)
    root = torch.sqrt(half.square() + 4 * (1 - k) * k * (1 - d))
    up = 2 * k * (1 - d) / (half + root).clamp(min=1e-300)
    down = (root - half) / (2 * (1 - k)).clamp(min=1e-300)
    solution = torch.where(half >= 0, up, down)  # of two forms of the root, the one without cancellation
    t = torch.where(s > 0, 1 - d - solution, solution)
    return torch.clamp(t, min=(-d).clamp(min=0), max=(1 - d).clamp(max=1)).to(p.dtype)


def projected_targets(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    project: Projection = euclidean_projection,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> tuple[Tensor, Tensor]:
    r"""Return targets for both items: the current predictions, projected on the feasible posteriors, without gradient.

    Differences beyond [-1, 1] count as -1 and 1. If a prior is given, the targets are shifted so that their mean is the
    prior, and clipped to [0, 1]. The shift compensates for the clipping of noisy differences, which changes the mean.

    Parameters
    ----------
    g, g_prime, c, prior, weight, loss
        As in :func:`regression_terms`.
    project : callable
        The projection, such as :func:`euclidean_projection`.

    Returns
    -------
    tuple of two Tensors of shape (n,)

    Examples
    --------
    >>> projected_targets(torch.zeros(1), torch.zeros(1), torch.tensor([0.4]))
    (tensor([0.3000]), tensor([0.7000]))
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    with torch.no_grad():
        d = c.clamp(-1, 1)
        t = project(probability(g, loss), probability(g_prime, loss), d)
        if prior is None:
            return t, t + d
        w = torch.ones_like(t) if weight is None else weight
        shift = sum_over_pairs(w * (prior - t - d / 2)) / sum_over_pairs(w).clamp(min=1e-12)
        return (t + shift).clamp(0, 1), (t + d + shift).clamp(0, 1)


def combined_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    fraction: float = 0.1,
) -> Tensor:
    r"""Return the terms of difference regression and, scaled by ``fraction``, those of a projection.

    The gradient of the squared error vanishes where a score is certain and wrong, so that a bad start can be final.
    The gradient of a projection does not vanish; but noise biases a projection, hence the small fraction.

    Parameters
    ----------
    g, g_prime, c, prior, weight, loss
        As in :func:`regression_terms`.
    fraction : float
        Weight of the terms of the projection.

    Returns
    -------
    Tensor of shape (4,)
        Two terms of the regression, then two of the projection.

    Examples
    --------
    >>> combined_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.5, -0.5]))
    tensor([0.2500, 0.0000, 0.0347, 0.0347])
    """
    regression = regression_terms(g, g_prime, c, prior=prior, weight=weight, loss=loss)
    t, t_prime = projected_targets(g, g_prime, c, prior=prior, weight=weight, loss=loss)
    return torch.cat([regression, fraction * supervised_terms(g, g_prime, t, t_prime, weight=weight, loss=loss)])
