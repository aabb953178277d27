"""Linear models and multilayer perceptrons.

Inside the forward pass of a perceptron, a matrix has one row per feature and one column per item. Rows are then
aligned in memory for every width of a layer, which makes matrix products fast, and batch statistics run along them.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from confdiff.models.batch_norm import Moments, normalise_over_workers
from confdiff.reduction import current_reducer


def linear(n_features: int, n_scores: int = 1) -> nn.Module:
    """Return a linear score w.x + b; with the logistic loss its unbiased risk is convex."""
    return nn.Linear(n_features, n_scores)


class _MLP(nn.Sequential):
    """Linear, batch norm and ReLU for each hidden layer; then linear.

    Layers and parameters are the standard ones; only the forward pass is rearranged for speed.
    """

    dropout: float = 0.0
    """The fraction of the outputs of each hidden layer that are set to 0 in training."""

    def extra_repr(self) -> str:
        return f"dropout={self.dropout:g}" if self.dropout else ""

    def forward(self, x: Tensor) -> Tensor:
        layers: list[Any] = list(self)
        *hidden, last = layers
        norms = hidden[1::3]
        moments: list[Moments] = []
        h = x.t()
        for linear, norm in zip(hidden[0::3], norms, strict=True):
            z = linear.weight @ h
            if self.training:
                z, moment = _normalise(z, norm)
                moments.append(moment)
            else:
                z = functional.batch_norm(z[None], norm.running_mean, norm.running_var, norm.weight, norm.bias)[0]
            h = z.relu_()
            if self.dropout:
                h = functional.dropout(h, self.dropout, self.training)
        if self.training:
            _update_running_statistics(norms, moments)
        return _scores(last, h)


def _scores(last: nn.Linear, h: Tensor) -> Tensor:
    """Return one score per item, or one row of scores."""
    scores = _affine(last, h)
    return scores.view(-1) if len(scores) == 1 else scores.t()


def _affine(linear: nn.Linear, h: Tensor) -> Tensor:
    """Return ``linear(h.t()).t()``."""
    return torch.addmm(linear.bias[:, None], linear.weight, h)


def _normalise(z: Tensor, norm: nn.BatchNorm1d) -> tuple[Tensor, Moments]:
    """Return the batch norm of z, with one row per feature, and its moments.

    The batch statistics of a feature are those of its row: group norm with one group per feature has a fast kernel.
    """
    reducer = current_reducer()
    if reducer is not None:
        return normalise_over_workers(z, norm.weight, norm.bias, norm.eps, reducer)
    features, n = z.shape
    if n < 2:
        raise ValueError("batch norm needs at least two items in a batch; got one. Use a larger batch size.")
    batch = z.unsqueeze(0)  # one "image" with a channel for each feature
    normed, mean, inverse = torch.native_group_norm(batch, norm.weight, norm.bias, 1, features, n, features, norm.eps)
    return normed.squeeze(0), Moments(mean=mean[0], inverse=inverse[0], count=n)


@torch.no_grad()
def _update_running_statistics(norms: list[Any], moments: list[Moments]) -> None:
    """Update the running mean and (unbiased) variance as batch norm does, for all layers at once."""
    n = moments[0].count
    means = [moment.mean for moment in moments]
    inverses = [moment.inverse for moment in moments]
    variances = torch._foreach_pow(inverses, -2)
    torch._foreach_sub_(variances, norms[0].eps)
    torch._foreach_mul_(variances, n / (n - 1))
    momentum = norms[0].momentum
    torch._foreach_lerp_([norm.running_mean for norm in norms], means, momentum)
    torch._foreach_lerp_([norm.running_var for norm in norms], variances, momentum)


def mlp(
    n_features: int, n_scores: int = 1, *, hidden: tuple[int, ...] = (300, 300, 300), dropout: float = 0.0
) -> nn.Module:
    """Return the perceptron of the paper: hidden layers of width 300, each with batch norm and ReLU.

    The hidden layers have no bias, as batch norm subtracts the mean and adds a bias of its own.

    Parameters
    ----------
    n_features : int
        Number of features of an item.
    n_scores : int
        Number of scores per item.
    hidden : tuple of int
        Widths of the hidden layers.
    dropout : float
        The fraction of the outputs of each hidden layer that are set to 0 in training (Srivastava et al. 2014).
    """
    layers: list[nn.Module] = []
    for width_in, width_out in zip((n_features, *hidden[:-1]), hidden, strict=True):
        layers += [nn.Linear(width_in, width_out, bias=False), nn.BatchNorm1d(width_out), nn.ReLU()]
    network = _MLP(*layers, nn.Linear(hidden[-1], n_scores))
    network.dropout = dropout
    return network


class _AuthorsMLP(nn.Module):
    def __init__(self, n_features: int, n_scores: int, width: int) -> None:
        super().__init__()
        self.normalise = nn.BatchNorm1d(n_features)
        self.enter = nn.Linear(n_features, width)
        self.repeat = nn.Linear(width, width)
        self.leave = nn.Linear(width, n_scores)

    def forward(self, x: Tensor) -> Tensor:
        h = _affine(self.enter, self.normalise(x).t()).relu_()
        for _ in range(3):
            h = _affine(self.repeat, h).relu_()
        return _scores(self.leave, h)


def authors_mlp(n_features: int, n_scores: int = 1, *, width: int = 300) -> nn.Module:
    """Return the network of the authors' program: batch norm of the input, then one hidden layer applied three times.

    Input -> batch norm -> linear(300) -> ReLU -> three times the *same* linear(300) and ReLU -> linear(1).

    Parameters
    ----------
    n_features : int
        Number of features of an item.
    n_scores : int
        Number of scores per item.
    width : int
        Width of the hidden layers.
    """
    return _AuthorsMLP(n_features, n_scores, width)
