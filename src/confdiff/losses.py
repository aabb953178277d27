r"""Margin losses :math:`\phi(z)`, so that :math:`\ell(g, +1) = \phi(g)` and :math:`\ell(g, -1) = \phi(-g)`.

Each loss is an elementwise function of a tensor of margins. :data:`LOSSES` adds what is known about it: its bound
and its Lipschitz constant where margins lie in [-C, C] (the :math:`C_\ell` and :math:`L_\ell` of the paper's
bounds), and the map from scores to probabilities where the loss is proper.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from confdiff.validation import no_probabilities

MarginLoss = Callable[[Tensor], Tensor]


def logistic(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = \log(1 + e^{-z})`.

    >>> logistic(torch.tensor([0.0]))
    tensor([0.6931])
    """
    return functional.softplus(-z)


def squared(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = (1 - z)^2`.

    >>> squared(torch.tensor([-1.0, 1.0]))
    tensor([4., 0.])
    """
    return (1 - z).square()


def sigmoid(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = 1 / (1 + e^{z})`.

    >>> sigmoid(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return torch.sigmoid(-z)


def ramp(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = \min(1, \max(0, (1 - z)/2))`.

    >>> ramp(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([1.0000, 0.5000, 0.0000])
    """
    return ((1 - z) / 2).clamp(0, 1)


def hinge(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = \max(0, 1 - z)`.

    >>> hinge(torch.tensor([-1.0, 2.0]))
    tensor([2., 0.])
    """
    return (1 - z).clamp(min=0)


def exponential(z: Tensor) -> Tensor:
    r""":math:`\phi(z) = e^{-z}`.

    >>> exponential(torch.tensor([0.0]))
    tensor([1.])
    """
    return torch.exp(-z)


@dataclass(frozen=True)
class LossFacts:
    """What is known about a margin loss.

    function: the loss itself.
    bound: C -> the largest value of the loss on [-C, C].
    lipschitz: C -> the smallest Lipschitz constant of the loss on [-C, C].
    probability: scores -> p(y = +1 | x), where the minimiser of the risk tells it; otherwise ``None``.
    """

    function: MarginLoss
    bound: Callable[[float], float]
    lipschitz: Callable[[float], float]
    probability: Callable[[Tensor], Tensor] | None = None


def _logistic_function(z: float) -> float:
    return 1 / (1 + math.exp(-z))


LOSSES: dict[str, LossFacts] = {
    "logistic": LossFacts(
        logistic, lambda C: math.log1p(math.exp(-C)) + C, _logistic_function, probability=torch.sigmoid
    ),
    "squared": LossFacts(
        squared,
        lambda C: (1 + C) ** 2,
        lambda C: 2 * (1 + C),
        probability=lambda g: ((1 + g) / 2).clamp(0, 1),
    ),
    "sigmoid": LossFacts(sigmoid, _logistic_function, lambda C: 0.25),
    "ramp": LossFacts(ramp, lambda C: min(1.0, (1 + C) / 2), lambda C: 0.5),
    "hinge": LossFacts(hinge, lambda C: 1 + C, lambda C: 1.0),
    "exponential": LossFacts(exponential, math.exp, math.exp, probability=lambda g: torch.sigmoid(2 * g)),
}
"""Name -> loss and its facts, for C > 0. ``logistic`` is the paper's choice."""


def probability(g: Tensor, loss: MarginLoss = logistic) -> Tensor:
    """The probability of the positive class that scores stand for under a loss.

    >>> probability(torch.tensor([0.0, 50.0]))
    tensor([0.5000, 1.0000])
    """
    for name, facts in LOSSES.items():
        if facts.function is loss:
            if facts.probability is None:
                raise no_probabilities(name)
            return facts.probability(g)
    raise no_probabilities(getattr(loss, "__name__", "given"))
