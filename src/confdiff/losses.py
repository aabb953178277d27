r"""Margin losses :math:`\phi(z)`, with :math:`\ell(g, +1) = \phi(g)` and :math:`\ell(g, -1) = \phi(-g)`.

Each loss is an elementwise function of a tensor of margins. :data:`LOSSES` adds the properties of each loss. These are
its bound and its Lipschitz constant for margins in [-C, C] (the paper's :math:`C_\ell` and :math:`L_\ell`). Proper
losses also have the map from scores to probabilities.
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
    r"""Return the logistic loss, :math:`\phi(z) = \log(1 + e^{-z})`.

    >>> logistic(torch.tensor([0.0]))
    tensor([0.6931])
    """
    return functional.softplus(-z)


def squared(z: Tensor) -> Tensor:
    r"""Return the squared loss, :math:`\phi(z) = (1 - z)^2`.

    >>> squared(torch.tensor([-1.0, 1.0]))
    tensor([4., 0.])
    """
    return (1 - z).square()


def sigmoid(z: Tensor) -> Tensor:
    r"""Return the sigmoid loss, :math:`\phi(z) = 1 / (1 + e^{z})`.

    >>> sigmoid(torch.tensor([0.0]))
    tensor([0.5000])
    """
    return torch.sigmoid(-z)


def ramp(z: Tensor) -> Tensor:
    r"""Return the ramp loss, :math:`\phi(z) = \min(1, \max(0, (1 - z)/2))`.

    >>> ramp(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([1.0000, 0.5000, 0.0000])
    """
    return ((1 - z) / 2).clamp(0, 1)


def hinge(z: Tensor) -> Tensor:
    r"""Return the hinge loss, :math:`\phi(z) = \max(0, 1 - z)`.

    >>> hinge(torch.tensor([-1.0, 2.0]))
    tensor([2., 0.])
    """
    return (1 - z).clamp(min=0)


def exponential(z: Tensor) -> Tensor:
    r"""Return the exponential loss, :math:`\phi(z) = e^{-z}`.

    >>> exponential(torch.tensor([0.0]))
    tensor([1.])
    """
    return torch.exp(-z)


@dataclass(frozen=True)
class LossFacts:
    """A margin loss and its properties.

    Attributes
    ----------
    function : callable
        The loss, elementwise.
    bound : callable
        C -> the largest value of the loss on [-C, C].
    lipschitz : callable
        C -> the smallest Lipschitz constant of the loss on [-C, C].
    probability : callable or None
        Scores -> p(y = +1 | x) if the loss is proper, so that the minimiser of the risk determines it.
    """

    function: MarginLoss
    bound: Callable[[float], float]
    lipschitz: Callable[[float], float]
    probability: Callable[[Tensor], Tensor] | None = None


def _logistic_function(z: float) -> float:
    return 1 / (1 + math.exp(-z))


LOSSES: dict[str, LossFacts] = {
    "logistic": LossFacts(
        function=logistic,
        bound=lambda C: math.log1p(math.exp(-C)) + C,
        lipschitz=_logistic_function,
        probability=torch.sigmoid,
    ),
    "squared": LossFacts(
        function=squared,
        bound=lambda C: (1 + C) ** 2,
        lipschitz=lambda C: 2 * (1 + C),
        probability=lambda g: ((1 + g) / 2).clamp(0, 1),
    ),
    "sigmoid": LossFacts(function=sigmoid, bound=_logistic_function, lipschitz=lambda C: 0.25),
    "ramp": LossFacts(function=ramp, bound=lambda C: min(1.0, (1 + C) / 2), lipschitz=lambda C: 0.5),
    "hinge": LossFacts(function=hinge, bound=lambda C: 1 + C, lipschitz=lambda C: 1.0),
    "exponential": LossFacts(
        function=exponential,
        bound=math.exp,
        lipschitz=math.exp,
        probability=lambda g: torch.sigmoid(2 * g),
    ),
}
"""Name -> loss and its properties, for C > 0. The paper uses ``logistic``."""


def probability(g: Tensor, loss: MarginLoss = logistic) -> Tensor:
    """Return the probability of the positive class that scores represent under a loss.

    Parameters
    ----------
    g : Tensor
        Scores, of any shape.
    loss : callable
        The loss that the scores minimise; it must be proper.

    Returns
    -------
    Tensor of the shape of ``g``

    Raises
    ------
    ValueError
        If scores do not determine probabilities under the loss.

    Examples
    --------
    >>> probability(torch.tensor([0.0, 50.0]))
    tensor([0.5000, 1.0000])
    """
    for name, facts in LOSSES.items():
        if facts.function is loss:
            if facts.probability is None:
                raise no_probabilities(name)
            return facts.probability(g)
    raise no_probabilities(getattr(loss, "__name__", "custom"))
