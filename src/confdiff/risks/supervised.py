r"""Supervised references: the risks of items that are labelled themselves.

Symbols: :math:`g, g'` the scores of the two items of a pair, :math:`r, r'` their probabilities of being positive
(Oracle-Soft) or their labels as 0 and 1 (Oracle-Hard, the same formula), :math:`\ell_\pm(z) = \phi(\pm z)`.
"""

import torch
from torch import Tensor

from confdiff.losses import MarginLoss, logistic
from confdiff.reduction import mean_over_pairs
from confdiff.validation import check_same_shape


def supervised_terms(
    g: Tensor,
    g_prime: Tensor,
    r: Tensor,
    r_prime: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the supervised risks of the first and of the second items (Wang et al. 2023, Eq. 4).

    .. math::
        \tfrac12 \mathrm{mean}[r\, \ell_+(g) + (1 - r)\, \ell_-(g)], \qquad
        \tfrac12 \mathrm{mean}[r'\, \ell_+(g') + (1 - r')\, \ell_-(g')]

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    r, r_prime : Tensor of shape (n,)
        Probabilities of the positive class, or labels 0 and 1.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> supervised_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.0, 1.0]), torch.tensor([0.3, 0.6]))
    tensor([0.3466, 0.3466])
    """
    check_same_shape(g=g, g_prime=g_prime, r=r, r_prime=r_prime, weight=weight)
    scores = torch.stack([g, g_prime])
    targets = torch.stack([r, r_prime])
    risks = targets * loss(scores) + (1 - targets) * loss(-scores)
    if weight is not None:
        risks = risks * weight
    return mean_over_pairs(risks) / 2


def supervised_risk(
    g: Tensor,
    g_prime: Tensor,
    r: Tensor,
    r_prime: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    """Return the ordinary supervised risk over both items of every pair, the sum of :func:`supervised_terms`.

    Parameters as in :func:`supervised_terms`; the result has shape ().

    >>> supervised_risk(torch.zeros(2), torch.zeros(2), torch.ones(2), torch.zeros(2))
    tensor(0.6931)
    """
    return supervised_terms(g, g_prime, r, r_prime, weight=weight, loss=loss).sum()
