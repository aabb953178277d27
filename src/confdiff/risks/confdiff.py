r"""Confidence-difference learning (Wang et al., NeurIPS 2023).

Symbols, as in the paper: a pair :math:`(x, x')` of independent items, :math:`g, g'` the model's scores for them,
:math:`c = p(+|x') - p(+|x)`, :math:`\pi` the class prior, :math:`\ell_\pm(z) = \phi(\pm z)` a margin loss,
:math:`f` a correction.
"""

import torch
from torch import Tensor

from confdiff.corrections import Correction, absolute
from confdiff.losses import MarginLoss, logistic
from confdiff.reduction import mean_over_pairs
from confdiff.validation import check_same_shape


def confdiff_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    alpha: float = 0.5,
) -> Tensor:
    r"""Return the four partial risks A, B, C, D of confidence-difference learning (Eq. 12, Lemma 1).

    .. math::
        A = \alpha \,\mathrm{mean}[(\pi - c)\, \ell_+(g)]         \qquad
        B = \alpha \,\mathrm{mean}[(1 - \pi - c)\, \ell_-(g')]     \\
        C = (1 - \alpha) \,\mathrm{mean}[(\pi + c)\, \ell_+(g')]   \qquad
        D = (1 - \alpha) \,\mathrm{mean}[(1 - \pi + c)\, \ell_-(g)]

    Their sum is an unbiased estimate of the classification risk for every ``alpha`` (Lemma 1). The variance is least
    at 1/2 (Theorem 2), which is the paper's estimator.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Confidence differences.
    prior : float, or Tensor of shape (n,)
        Class prior; one per pair if groups of pairs have priors of their own.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.
    alpha : float
        Weight of the terms A and B.

    Returns
    -------
    Tensor of shape (4,)

    Examples
    --------
    >>> g, g_prime, c = torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0]), torch.tensor([0.5, -0.5])
    >>> confdiff_terms(g, g_prime, c, prior=0.5)
    tensor([0.0783, 0.0783, 0.0783, 0.1733])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight, prior=prior if isinstance(prior, Tensor) else None)
    margins = torch.stack([g, -g_prime, g_prime, -g])
    shares = torch.stack([prior - c, 1 - prior - c, prior + c, 1 - prior + c])
    shares = shares * (0.5 if alpha == 0.5 else c.new_tensor([[alpha], [alpha], [1 - alpha], [1 - alpha]]))
    if weight is not None:
        shares = shares * weight
    return mean_over_pairs(shares * loss(margins))


def confdiff_risk(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    correction: Correction = absolute,
) -> Tensor:
    r"""Return the risk of confidence-difference learning, f(A) + f(B) + f(C) + f(D).

    ConfDiff-Unbiased, -ReLU and -ABS use the corrections ``identity``, ``relu`` and ``absolute``. A corrected risk
    assumes that the order inside a pair carries no information: see ``Pairs.shuffled_orientation``.

    Parameters
    ----------
    g, g_prime, c, prior, weight, loss
        As in :func:`confdiff_terms`.
    correction : callable
        Function f, applied to each partial risk.

    Returns
    -------
    Tensor of shape ()

    Examples
    --------
    >>> g, g_prime, c = torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0]), torch.tensor([0.5, -0.5])
    >>> confdiff_risk(g, g_prime, c, prior=0.5)
    tensor(0.4082)
    """
    return correction(confdiff_terms(g, g_prime, c, prior=prior, weight=weight, loss=loss)).sum()
