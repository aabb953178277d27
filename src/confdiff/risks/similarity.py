r"""Learning from the question whether two items are of the same class.

Symbols: a pair :math:`(x, x')` of independent items, :math:`g, g'` the model's scores, :math:`r, r'` the posteriors,
:math:`s = r r' + (1 - r)(1 - r')` the probability that both are of the same class, or a drawn answer 0 or 1,
:math:`c = r' - r` the confidence difference, :math:`\pi` the class prior, :math:`\ell_\pm(z) = \phi(\pm z)` a margin
loss. An entry of ``c`` or ``s`` may be NaN: that question was not asked.

An expectation over the partner gives :math:`E[s | x] = (1 - \pi) + (2\pi - 1)\, r`. So a similarity determines a
posterior unless :math:`\pi = 1/2`.
"""

import torch
from torch import Tensor

from confdiff.corrections import Correction, absolute
from confdiff.losses import MarginLoss, logistic, probability
from confdiff.reduction import mean_over_pairs
from confdiff.risks.pcomp import pcomp_losses
from confdiff.risks.variance import Losses, least_variance
from confdiff.validation import balanced_prior, check_same_shape

_BALANCED = 1e-3
"""Priors that are nearer to 1/2 than this are refused: the weights are divided by twice the distance."""


def sconf_terms(
    g: Tensor,
    g_prime: Tensor,
    s: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the partial risks of positives and negatives of similarity-confidence learning (Cao et al. 2021).

    .. math::
        \mathrm{mean}[w\, (\ell_+(g) + \ell_+(g'))] / 2, \qquad
        \mathrm{mean}[(1 - w)\, (\ell_-(g) + \ell_-(g'))] / 2, \qquad
        w = \frac{s - (1 - \pi)}{2 \pi - 1}

    Their sum is an unbiased estimate of the classification risk, for probabilities s and for drawn answers 0 and 1.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    s : Tensor of shape (n,)
        Probabilities that both items are of the same class, or answers 0 and 1.
    prior : float, or Tensor of shape (n,)
        Class prior, for all pairs or for each; not 1/2.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    Tensor of shape (2,)

    Raises
    ------
    ValueError
        If the prior is 1/2: then s does not depend on the posterior of an item.

    Examples
    --------
    >>> sconf_terms(torch.tensor([1.0, -1.0]), torch.tensor([1.0, 1.0]), torch.tensor([1.0, 0.0]), prior=0.75)
    tensor([0.0316, 0.2816])
    """
    check_same_shape(g=g, g_prime=g_prime, s=s, weight=weight, prior=prior if isinstance(prior, Tensor) else None)
    positive, negative = _sconf_losses(g, g_prime, s, prior, loss)
    risks = torch.stack([positive.sum(0), negative.sum(0)])
    return mean_over_pairs(risks if weight is None else risks * weight)


def sconf_risk(
    g: Tensor,
    g_prime: Tensor,
    s: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    correction: Correction = absolute,
) -> Tensor:
    """Return the corrected risk of similarity-confidence learning: Sconf-Unbiased, -ReLU or -ABS by its correction.

    Parameters as in :func:`sconf_terms`; the result has shape ().

    >>> sconf_risk(torch.tensor([1.0, -1.0]), torch.tensor([1.0, 1.0]), torch.tensor([1.0, 0.0]), prior=0.75)
    tensor(0.3133)
    """
    return correction(sconf_terms(g, g_prime, s, prior=prior, weight=weight, loss=loss)).sum()


def sconf_confdiff_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    s: Tensor,
    *,
    prior: float,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    gamma: float | None = None,
) -> Tensor:
    r"""Return the four partial risks of the convex combination of Sconf and ConfDiff (Tate et al. 2025).

    .. math::
        \mathrm{mean}[w\, \ell_+(g)]/2, \quad \mathrm{mean}[(1 - w')\, \ell_-(g')]/2, \quad
        \mathrm{mean}[w'\, \ell_+(g')]/2, \quad \mathrm{mean}[(1 - w)\, \ell_-(g)]/2

    .. math::
        w = \gamma \frac{s - 1 + \pi}{2\pi - 1} + (1 - \gamma)(\pi - c), \qquad
        w' = \gamma \frac{s - 1 + \pi}{2\pi - 1} + (1 - \gamma)(\pi + c)

    Their sum is unbiased for every constant :math:`\gamma`. By default :math:`\gamma` is the one of least variance,
    estimated from the losses of the batch without a gradient; this adds a bias of the order of 1/n. The mean of either
    part is over the pairs that carry its answer.

    Parameters
    ----------
    g, g_prime, weight, loss
        As in :func:`sconf_terms`.
    c : Tensor of shape (n,)
        Confidence differences; NaN where only s is known.
    s : Tensor of shape (n,)
        Probabilities of the same class, or answers 0 and 1; NaN where only c is known.
    prior : float
        Class prior, not 1/2.
    gamma : float or None
        Weight of the Sconf part, in [0, 1]; None means the one of least variance.

    Returns
    -------
    Tensor of shape (4,)

    Examples
    --------
    >>> g, g_prime = torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0])
    >>> c, s = torch.tensor([0.5, -0.5]), torch.tensor([0.5, 0.5])
    >>> sconf_confdiff_terms(g, g_prime, c, s, prior=0.75, gamma=0.0)
    tensor([ 0.1412, -0.0233,  0.1800,  0.0479])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, s=s, weight=weight)
    w = torch.ones_like(g) if weight is None else weight
    has_s = ~torch.isnan(s)
    has_c = ~torch.isnan(c)
    positive, negative = _sconf_losses(g, g_prime, _filled(s), prior, loss)
    d = torch.stack([-_filled(c), _filled(c)])
    scores = torch.stack([g, g_prime])
    similarity = Losses(torch.stack([positive[0], negative[1], positive[1], negative[0]]), w * has_s)
    graded_positive = (prior + d) * loss(scores) / 2
    graded_negative = (1 - prior - d) * loss(-scores) / 2
    difference = Losses(
        torch.stack([graded_positive[0], graded_negative[1], graded_positive[1], graded_negative[0]]), w * has_c
    )
    share = least_variance(similarity, difference) if gamma is None else gamma
    return share * similarity.mean() + (1 - share) * difference.mean()


def sd_terms(
    g: Tensor,
    g_prime: Tensor,
    s: Tensor,
    *,
    prior: float,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the partial risks of learning from similar and dissimilar pairs (SD, Shimada et al. 2021).

    .. math::
        \frac{\pi\, \pi_S\, m_S(\ell_+) - (1 - \pi)\, \pi_D\, m_D(\ell_+)}{2\pi - 1}, \qquad
        \frac{\pi\, \pi_D\, m_D(\ell_-) - (1 - \pi)\, \pi_S\, m_S(\ell_-)}{2\pi - 1}

    Here :math:`\pi_S = \pi^2 + (1 - \pi)^2 = 1 - \pi_D`, and :math:`m_S, m_D` are the means over both items of the
    similar and of the dissimilar pairs. So the pairs of either kind may be collected separately, in any proportion;
    this is the difference to :func:`sconf_terms`. A probability s counts as s similar and 1 - s dissimilar pairs.

    Parameters
    ----------
    g, g_prime, weight, loss
        As in :func:`sconf_terms`.
    s : Tensor of shape (n,)
        Answers, 1 for similar and 0 for dissimilar pairs, or probabilities.
    prior : float
        Class prior, not 1/2.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> sd_terms(torch.tensor([1.0, -1.0]), torch.tensor([1.0, 1.0]), torch.tensor([1.0, 0.0]), prior=0.75)
    tensor([0.1412, 0.0471])
    """
    check_same_shape(g=g, g_prime=g_prime, s=s, weight=weight)
    similar, dissimilar = _sd_losses(g, g_prime, s, prior, weight, loss)
    return similar.mean() + dissimilar.mean()


def sd_pcomp_terms(
    g: Tensor,
    g_prime: Tensor,
    s: Tensor,
    *,
    prior: float,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    gamma: float | None = None,
) -> Tensor:
    r"""Return the partial risks of a convex combination of SD and Pcomp, for binary answers of two kinds.

    A pair with an answer s is similar or dissimilar, in any order (:func:`sd_terms`). A pair whose s is NaN is ordered:
    its first item is at least as positive as the second (:func:`~confdiff.risks.pcomp_terms`). Both risks are unbiased,
    and so is :math:`\gamma \mathrm{SD} + (1 - \gamma) \mathrm{Pcomp}`.

    Parameters
    ----------
    g, g_prime, s, prior, weight, loss
        As in :func:`sd_terms`; s is NaN for ordered pairs.
    gamma : float or None
        Weight of the SD part, in [0, 1]; None means the one of least variance, estimated from the batch.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> s = torch.tensor([1.0, 0.0, torch.nan])
    >>> sd_pcomp_terms(torch.tensor([1.0, -1.0, 2.0]), torch.tensor([1.0, 1.0, 0.0]), s, prior=0.75, gamma=0.5)
    tensor([ 0.0474, -0.4275])
    """
    check_same_shape(g=g, g_prime=g_prime, s=s, weight=weight)
    w = torch.ones_like(g) if weight is None else weight
    ordered = torch.isnan(s)
    similar, dissimilar = _sd_losses(g, g_prime, _filled(s), prior, w * ~ordered, loss)
    order = Losses(pcomp_losses(g, g_prime, prior=prior, loss=loss), w * ordered)
    share = least_variance((similar, dissimilar), order) if gamma is None else gamma
    return share * (similar.mean() + dissimilar.mean()) + (1 - share) * order.mean()


def similarity_regression_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    s: Tensor,
    *,
    prior: float | None = None,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    fraction: float = 1.0,
) -> Tensor:
    r"""Return the squared errors of predicted differences and similarities and, given a prior, of the mean.

    .. math::
        \mathrm{mean}[(p' - p - c)^2], \qquad \mathrm{mean}[\tfrac12 (p + p') - \pi]^2, \qquad
        \lambda\, \mathrm{mean}[(p p' + (1 - p)(1 - p') - s)^2]

    An answer that was not given counts 0 in the mean over all pairs, so every answer has the same weight. Both errors
    are proper for the mean: drawn answers 0 and 1 and noise of mean zero move no minimum. Differences leave a constant
    open, and the similarities determine it, because :math:`(r + r' - 1)^2 = c^2 + 2 s - 1`.

    Parameters
    ----------
    g, g_prime, c, s, weight, loss
        As in :func:`sconf_confdiff_terms`.
    prior : float or None
        Class prior; ``None`` leaves the second term at 0.
    fraction : float
        Weight :math:`\lambda` of an answer about the class, relative to a difference.

    Returns
    -------
    Tensor of shape (3,)

    Examples
    --------
    >>> c, s = torch.tensor([0.5, torch.nan]), torch.tensor([torch.nan, 1.0])
    >>> similarity_regression_terms(torch.zeros(2), torch.zeros(2), c, s, prior=0.3)
    tensor([0.1250, 0.0400, 0.1250])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, s=s, weight=weight)
    w = torch.ones_like(g) if weight is None else weight
    p = probability(g, loss)
    p_prime = probability(g_prime, loss)
    difference_error = torch.where(torch.isnan(c), 0.0, p_prime - p - _filled(c))
    predicted = p * p_prime + (1 - p) * (1 - p_prime)
    similarity_error = torch.where(torch.isnan(s), 0.0, predicted - _filled(s))
    offset = p.new_zeros(()) if prior is None else mean_over_pairs(w * ((p + p_prime) / 2 - prior))
    return torch.stack(
        [
            mean_over_pairs(w * difference_error.square()),
            offset.square(),
            fraction * mean_over_pairs(w * similarity_error.square()),
        ]
    )


def _sconf_losses(
    g: Tensor, g_prime: Tensor, s: Tensor, prior: float | Tensor, loss: MarginLoss
) -> tuple[Tensor, Tensor]:
    """Return the losses of both items as positives and as negatives, each (2, n), weighted by the similarity."""
    _check_unbalanced(prior)
    share = (s - (1 - prior)) / (2 * prior - 1)
    scores = torch.stack([g, g_prime])
    return share * loss(scores) / 2, (1 - share) * loss(-scores) / 2


def _sd_losses(
    g: Tensor, g_prime: Tensor, s: Tensor, prior: float, weight: Tensor | None, loss: MarginLoss
) -> tuple[Losses, Losses]:
    """Return the losses (2, n) as positives and negatives of similar and of dissimilar pairs, scaled by their rates."""
    _check_unbalanced(prior)
    w = torch.ones_like(g) if weight is None else weight
    positive = (loss(g) + loss(g_prime)) / 2
    negative = (loss(-g) + loss(-g_prime)) / 2
    rate = prior**2 + (1 - prior) ** 2
    as_similar = torch.stack([prior * positive, (prior - 1) * negative])
    as_dissimilar = torch.stack([(prior - 1) * positive, prior * negative])
    similar = Losses(rate / (2 * prior - 1) * as_similar, w * s)
    dissimilar = Losses((1 - rate) / (2 * prior - 1) * as_dissimilar, w * (1 - s))
    return similar, dissimilar


def _check_unbalanced(prior: float | Tensor) -> None:
    """Refuse a class prior of 1/2, at which the weights of the losses have no finite value."""
    priors = torch.as_tensor(prior, dtype=torch.float64)
    if ((priors - 0.5).abs() < _BALANCED).any():
        raise balanced_prior()


def _filled(answers: Tensor) -> Tensor:
    """Return answers with 0 for those that were not given; their weight is 0."""
    return torch.nan_to_num(answers, nan=0.0)
