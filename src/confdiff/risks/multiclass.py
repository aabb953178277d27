r"""More than two classes: the difference of a pair is a vector, :math:`c_k = p(k|x') - p(k|x)`, with sum 0.

Symbols: :math:`g, g'` the scores of both items, one for each of :math:`K` classes, :math:`p, p'` their softmax,
:math:`\pi_k` the class priors, :math:`\ell(g, k)` a loss. For :math:`K = 2`, with the score of the second class as
:math:`g` and 0 as that of the first, everything is what the binary formulas say.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from confdiff.validation import check_same_matrix

MulticlassLoss = Callable[[Tensor], Tensor]
"""(n, K) scores -> (n, K), the loss of an item for each class that it might be of."""


def cross_entropy(g: Tensor) -> Tensor:
    r""":math:`\ell(g, k) = -\log \mathrm{softmax}_k(g)`.

    >>> cross_entropy(torch.zeros(1, 2))
    tensor([[0.6931, 0.6931]])
    """
    return -torch.log_softmax(g, dim=-1)


def multiclass_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: Tensor,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> Tensor:
    r"""The 2K partial risks: those of the first items class by class, then those of the second ones.

    .. math::
        \tfrac12 \mathrm{mean}[(\pi_k - c_k)\, \ell(g, k)], \qquad
        \tfrac12 \mathrm{mean}[(\pi_k + c_k)\, \ell(g', k)]

    Their sum is an unbiased estimate of the classification risk by the proof of the binary case: given :math:`x`, the
    mean of :math:`\pi_k - c_k` over its partners is :math:`p(k|x)`. Each is not negative in expectation, so that
    each can be corrected.

    Shapes: g, g_prime, c: (n, K); prior: (K,) or (n, K); weight: (n,). Returns: (2K,).

    >>> g = torch.zeros(1, 3)
    >>> multiclass_terms(g, g, torch.tensor([[0.0, 0.5, -0.5]]), prior=torch.tensor([0.2, 0.4, 0.4])).sum()
    tensor(1.0986)
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    shares = torch.stack([prior - c, prior + c])
    if weight is not None:
        shares = shares * weight[:, None]
    return (shares * loss(torch.stack([g, g_prime]))).mean(1).reshape(-1) / 2


def multiclass_supervised_terms(
    g: Tensor,
    g_prime: Tensor,
    r: Tensor,
    r_prime: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> Tensor:
    r"""The partial risks of the first and of the second items, :math:`\tfrac12 \mathrm{mean} \sum_k r_k \ell(g, k)`.

    Shapes: g, g_prime, r, r_prime: (n, K); weight: (n,). Returns: (2,).

    >>> multiclass_supervised_terms(torch.zeros(1, 2), torch.zeros(1, 2), torch.eye(2)[:1], torch.eye(2)[1:])
    tensor([0.3466, 0.3466])
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, r=r, r_prime=r_prime)
    risks = (torch.stack([r, r_prime]) * loss(torch.stack([g, g_prime]))).sum(-1)
    return (risks if weight is None else risks * weight).mean(-1) / 2


def multiclass_regression_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: Tensor | None = None,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> Tensor:
    r"""Difference regression, :math:`\tfrac12 \mathrm{mean} \lVert p' - p - c \rVert^2`, and that of the means.

    ``loss`` must be the cross-entropy, by which scores stand for probabilities.

    Shapes: g, g_prime, c: (n, K); prior: (K,), (n, K) or None; weight: (n,). Returns: (2,).

    >>> multiclass_regression_terms(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[0.5, -0.5]]))
    tensor([0.2500, 0.0000])
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    p, p_prime = multiclass_probability(g, loss), multiclass_probability(g_prime, loss)
    w = 1.0 if weight is None else weight[:, None]
    error = (w * (p_prime - p - c).square()).mean(0).sum()
    offset = torch.zeros_like(c[0]) if prior is None else (w * ((p + p_prime) / 2 - prior)).mean(0)
    return torch.stack([error, offset.square().sum()]) / 2


def multiclass_probability(g: Tensor, loss: MulticlassLoss = cross_entropy) -> Tensor:
    """The probabilities that scores stand for; only those of the cross-entropy do."""
    if loss is not cross_entropy:
        raise ValueError("probabilities of several classes come from the cross-entropy; another loss was given.")
    return torch.softmax(g, dim=-1)


def simplex_projection(v: Tensor, mass: Tensor | float = 1.0) -> Tensor:
    """The nearest point with entries that are not negative and add up to ``mass`` (Held, Wolfe and Crowder 1974).

    Shapes: v: (n, K); mass: (n,) or a number. Returns: (n, K).

    >>> simplex_projection(torch.tensor([[0.5, 1.5], [0.2, 0.8]]))
    tensor([[0.0000, 1.0000],
            [0.2000, 0.8000]])
    """
    total = torch.as_tensor(mass, dtype=v.dtype, device=v.device).expand(len(v))[:, None]
    sorted_ = v.sort(dim=1, descending=True).values
    excess = sorted_.cumsum(1) - total
    place = torch.arange(1, v.shape[1] + 1, dtype=v.dtype, device=v.device)
    kept = (sorted_ * place > excess).sum(1, keepdim=True).clamp(min=1)
    return (v - excess.gather(1, kept - 1) / kept).relu()


def multiclass_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""The posteriors :math:`t` of the first items nearest to the predictions with :math:`t` and :math:`t + c` valid.

    :math:`t \ge \max(0, -c)` in every entry, and the entries add up to 1: a simplex, moved and scaled. ``c`` must be a
    difference of posteriors: :func:`multiclass_targets_of` scales vectors down whose positive entries add up to more
    than 1.

    Shapes: p, p_prime, c: (n, K). Returns: (n, K).

    >>> p = torch.tensor([[0.5, 0.5]])
    >>> multiclass_projection(p, p, torch.tensor([[-0.4, 0.4]]))
    tensor([[0.7000, 0.3000]])
    """
    least = (-c).relu()
    return least + simplex_projection((p + p_prime - c) / 2 - least, (1 - least.sum(1)).clamp(min=0))


def multiclass_targets(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: Tensor | None = None,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> tuple[Tensor, Tensor]:
    """Targets for both items, as :func:`~confdiff.risks.projected_targets` gives them for two classes.

    Shapes: g, g_prime, c: (n, K); prior: (K,), (n, K) or None; weight: (n,). Returns: (n, K) and (n, K).
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    with torch.no_grad():
        p, p_prime = multiclass_probability(g, loss), multiclass_probability(g_prime, loss)
        return multiclass_targets_of(p, p_prime, c, prior=prior, weight=weight)


def multiclass_targets_of(
    p: Tensor, p_prime: Tensor, c: Tensor, *, prior: Tensor | None = None, weight: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Targets from predicted probabilities, whoever predicted them: projected and, where priors are given, shifted.

    Shapes: p, p_prime, c: (n, K); prior: (K,), (n, K) or None; weight: (n,). Returns: (n, K) and (n, K).
    """
    d = c / c.relu().sum(1, keepdim=True).clamp(min=1)
    t = multiclass_projection(p, p_prime, d)
    if prior is None:
        return t, t + d
    w = torch.ones_like(t[:, :1]) if weight is None else weight[:, None]
    shift = (w * (prior - t - d / 2)).sum(0) / w.sum().clamp(min=1e-12)
    return simplex_projection(t + shift), simplex_projection(t + d + shift)
