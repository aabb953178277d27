r"""Difference-consistent learning: let the two probabilities of a pair differ by what was said.

The estimators of :mod:`confdiff.risks.confdiff` give each item of a pair a target of its own, :math:`\pi \mp c`. That
is right on average over its partners, and throws away what is known of this pair: its posteriors differ by :math:`c`
*and* both lie in [0, 1]. Here it is used.

Symbols: :math:`p, p'` the probabilities that the scores :math:`g, g'` stand for, :math:`c` the confidence difference,
:math:`\pi` the class prior, :math:`(t, t' = t + c)` the posteriors that a pair may have: :math:`t` lies in
:math:`[\max(0, -c), \min(1, 1 - c)]`.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from confdiff.losses import MarginLoss, logistic, probability
from confdiff.risks.supervised import supervised_terms
from confdiff.validation import check_same_shape

Projection = Callable[[Tensor, Tensor, Tensor], Tensor]
"""(p, p_prime, c) -> t, the posterior of the first item that goes with these best."""


def regression_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Difference regression: the squared error of the predicted difference, and of the mean where a prior is given.

    .. math:: \mathrm{mean}[(p' - p - c)^2], \qquad \mathrm{mean}[\tfrac12 (p + p') - \pi]^2

    The squared error is proper for the mean: where differences come with errors of mean zero, label differences
    :math:`y' - y` among them, the best :math:`p' - p` is still the true difference. It tells :math:`p` up to a
    constant, which the second term fixes; without it the constant is told where posteriors come near 0 and 1.

    Shapes: g, g_prime, c, weight: (n,). Returns: (2,).

    >>> regression_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.5, -0.5]), prior=0.3)
    tensor([0.2500, 0.0400])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    w = 1.0 if weight is None else weight
    p, p_prime = probability(g, loss), probability(g_prime, loss)
    error = (w * (p_prime - p - c).square()).mean()
    offset = error.new_zeros(()) if prior is None else (w * ((p + p_prime) / 2 - prior)).mean()
    return torch.stack([error, offset.square()])


def euclidean_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""The point of the segment nearest to the predictions: half of the residual is put on each item, then clipped.

    .. math:: t = \mathrm{clip}(\tfrac12 (p + p' - c),\ \max(0, -c),\ \min(1, 1 - c))

    Shapes: p, p_prime, c: (n,), c in [-1, 1]. Returns: (n,).

    >>> euclidean_projection(torch.tensor([0.5, 0.9]), torch.tensor([0.5, 0.9]), torch.tensor([0.4, 0.4]))
    tensor([0.3000, 0.6000])
    """
    return torch.clamp((p + p_prime - c) / 2, min=(-c).clamp(min=0), max=(1 - c).clamp(max=1))


def information_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""The point of the segment with the least Kullback-Leibler divergence to the predictions.

    It solves :math:`\mathrm{logit}\, t + \mathrm{logit}(t + c) = \mathrm{logit}\, p + \mathrm{logit}\, p'`, the
    quadratic :math:`(1 - k) t^2 + (c + k (2 - c)) t - k (1 - c) = 0` with :math:`k = pp'/((1 - p)(1 - p'))`.

    Shapes: p, p_prime, c: (n,), c in [-1, 1]. Returns: (n,).

    >>> information_projection(torch.tensor([0.5, 0.9]), torch.tensor([0.5, 0.9]), torch.tensor([0.4, 0.4]))
    tensor([0.3000, 0.5830])
    """
    s = (torch.logit(p.double(), eps=1e-12) + torch.logit(p_prime.double(), eps=1e-12)).to(torch.float64)
    d = c.double()
    k = torch.exp(-s.abs())  # for s > 0 the same equation holds of v = 1 - t', with -s in place of s
    half = d + k * (2 - d)
    root = torch.sqrt(half.square() + 4 * (1 - k) * k * (1 - d))
    up, down = 2 * k * (1 - d) / (half + root).clamp(min=1e-300), (root - half) / (2 * (1 - k)).clamp(min=1e-300)
    solution = torch.where(half >= 0, up, down)  # of two forms of the root, the one that subtracts nothing
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
    r"""Targets for both items: the current predictions, projected on what the difference allows; no gradient flows.

    Differences beyond [-1, 1] count as -1 and 1. Where a prior is given, the targets are shifted so that their mean
    is the prior, and clipped to [0, 1]: clipping noisy differences moves the mean, and this moves it back.

    Shapes: g, g_prime, c, weight: (n,). Returns: (n,) and (n,).

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
        shift = (w * (prior - t - d / 2)).sum() / w.sum().clamp(min=1e-12)
        return (t + shift).clamp(0, 1), (t + d + shift).clamp(0, 1)


def combined_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    share: float = 0.1,
) -> Tensor:
    r"""Difference regression with a little projection: four terms, of which the last two are ``share`` of a projection.

    The gradient of the squared error vanishes where a score is certain and wrong, so that a bad start can be final.
    That of a projection does not; but projection is biased by noise, so it has a small share.

    Shapes: as in :func:`regression_terms`. Returns: (4,).

    >>> combined_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.5, -0.5]))
    tensor([0.2500, 0.0000, 0.0347, 0.0347])
    """
    regression = regression_terms(g, g_prime, c, prior=prior, weight=weight, loss=loss)
    t, t_prime = projected_targets(g, g_prime, c, prior=prior, weight=weight, loss=loss)
    return torch.cat([regression, share * supervised_terms(g, g_prime, t, t_prime, weight=weight, loss=loss)])
