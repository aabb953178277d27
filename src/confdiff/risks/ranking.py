r"""Ranking losses, which use only the sign of a difference: the preferred item should score higher.

Symbols: :math:`g, g'` the scores of the two items of a pair, :math:`s = \mathrm{sign}(c)` which of them is preferred.
"""

from torch import Tensor

from confdiff.losses import MarginLoss, hinge, logistic
from confdiff.reduction import mean_over_pairs
from confdiff.validation import check_same_shape


def bpr_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the risk of Bayesian personalised ranking (Rendle et al. 2009).

    .. math:: \mathrm{mean}[\phi(s (g' - g))]

    Ties contribute 0. With the logistic loss a term is
    :math:`-\log \sigma(g_\mathrm{preferred} - g_\mathrm{other})`, as published.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Differences, of which only the sign counts.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (1,)

    Examples
    --------
    >>> import torch
    >>> bpr_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.0]), torch.tensor([0.3, 0.0]))
    tensor([0.3466])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    s = c.sign()
    risks = loss(s * (g_prime - g)) * s.abs()
    return mean_over_pairs(risks if weight is None else risks * weight).reshape(1)


def mrl_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the margin ranking loss, :math:`\mathrm{mean}[\max(0, 1 - s (g' - g))]`; ties contribute 0.

    Parameters as in :func:`bpr_terms`, except that ``loss`` is ignored: every risk takes one, and this is a fixed
    hinge loss. The result has shape (1,).

    >>> import torch
    >>> mrl_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.0]), torch.tensor([0.3, 0.1]))
    tensor([1.2500])
    """
    return bpr_terms(g, g_prime, c, weight=weight, loss=hinge)
