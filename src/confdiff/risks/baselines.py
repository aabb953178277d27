r"""Baselines from later papers that learn from differences, biased for the reasons that their functions state.

Symbols: a pair :math:`(x, x')` with scores :math:`g, g'`, the probabilities :math:`p, p'` that they represent,
:math:`c` the confidence difference, :math:`\pi` the class prior, :math:`\ell_\pm(z) = \phi(\pm z)` a margin loss.
"""

import torch
from torch import Tensor

from confdiff.losses import MarginLoss, logistic, probability
from confdiff.reduction import mean_over_pairs
from confdiff.risks.confdiff import confdiff_terms
from confdiff.risks.supervised import supervised_terms
from confdiff.validation import check_same_shape

CLEAR = 0.5
"""The absolute difference from which a pair counts as clear, not as similar."""


def glws_targets(g: Tensor, g_prime: Tensor, c: Tensor, *, loss: MarginLoss = logistic) -> tuple[Tensor, Tensor]:
    r"""Return the targets of both items in the conf-diff loss of GLWS, without gradient.

    They are the marginals of :math:`q(y, y') \propto p(y | x)\, p(y' | x')\, w(y, y')`, with
    :math:`w(+,+) = w(-,-) = 1 - |c|`, weight :math:`|c|` for the two different labels in the order of :math:`c`, and 0
    for the other order.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Confidence differences; those beyond [-1, 1] count as -1 and 1.
    loss : callable
        Margin loss, elementwise.

    Returns
    -------
    tuple of two Tensors of shape (n,)

    Examples
    --------
    >>> glws_targets(torch.zeros(1), torch.zeros(1), torch.tensor([0.5]))
    (tensor([0.3333]), tensor([0.6667]))
    """
    check_same_shape(g=g, g_prime=g_prime, c=c)
    with torch.no_grad():
        p = probability(g, loss)
        p_prime = probability(g_prime, loss)
        size = c.abs().clamp(max=1)
        both = p * p_prime * (1 - size)
        neither = (1 - p) * (1 - p_prime) * (1 - size)
        second = torch.where(c > 0, (1 - p) * p_prime * size, 0.0)
        first = torch.where(c < 0, p * (1 - p_prime) * size, 0.0)
        total = (both + neither + second + first).clamp(min=1e-12)
        return (both + first) / total, (both + second) / total


def glws_terms(
    g: Tensor, g_prime: Tensor, c: Tensor, *, weight: Tensor | None = None, loss: MarginLoss = logistic
) -> Tensor:
    r"""Return the conf-diff loss of GLWS (Chen et al. 2024): the cross-entropy to :func:`glws_targets`.

    It reads :math:`|c|` as the probability of different labels in the order of c. That probability is
    :math:`r'(1 - r)` for :math:`c = r' - r > 0`, and so :math:`c + r(1 - r')`: larger than c unless one of the
    posteriors is 0 or 1. So the loss is biased for posteriors in the middle: the true scores are not stationary.

    Parameters
    ----------
    g, g_prime, c, loss
        As in :func:`glws_targets`.
    weight : Tensor of shape (n,) or None
        Weights of the pairs; weights with mean 1 keep the scale.

    Returns
    -------
    Tensor of shape (2,)

    Examples
    --------
    >>> glws_terms(torch.zeros(2), torch.zeros(2), torch.tensor([0.5, -0.5]))
    tensor([0.3466, 0.3466])
    """
    targets = glws_targets(g, g_prime, c, loss=loss)
    return supervised_terms(g, g_prime, *targets, weight=weight, loss=loss)


def crcr_like_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    prior: float | Tensor,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
    consistency: float = 1.0,
) -> Tensor:
    r"""Return the four ConfDiff risks of the clear pairs, and a consistency term of the similar ones.

    .. math::
        A, B, C, D \text{ over } |c| \ge \tfrac12, \qquad
        \lambda\, \mathrm{mean}[1(|c| < \tfrac12)\, (p - p')^2]

    An ablation in the manner of CRCR (ICML 2025), of which only the abstract and the reviews were read: it is not that
    method. It is biased unless c is 0 for every similar pair: it drops these pairs from an unbiased mean, and pulls
    their different posteriors together.

    Parameters
    ----------
    g, g_prime, c, prior, weight, loss
        As in :func:`~confdiff.risks.confdiff_terms`.
    consistency : float
        Weight :math:`\lambda` of the consistency term.

    Returns
    -------
    Tensor of shape (5,)

    Examples
    --------
    >>> g, g_prime, c = torch.tensor([0.0, 1.0]), torch.tensor([1.0, -1.0]), torch.tensor([0.2, -0.8])
    >>> crcr_like_terms(g, g_prime, c, prior=0.5)
    tensor([ 0.1018,  0.1018, -0.0985, -0.0985,  0.0267])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    w = torch.ones_like(g) if weight is None else weight
    clear = c.abs() >= CLEAR
    terms = confdiff_terms(g, g_prime, c, prior=prior, weight=w * clear, loss=loss)
    gap = (probability(g, loss) - probability(g_prime, loss)).square()
    return torch.cat([terms, consistency * mean_over_pairs(w * ~clear * gap)[None]])
