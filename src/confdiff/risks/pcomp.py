r"""Learning from pairwise comparisons alone, Pcomp (Feng et al., ICML 2021).

Symbols: a pair :math:`(x, x')` of which :math:`x` is said to be at least as positive as :math:`x'`, :math:`g, g'` the
model's scores, :math:`\pi` the class prior, :math:`\ell_\pm(z) = \phi(\pm z)` a margin loss, :math:`f` a correction.
"""

import torch
from torch import Tensor

from confdiff.corrections import Correction, absolute
from confdiff.losses import MarginLoss, logistic
from confdiff.validation import check_same_shape


def pcomp_terms(
    g: Tensor,
    g_prime: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""The two partial risks of learning from comparisons.

    .. math::
        \mathrm{mean}[\ell_+(g) - (1 - \pi)\, \ell_+(g')], \qquad \mathrm{mean}[\ell_-(g') - \pi\, \ell_-(g)]

    Their sum is an unbiased estimate of the classification risk where pairs with labels (-, +) were discarded.

    Shapes: g, g_prime, weight: (n,); prior: a number, or (n,). Returns: (2,).

    >>> pcomp_terms(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.0]), prior=0.5)
    tensor([-0.2815, -0.3568])
    """
    check_same_shape(g=g, g_prime=g_prime, weight=weight, prior=prior if isinstance(prior, Tensor) else None)
    risks = torch.stack([loss(g) - (1 - prior) * loss(g_prime), loss(-g_prime) - prior * loss(-g)])
    return (risks if weight is None else risks * weight).mean(-1)


def pcomp_risk(
    g: Tensor,
    g_prime: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    correction: Correction = absolute,
) -> Tensor:
    """The corrected risk of learning from comparisons: Pcomp-Unbiased, -ReLU or -ABS by its correction.

    Shapes: as in :func:`pcomp_terms`. Returns: ().

    >>> pcomp_risk(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.0]), prior=0.5)
    tensor(0.6384)
    """
    return correction(pcomp_terms(g, g_prime, prior=prior, weight=weight, loss=loss)).sum()


def noise_rates(prior: float, strategy: str) -> tuple[float, float]:
    """How often a true positive stands second, and a true negative first, in pairs ordered by their labels.

    >>> noise_rates(0.5, "reverse")
    (0.25, 0.25)
    """
    if strategy == "reverse":
        return prior / 2, (1 - prior) / 2
    return prior / (1 + prior), (1 - prior) / (2 - prior)


def mislabelled_shares(prior: float, strategy: str) -> tuple[float, float]:
    """The share of negatives among the first items, and of positives among the second ones.

    >>> mislabelled_shares(0.5, "reverse")
    (0.25, 0.25)
    """
    kept = 1.0 if strategy == "reverse" else 1 - prior * (1 - prior)
    return (1 - prior) ** 2 / kept, prior**2 / kept


def pcomp_teacher_terms(
    g: Tensor,
    g_prime: Tensor,
    w: Tensor,
    w_prime: Tensor,
    t: Tensor,
    t_prime: Tensor,
    consistency: float,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""The partial risks of Pcomp-Teacher: first items as positives, second items as negatives, and consistency.

    .. math::
        \tfrac12 \mathrm{mean}[w\, \ell_+(g)], \qquad \tfrac12 \mathrm{mean}[w'\, \ell_-(g')], \qquad
        \tfrac{\lambda}2 \mathrm{mean}[(\sigma(g) - \sigma(t))^2 + (\sigma(g') - \sigma(t'))^2]

    w, w' are 0 for items that were pruned, t, t' the teacher's scores, lambda the weight of consistency.

    Shapes: all (n,), consistency a number. Returns: (3,).

    >>> one, zero = torch.ones(2), torch.zeros(2)
    >>> pcomp_teacher_terms(zero, zero, one, zero, zero, zero, 10.0)
    tensor([0.3466, 0.0000, 0.0000])
    """
    check_same_shape(g=g, g_prime=g_prime, w=w, w_prime=w_prime, t=t, t_prime=t_prime, weight=weight)
    apart = (torch.sigmoid(g) - torch.sigmoid(t)) ** 2 + (torch.sigmoid(g_prime) - torch.sigmoid(t_prime)) ** 2
    risks = torch.stack([w * loss(g), w_prime * loss(-g_prime), consistency * apart])
    return (risks if weight is None else risks * weight).mean(-1) / 2
