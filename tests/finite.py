"""A finite distribution with known posteriors, over which expectations are exact sums."""

from dataclasses import dataclass

import torch
from torch import Tensor

from confdiff.losses import MarginLoss


@dataclass(frozen=True)
class Finite:
    """k points with probabilities p(x), posteriors r(x) and scores g(x) of some model."""

    p: Tensor
    r: Tensor
    g: Tensor

    @property
    def prior(self) -> float:
        return float(self.p @ self.r)

    def risk(self, loss: MarginLoss) -> Tensor:
        """The true risk, straight from its definition (Eq. 3)."""
        return self.p @ (self.r * loss(self.g) + (1 - self.r) * loss(-self.g))

    def pairs(self) -> tuple[Tensor, Tensor, Tensor]:
        """All pairs (i, j), and weights with which a mean over them is the expectation over p(x) p(x')."""
        k = len(self.p)
        i, j = torch.cartesian_prod(torch.arange(k), torch.arange(k)).T
        return i, j, self.p[i] * self.p[j] * k * k

    def similarity(self, i: Tensor, j: Tensor) -> Tensor:
        """The probability that two points are of the same class."""
        return self.r[i] * self.r[j] + (1 - self.r[i]) * (1 - self.r[j])

    def labelled_pairs(self) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
        """All pairs with all labels, and the weights of the expectation over p(x, y) p(x', y')."""
        k = len(self.p)
        i, j, y, y_prime = torch.cartesian_prod(torch.arange(k), torch.arange(k), torch.arange(2), torch.arange(2)).T
        label_probability = torch.where(y == 1, self.r[i], 1 - self.r[i]) * torch.where(
            y_prime == 1, self.r[j], 1 - self.r[j]
        )
        return i, j, y.double(), y_prime.double(), self.p[i] * self.p[j] * label_probability * 4 * k * k


def some_distribution(seed: int = 0, k: int = 6) -> Finite:
    generator = torch.Generator().manual_seed(seed)
    p = torch.rand(k, generator=generator, dtype=torch.float64) + 0.1
    r = torch.rand(k, generator=generator, dtype=torch.float64)
    g = torch.randn(k, generator=generator, dtype=torch.float64)
    return Finite(p / p.sum(), r, g)
