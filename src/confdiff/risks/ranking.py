r"""Ranking losses: who of a pair should score higher, and nothing else of the difference but its sign.

Symbols: :math:`g, g'` the scores of the two items of a pair, :math:`s = \mathrm{sign}(c)` which of them is preferred.
"""

from torch import Tensor

from confdiff.losses import MarginLoss, hinge, logistic
from confdiff.validation import check_same_shape


def bpr_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Bayesian personalised ranking (Rendle et al. 2009), :math:`\mathrm{mean}[\phi(s (g' - g))]`; ties count nothing.

    With the logistic loss that is :math:`-\log \sigma(g_\mathrm{preferred} - g_\mathrm{other})`, as published.

    Shapes: g, g_prime, c, weight: (n,). Returns: (1,).

    >>> import torch
    >>> bpr_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.0]), torch.tensor([0.3, 0.0]))
    tensor([0.3466])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    s = c.sign()
    risks = loss(s * (g_prime - g)) * s.abs()
    return (risks if weight is None else risks * weight).mean().reshape(1)


def mrl_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""The margin ranking loss, :math:`\mathrm{mean}[\max(0, 1 - s (g' - g))]`; ties count nothing.

    It is a loss of its own: ``loss`` is there because every risk takes one, and is not used.

    Shapes: g, g_prime, c, weight: (n,). Returns: (1,).

    >>> import torch
    >>> mrl_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.0]), torch.tensor([0.3, 0.1]))
    tensor([1.2500])
    """
    return bpr_terms(g, g_prime, c, weight=weight, loss=hinge)
