"""The convex combination of two unbiased risks with the least variance."""

from dataclasses import dataclass

import torch
from torch import Tensor

from confdiff.reduction import sum_over_pairs

_FEWEST = 4
"""Pairs from which a variance is estimated; with fewer, risks are weighted by their pairs."""


@dataclass(frozen=True)
class Losses:
    """Losses of n pairs, for k partial risks.

    Attributes
    ----------
    values : Tensor of shape (k, n)
        The losses of each pair.
    weight : Tensor of shape (n,)
        The weights of the pairs, 0 for those without this kind of answer.
    """

    values: Tensor
    weight: Tensor

    def mean(self) -> Tensor:
        """Return the partial risks, (k,): the weighted means; 0 if no pair has a weight."""
        return sum_over_pairs(self.values * self.weight) / self._total

    @property
    def _total(self) -> Tensor:
        total = sum_over_pairs(self.weight)
        return torch.where(total > 0, total, torch.ones_like(total))

    @property
    def residuals(self) -> Tensor:
        """The contribution of each pair to the error of the sum of the partial risks, (n,)."""
        loss = self.values.sum(0)
        mean = sum_over_pairs(loss * self.weight) / self._total
        return (loss - mean) / self._total

    @property
    def count(self) -> int:
        """The number of pairs with a weight."""
        return int(sum_over_pairs((self.weight > 0).long()))


Parts = Losses | tuple[Losses, ...]
"""The losses of a risk, or of the strata that are added to it."""


@torch.no_grad()
def least_variance(first: Parts, second: Parts) -> float:
    r"""Return the weight of the first risk in the convex combination of least variance, estimated from the losses.

    With the variances :math:`a, b` of the two means and their covariance :math:`k`, it is
    :math:`(b - k) / (a + b - 2k)`, clipped to [0, 1].

    Examples
    --------
    >>> noisy = Losses(torch.tensor([[2.0, -2.0, 2.0, -2.0]]), torch.ones(4))
    >>> precise = Losses(torch.tensor([[1.0, 1.0, -1.0, -1.0]]), torch.ones(4))
    >>> least_variance(noisy, precise)
    0.2
    """
    strata = _as_strata(first)
    others = _as_strata(second)
    if any(part.count < _FEWEST for part in (*strata, *others)):
        return _share_of_weight(strata, others)
    a = _variance(strata)
    b = _variance(others)
    k = sum(_covariance(part, other) for part in strata for other in others)
    spread = a + b - 2 * k
    if spread <= 0:
        return _share_of_weight(strata, others)
    return min(1.0, max(0.0, (b - k) / spread))


def _as_strata(parts: Parts) -> tuple[Losses, ...]:
    return (parts,) if isinstance(parts, Losses) else parts


def _share_of_weight(strata: tuple[Losses, ...], others: tuple[Losses, ...]) -> float:
    """Return the weight of the first risk's pairs as a fraction of that of both."""
    weight = sum(float(sum_over_pairs(part.weight)) for part in strata)
    total = weight + sum(float(sum_over_pairs(part.weight)) for part in others)
    return weight / total if total > 0 else 0.5


def _variance(strata: tuple[Losses, ...]) -> float:
    """Return the variance of a sum of means over strata, whose pairs are independent."""
    return sum(_covariance(part, part) for part in strata)


def _covariance(first: Losses, second: Losses) -> float:
    """Return the covariance of two means; a weight w counts as w pairs, and only pairs of both risks contribute."""
    shared = torch.minimum(first.weight, second.weight)
    return float(sum_over_pairs(shared * first.residuals * second.residuals))
