r"""Risks of the preference link and the score link: the difference is one of scores, not of probabilities.

Symbols: :math:`g, g'` the scores of the two items of a pair, :math:`c` the graded difference, :math:`\phi` the loss of
a margin. Both risks depend on :math:`g' - g` only, so that scores are determined up to a constant. See
:mod:`confdiff.links` for what the links mean.
"""

from torch import Tensor

from confdiff.losses import MarginLoss, logistic
from confdiff.reduction import mean_over_pairs
from confdiff.validation import check_same_shape


def preference_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the risk of paired comparisons with soft outcomes (Bradley and Terry 1952).

    .. math:: \mathrm{mean}[\tfrac{1 + c}{2}\, \phi(g' - g) + \tfrac{1 - c}{2}\, \phi(g - g')]

    With the logistic loss, this is the cross-entropy of :math:`\sigma(g' - g)`, the probability to prefer the second
    item, with the fraction :math:`(1 + c) / 2` of votes for it. The least is at :math:`c = 2 \sigma(g' - g) - 1`.

    Parameters
    ----------
    g, g_prime : Tensor of shape (n,)
        Scores of the first and of the second items.
    c : Tensor of shape (n,)
        Differences in [-1, 1]: the fraction of votes for the second item minus that for the first.
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
    >>> preference_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.0, 0.0]), torch.tensor([0.3, -1.0]))
    tensor([0.5032])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    margin = g_prime - g
    risks = ((1 + c) * loss(margin) + (1 - c) * loss(-margin)) / 2
    return mean_over_pairs(risks if weight is None else risks * weight).reshape(1)


def score_terms(
    g: Tensor,
    g_prime: Tensor,
    c: Tensor,
    *,
    weight: Tensor | None = None,
    loss: MarginLoss = logistic,
) -> Tensor:
    r"""Return the squared error of differences of scores, :math:`\mathrm{mean}[(g' - g - c)^2]` (Massey 1997).

    Parameters as in :func:`preference_terms`, except that ``loss`` is ignored: every risk takes one, and this is a
    fixed squared error. Differences may be of any size. The result has shape (1,).

    >>> import torch
    >>> score_terms(torch.tensor([0.0, 1.0]), torch.tensor([0.5, 0.0]), torch.tensor([0.5, 1.0]))
    tensor([2.])
    """
    check_same_shape(g=g, g_prime=g_prime, c=c, weight=weight)
    errors = (g_prime - g - c).square()
    return mean_over_pairs(errors if weight is None else errors * weight).reshape(1)
