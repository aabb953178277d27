"""Linear models and multilayer perceptrons.

Inside the forward pass of a perceptron a matrix has a row for each feature and a column for each item. Rows are then
aligned whatever the width of a layer, which the matrix products like, and batch statistics run along them.
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


def linear(n_features: int, n_scores: int = 1) -> nn.Module:
    """A linear score w.x + b; with the logistic loss its unbiased risk is convex."""
    return nn.Linear(n_features, n_scores)


class _MLP(nn.Sequential):
    """Linear, batch norm, ReLU, as often as there are hidden layers; then linear.

    The layers are the usual ones and so are their parameters; only the forward pass is arranged for speed.
    """

    def forward(self, x: Tensor) -> Tensor:
        layers: list[Any] = list(self)
        *hidden, last = layers
        norms, moments = hidden[1::3], []
        h = x.t()
        for linear, norm in zip(hidden[0::3], norms, strict=True):
            z = linear.weight @ h
            if self.training:
                z, *moment = _normalise(z, norm)
                moments.append(moment)
            else:
                z = functional.batch_norm(z[None], norm.running_mean, norm.running_var, norm.weight, norm.bias)[0]
            h = z.relu_()
        if self.training:
            _keep_running_statistics(norms, moments, len(x))
        return _scores(last, h)


def _scores(last: nn.Linear, h: Tensor) -> Tensor:
    """One score an item, or a row of them."""
    scores = _affine(last, h)
    return scores.view(-1) if len(scores) == 1 else scores.t()


def _affine(linear: nn.Linear, h: Tensor) -> Tensor:
    """What ``linear(h.t()).t()`` gives."""
    return torch.addmm(linear.bias[:, None], linear.weight, h)


def _normalise(z: Tensor, norm: nn.BatchNorm1d) -> tuple[Tensor, Tensor, Tensor]:
    """Batch norm of z, which has a row for each feature, and its means and inverse standard deviations.

    The batch statistics of a feature are those of its row: group norm with one group a feature, whose kernel is fast.
    """
    features, n = z.shape
    if n < 2:
        raise ValueError("batch norm needs at least two items in a batch; got one.")
    batch = z.unsqueeze(0)  # one "image" with a channel for each feature
    normed, mean, inverse = torch.native_group_norm(batch, norm.weight, norm.bias, 1, features, n, features, norm.eps)
    return normed.squeeze(0), mean, inverse


@torch.no_grad()
def _keep_running_statistics(norms: list[Any], moments: list[list[Tensor]], n: int) -> None:
    """What batch norm does to its running mean and (unbiased) variance, for all layers at once."""
    means, inverses = ([moment[0] for moment in column] for column in zip(*moments, strict=True))
    variances = torch._foreach_pow(inverses, -2)
    torch._foreach_sub_(variances, norms[0].eps)
    torch._foreach_mul_(variances, n / (n - 1))
    momentum = norms[0].momentum
    torch._foreach_lerp_([norm.running_mean for norm in norms], means, momentum)
    torch._foreach_lerp_([norm.running_var for norm in norms], variances, momentum)


def mlp(n_features: int, n_scores: int = 1, *, hidden: tuple[int, ...] = (300, 300, 300)) -> nn.Module:
    """The perceptron that the paper describes: hidden layers of 300, batch norm and ReLU after each.

    The hidden layers have no bias of their own, as batch norm subtracts the mean and adds its own.
    """
    layers: list[nn.Module] = []
    for width_in, width_out in zip((n_features, *hidden[:-1]), hidden, strict=True):
        layers += [nn.Linear(width_in, width_out, bias=False), nn.BatchNorm1d(width_out), nn.ReLU()]
    return _MLP(*layers, nn.Linear(hidden[-1], n_scores))


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
    """The network of the authors' program: batch norm on the raw input, then one hidden layer applied three times.

    Input -> batch norm -> linear(300) -> ReLU -> three times the *same* linear(300) and ReLU -> linear(1).
    """
    return _AuthorsMLP(n_features, n_scores, width)
