r"""Risks for K classes: the difference of a pair is a vector, :math:`c_k = p(k|x') - p(k|x)`, with sum 0.

Symbols: :math:`g, g'` the scores of both items, one for each of :math:`K` classes, :math:`p, p'` their softmax,
:math:`\pi_k` the class priors, :math:`\ell(g, k)` a loss. For :math:`K = 2`, with the score of the second class as
:math:`g` and 0 as that of the first, every formula equals its binary form.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from confdiff.reduction import mean_over_pairs, sum_over_pairs
from confdiff.validation import check_same_matrix

MulticlassLoss = Callable[[Tensor], Tensor]
"""(n, K) scores -> (n, K), the loss of each item for each class."""


def cross_entropy(g: Tensor) -> Tensor:
    r"""Return the cross-entropy for each class, :math:`\ell(g, k) = -\log \mathrm{softmax}_k(g)`.

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
    r"""Return the 2K partial risks: those of the first items class by class, then those of the second ones.

    .. math::
        \tfrac12 \mathrm{mean}[(\pi_k - c_k)\, \ell(g, k)], \qquad
        \tfrac12 \mathrm{mean}[(\pi_k + c_k)\, \ell(g', k)]

    Their sum is an unbiased estimate of the classification risk, as in the binary case. Given :math:`x`, the mean of
    :math:`\pi_k - c_k` over its partners is :math:`p(k|x)`. Each is non-negative in expectation, so that each can be
    corrected.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n, K)
        Scores of the first and of the second items.
    c : Tensor of shape (n, K)
        Confidence differences, with sum 0 for each pair.
    prior : Tensor of shape (K,) or (n, K)
        Class priors.
    weight : Tensor of shape (n,) or None
        Weights of the pairs.
    loss : callable
        Loss of each item for each class.

    Returns
    -------
    Tensor of shape (2K,)

    Examples
    --------
    >>> g = torch.zeros(1, 3)
    >>> multiclass_terms(g, g, torch.tensor([[0.0, 0.5, -0.5]]), prior=torch.tensor([0.2, 0.4, 0.4])).sum()
    tensor(1.0986)
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    shares = torch.stack([prior - c, prior + c])
    if weight is not None:
        shares = shares * weight[:, None]
    return mean_over_pairs(shares * loss(torch.stack([g, g_prime])), 1).reshape(-1) / 2


def multiclass_supervised_terms(
    g: Tensor,
    g_prime: Tensor,
    r: Tensor,
    r_prime: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> Tensor:
    r"""Return the supervised risks of the first and of the second items.

    .. math:: \tfrac12 \mathrm{mean} \textstyle\sum_k r_k \ell(g, k)

    Parameters
    ----------
    g, g_prime : Tensor of shape (n, K)
        Scores of the first and of the second items.
    r, r_prime : Tensor of shape (n, K)
        Class probabilities, or one-hot labels.
    weight : Tensor of shape (n,) or None
        Weights of the pairs.
    loss : callable
        Loss of each item for each class.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> multiclass_supervised_terms(torch.zeros(1, 2), torch.zeros(1, 2), torch.eye(2)[:1], torch.eye(2)[1:])
    tensor([0.3466, 0.3466])
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, r=r, r_prime=r_prime)
    risks = (torch.stack([r, r_prime]) * loss(torch.stack([g, g_prime]))).sum(-1)
    return mean_over_pairs(risks if weight is None else risks * weight) / 2


def multiclass_regression_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: Tensor | None = None,
    weight: Tensor | None = None,
    loss: MulticlassLoss = cross_entropy,
) -> Tensor:
    r"""Return the risk of difference regression, and of the means if priors are given.

    .. math::
        \tfrac12 \mathrm{mean} \lVert p' - p - c \rVert^2, \qquad
        \tfrac12 \lVert \mathrm{mean}[\tfrac12 (p + p') - \pi] \rVert^2

    Parameters
    ----------
    g, g_prime, c, weight
        As in :func:`multiclass_terms`.
    prior : Tensor of shape (K,) or (n, K), or None
        Class priors; ``None`` leaves the second term at 0.
    loss : callable
        Must be :func:`cross_entropy`, whose scores determine probabilities.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> multiclass_regression_terms(torch.zeros(1, 2), torch.zeros(1, 2), torch.tensor([[0.5, -0.5]]))
    tensor([0.2500, 0.0000])
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    p = multiclass_probability(g, loss)
    p_prime = multiclass_probability(g_prime, loss)
    w = 1.0 if weight is None else weight[:, None]
    error = mean_over_pairs(w * (p_prime - p - c).square(), 0).sum()
    offset = c.new_zeros(c.shape[1]) if prior is None else mean_over_pairs(w * ((p + p_prime) / 2 - prior), 0)
    return torch.stack([error, offset.square().sum()]) / 2


def multiclass_probability(g: Tensor, loss: MulticlassLoss = cross_entropy) -> Tensor:
    """Return the class probabilities that scores represent, which only the cross-entropy determines."""
    if loss is not cross_entropy:
        name = getattr(loss, "__name__", repr(loss))
        raise ValueError(f"probabilities of K classes need loss=cross_entropy; got {name}.")
    return torch.softmax(g, dim=-1)


def simplex_projection(v: Tensor, mass: Tensor | float = 1.0) -> Tensor:
    """Return the nearest point with non-negative entries of sum ``mass`` (Held, Wolfe and Crowder 1974).

    Parameters
    ----------
    v : Tensor of shape (n, K)
        Points to project, one per row.
    mass : float, or Tensor of shape (n,)
        Sum of the entries of each projected point.

    Returns
    -------
    Tensor of shape (n, K)

    Examples
    --------
    >>> simplex_projection(torch.tensor([[0.5, 1.5], [0.2, 0.8]]))
    tensor([[0.0000, 1.0000],
            [0.2000, 0.8000]])
    """
    total = torch.as_tensor(mass, dtype=v.dtype, device=v.device).expand(len(v))[:, None]
    descending = v.sort(dim=1, descending=True).values
    excess = descending.cumsum(1) - total
    rank = torch.arange(1, v.shape[1] + 1, dtype=v.dtype, device=v.device)
    n_positive = (descending * rank > excess).sum(1, keepdim=True).clamp(min=1)
    return (v - excess.gather(1, n_positive - 1) / n_positive).relu()


def multiclass_projection(p: Tensor, p_prime: Tensor, c: Tensor) -> Tensor:
    r"""Return the posteriors :math:`t` nearest to the predictions for which :math:`t` and :math:`t + c` are valid.

    Every entry has :math:`t \ge \max(0, -c)` and the entries sum to 1: a simplex, shifted and scaled. ``c`` must be a
    difference of posteriors: :func:`multiclass_targets_of` scales down vectors whose positive entries sum to more
    than 1.

    Parameters
    ----------
    p, p_prime : Tensor of shape (n, K)
        Predicted probabilities of the first and of the second items.
    c : Tensor of shape (n, K)
        Confidence differences.

    Returns
    -------
    Tensor of shape (n, K)
        The posteriors t of the first items; those of the second are t + c.

    Examples
    --------
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
    """Return targets for both items, as :func:`~confdiff.risks.projected_targets` does for two classes.

    Parameters as in :func:`multiclass_regression_terms`; the result is two tensors of shape (n, K).
    """
    check_same_matrix(weight, g=g, g_prime=g_prime, c=c)
    with torch.no_grad():
        p = multiclass_probability(g, loss)
        p_prime = multiclass_probability(g_prime, loss)
        return multiclass_targets_of(p, p_prime, c, prior=prior, weight=weight)


def multiclass_targets_of(
    p: Tensor, p_prime: Tensor, c: Tensor, *, prior: Tensor | None = None, weight: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Return targets from predicted probabilities: projected and, if priors are given, shifted to them.

    Parameters
    ----------
    p, p_prime : Tensor of shape (n, K)
        Probabilities of the first and of the second items, as any model predicts them.
    c : Tensor of shape (n, K)
        Confidence differences.
    prior : Tensor of shape (K,) or (n, K), or None
        Class priors.
    weight : Tensor of shape (n,) or None
        Weights of the pairs.

    Returns
    -------
    tuple of two Tensors of shape (n, K)
    """
    d = c / c.relu().sum(1, keepdim=True).clamp(min=1)
    t = multiclass_projection(p, p_prime, d)
    if prior is None:
        return t, t + d
    w = torch.ones_like(t[:, :1]) if weight is None else weight[:, None]
    shift = sum_over_pairs(w * (prior - t - d / 2), 0) / sum_over_pairs(w[:, 0]).clamp(min=1e-12)
    return simplex_projection(t + shift), simplex_projection(t + d + shift)
