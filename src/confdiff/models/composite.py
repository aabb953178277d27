"""Networks around networks: standardised features before one, and the mean of the scores of several."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from confdiff.standardisation import Scaling


class Standardised(nn.Module):
    """A network whose features are standardised first: the scores of ``(x - centre) * factor``.

    Centre and factor are buffers, so that they are saved with the weights and exported with the network.

    Parameters
    ----------
    network : nn.Module
        The network.
    n_features : int
        Number of features of an item.

    Examples
    --------
    >>> import numpy as np
    >>> scaling = Scaling(centre=np.array([3.0]), factor=np.array([2.0]))
    >>> Standardised(nn.Identity(), 1).set_scaling(scaling)(torch.tensor([[4.0]]))
    tensor([[2.]])
    """

    centre: Tensor
    factor: Tensor

    def __init__(self, network: nn.Module, n_features: int) -> None:
        super().__init__()
        self.network = network
        self.register_buffer("centre", torch.zeros(n_features))
        self.register_buffer("factor", torch.ones(n_features))

    def set_scaling(self, scaling: Scaling) -> "Standardised":
        """Set the centre and the factor of each feature, and return the network."""
        self.centre.copy_(torch.from_numpy(scaling.centre))
        self.factor.copy_(torch.from_numpy(scaling.factor))
        return self

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of items (m, d)."""
        scores: Tensor = self.network((x - self.centre) * self.factor)
        return scores


class MeanOfNetworks(nn.Module):
    """The mean of the scores of several networks, which varies less than those of one.

    Parameters
    ----------
    networks : sequence of nn.Module
        Networks that take the same items.

    Examples
    --------
    >>> MeanOfNetworks([nn.Identity(), nn.ReLU()])(torch.tensor([-2.0, 2.0]))
    tensor([-1.,  2.])
    """

    def __init__(self, networks: Sequence[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, x: Tensor) -> Tensor:
        """Return the mean scores of items (m, d)."""
        scores = [network(x) for network in self.networks]
        return torch.stack([score.reshape(scores[0].shape) for score in scores]).mean(dim=0)
