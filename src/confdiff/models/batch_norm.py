r"""Batch norm over the items of the whole batch, of which several workers have a part each.

Symbols: :math:`z` one feature of an item, :math:`\mu, \sigma^2` its mean and variance over the items of all workers,
:math:`\hat z = (z - \mu)/\sigma`, :math:`\gamma, \beta` scale and shift, :math:`h` the output, :math:`d` the gradient
of the risk with respect to it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from confdiff.reduction import Reducer, current_reducer


@dataclass(frozen=True)
class Moments:
    """Statistics of the features of the whole batch.

    Attributes
    ----------
    mean, inverse : Tensor of shape (d,)
        Mean and inverse standard deviation of each feature.
    count : int
        Number of items.
    """

    mean: Tensor
    inverse: Tensor
    count: int


def normalise_over_workers(
    z: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, reducer: Reducer
) -> tuple[Tensor, Moments]:
    """Return the batch norm of features, with the statistics of the items of all workers.

    Parameters
    ----------
    z : Tensor of shape (d, m)
        One row per feature and one column per item of this worker; there may be none.
    weight, bias : Tensor of shape (d,) or None
        Scale and shift of the output.
    eps : float
        Added to the variance.
    reducer : Reducer
        The workers.

    Returns
    -------
    tuple of a Tensor of shape (d, m) and Moments
    """
    own = _OwnFeatures.of(z.detach(), eps)
    moments = _moments(own, eps, reducer)
    output: Tensor = _Normalisation.apply(z, weight, bias, own, moments, reducer)  # type: ignore[no-untyped-call]
    return output, moments


@dataclass(frozen=True)
class _OwnFeatures:
    """The features of the items of this worker, standardised by their own moments.

    Attributes
    ----------
    standardised : Tensor of shape (d, m)
        The features, with mean 0 and variance 1.
    mean, inverse : Tensor of shape (d,)
        What they were standardised by.
    """

    standardised: Tensor
    mean: Tensor
    inverse: Tensor

    @classmethod
    def of(cls, z: Tensor, eps: float) -> "_OwnFeatures":
        """Standardise features by group norm, whose kernel is several times as fast as the operations one by one."""
        features, n = z.shape
        if n == 0:
            return cls(standardised=z, mean=z.new_zeros(features), inverse=z.new_full((features,), eps**-0.5))
        normed, mean, inverse = torch.native_group_norm(z.contiguous()[None], None, None, 1, features, n, features, eps)
        return cls(standardised=normed[0], mean=mean[0], inverse=inverse[0])


def _moments(own: _OwnFeatures, eps: float, reducer: Reducer) -> Moments:
    """Return the moments of all workers, from those of each (Chan, Golub and LeVeque 1983)."""
    features, n = own.standardised.shape
    squares = n * (own.inverse.pow(-2) - eps)
    parts = reducer.gather(torch.cat([own.mean, squares, squares.new_tensor([n])]))
    counts = parts[:, -1:]
    count = int(counts.sum().item())
    if count < 2:
        raise ValueError("batch norm needs at least two items in a batch; got one. Use a larger batch size.")
    means = parts[:, :features]
    mean = (counts * means).sum(0) / count
    total = parts[:, features:-1].sum(0) + (counts * (means - mean).square()).sum(0)
    return Moments(mean=mean, inverse=torch.rsqrt(total / count + eps), count=count)


class _Normalisation(torch.autograd.Function):
    r"""Batch norm of features :math:`y` that are standardised by the moments of this worker.

    With the moments of all workers, :math:`\hat z = a y + b`, and :math:`h = \gamma \hat z + \beta`. The gradient with
    respect to :math:`z` is :math:`\gamma (d - \bar d - \hat z\, \overline{d \hat z}) / \sigma`. The means run over the
    items of all workers, because every output depends on the items of all.
    """

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        own: _OwnFeatures,
        moments: Moments,
        reducer: Reducer,
    ) -> Tensor:
        a = moments.inverse / own.inverse
        b = (own.mean - moments.mean) * moments.inverse
        weight = torch.ones_like(a) if weight is None else weight
        ctx.save_for_backward(own.standardised, a, b, moments.inverse * weight)
        ctx.count = moments.count
        ctx.reducer = reducer
        return _affine(own.standardised, a * weight, b * weight if bias is None else b * weight + bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        y, a, b, scale = ctx.saved_tensors
        total = gradient.sum(1)
        own = torch.stack([total, a * torch.linalg.vecdot(gradient, y, dim=1) + b * total])
        mean, slope = ctx.reducer.sum(own.clone()) / ctx.count
        of_z = _affine(y, -a * slope, -b * slope - mean).add_(gradient).mul_(scale[:, None])
        _, has_weight, has_bias, *_ = ctx.needs_input_grad
        return of_z, own[1] if has_weight else None, own[0] if has_bias else None, None, None, None


def _affine(y: Tensor, factor: Tensor, offset: Tensor) -> Tensor:
    """Return ``factor * y + offset`` for each row, by the kernel of batch norm, which makes one pass."""
    if y.shape[1] == 0:
        return torch.empty_like(y)
    zeros = torch.zeros_like(factor)
    scaled = functional.batch_norm(y[None], zeros, torch.ones_like(factor), factor, offset, eps=0.0)
    return scaled.squeeze_(0)  # not a view, which a custom function must not return


@contextmanager
def batch_norm_over_workers() -> Iterator[None]:
    """Let all batch norms of PyTorch use the items of all workers inside the block, while they train.

    PyTorch's own ``SyncBatchNorm`` refuses tensors on the CPU. The class is changed, not the modules, so that copies of
    a network behave in the same way.
    """
    original = _BatchNorm.forward

    def forward(module: Any, x: Tensor) -> Tensor:
        reducer = current_reducer()
        if reducer is None or not module.training:
            return original(module, x)
        return _forward_over_workers(module, x, reducer)

    _BatchNorm.forward = forward  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        _BatchNorm.forward = original  # type: ignore[method-assign]


def _forward_over_workers(module: _BatchNorm, x: Tensor, reducer: Reducer) -> Tensor:
    """Return the batch norm of (m, d) or (m, d, ...), and update the running statistics of the module."""
    by_feature = x.transpose(0, 1)
    z = by_feature.reshape(x.shape[1], by_feature[0].numel())
    normed, moments = normalise_over_workers(z, module.weight, module.bias, module.eps, reducer)
    if module.track_running_stats:
        _update_running_statistics_of(module, moments)
    return normed.reshape(by_feature.shape).transpose(0, 1)


@torch.no_grad()
def _update_running_statistics_of(module: _BatchNorm, moments: Moments) -> None:
    """Move the running mean and the (unbiased) running variance, as batch norm does."""
    assert module.running_mean is not None
    assert module.running_var is not None
    assert module.num_batches_tracked is not None
    module.num_batches_tracked.add_(1)
    momentum = module.momentum
    if momentum is None:
        momentum = 1 / float(module.num_batches_tracked)
    variance = (moments.inverse.pow(-2) - module.eps) * (moments.count / (moments.count - 1))
    module.running_mean.lerp_(moments.mean, momentum)
    module.running_var.lerp_(variance, momentum)
