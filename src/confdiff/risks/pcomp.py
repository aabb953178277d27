r"""Learning from ordered pairs without differences, Pcomp (Feng et al., ICML 2021).

Symbols: a pair :math:`(x, x')` in which :math:`x` was judged at least as positive as :math:`x'`, :math:`g, g'` the
model's scores, :math:`\pi` the class prior, :math:`\ell_\pm(z) = \phi(\pm z)` a margin loss, :math:`f` a correction.
"""

import torch
from torch import Tensor

from confdiff.corrections import Correction, absolute
from confdiff.losses import MarginLoss, logistic
from confdiff.reduction import mean_over_pairs
from confdiff.validation import check_same_shape


def pcomp_terms(
    g: Tensor,
    g_prime: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the two partial risks of learning from ordered pairs.

    .. math::
        \mathrm{mean}[\ell_+(g) - (1 - \pi)\, \ell_+(g')], \qquad \mathrm{mean}[\ell_-(g') - \pi\, \ell_-(g)]

    Their sum is an unbiased estimate of the classification risk if pairs with labels (-, +) were discarded.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    prior : float, or Tensor of shape (n,)
        Class prior, for all pairs or for each.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> pcomp_terms(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.0]), prior=0.5)
    tensor([-0.2815, -0.3568])
    """
    check_same_shape(g=g, g_prime=g_prime, weight=weight, prior=prior if isinstance(prior, Tensor) else None)
    risks = pcomp_losses(g, g_prime, prior=prior, loss=loss)
    return mean_over_pairs(risks if weight is None else risks * weight)


def pcomp_losses(g: Tensor, g_prime: Tensor, *, prior: float | Tensor, loss: MarginLoss = logistic) -> Tensor:
    """Return the losses of each pair, (2, n), whose means are :func:`pcomp_terms`."""
    return torch.stack([loss(g) - (1 - prior) * loss(g_prime), loss(-g_prime) - prior * loss(-g)])


def pcomp_risk(
    g: Tensor,
    g_prime: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    correction: Correction = absolute,
) -> Tensor:
    """Return the corrected risk of learning from ordered pairs: Pcomp-Unbiased, -ReLU or -ABS by its correction.

    Parameters as in :func:`pcomp_terms`; the result has shape ().

    >>> pcomp_risk(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 0.0]), prior=0.5)
    tensor(0.6384)
    """
    return correction(pcomp_terms(g, g_prime, prior=prior, weight=weight, loss=loss)).sum()


def noise_rates(prior: float, strategy: str) -> tuple[float, float]:
    """Return the probabilities that a positive comes second and a negative first, in pairs ordered by their labels.

    >>> noise_rates(0.5, "reverse")
    (0.25, 0.25)
    """
    if strategy == "reverse":
        return prior / 2, (1 - prior) / 2
    return prior / (1 + prior), (1 - prior) / (2 - prior)


def mislabelled_fractions(prior: float, strategy: str) -> tuple[float, float]:
    """Return the fraction of negatives among the first items, and of positives among the second ones.

    >>> mislabelled_fractions(0.5, "reverse")
    (0.25, 0.25)
    """
    retained = 1.0 if strategy == "reverse" else 1 - prior * (1 - prior)
    return (1 - prior) ** 2 / retained, prior**2 / retained


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
    r"""Return the partial risks of Pcomp-Teacher: first items as positives, second ones as negatives, and consistency.

    .. math::
        \tfrac12 \mathrm{mean}[w\, \ell_+(g)], \qquad \tfrac12 \mathrm{mean}[w'\, \ell_-(g')], \qquad
        \tfrac{\lambda}2 \mathrm{mean}[(\sigma(g) - \sigma(t))^2 + (\sigma(g') - \sigma(t'))^2]

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    w, w_prime : Tensor of shape (n,)
        Weights of the items, 0 for those that were pruned.
    t, t_prime : Tensor of shape (n,)
        Scores that the teacher gives to the items.
    consistency : float
        Weight :math:`\lambda` of consistency with the teacher.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (3,)

    Examples
    --------
    >>> one, zero = torch.ones(2), torch.zeros(2)
    >>> pcomp_teacher_terms(zero, zero, one, zero, zero, zero, 10.0)
    tensor([0.3466, 0.0000, 0.0000])
    """
    check_same_shape(g=g, g_prime=g_prime, w=w, w_prime=w_prime, t=t, t_prime=t_prime, weight=weight)
    gap = (torch.sigmoid(g) - torch.sigmoid(t)) ** 2 + (torch.sigmoid(g_prime) - torch.sigmoid(t_prime)) ** 2
    risks = torch.stack([w * loss(g), w_prime * loss(-g_prime), consistency * gap])
    return mean_over_pairs(risks if weight is None else risks * weight) / 2
