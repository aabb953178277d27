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
    standardised, moments = _standardise(z.detach(), eps, reducer)
    output: Tensor = _Normalisation.apply(z, weight, bias, standardised, moments, reducer)  # type: ignore[no-untyped-call]
    return output, moments


def _standardise(z: Tensor, eps: float, reducer: Reducer) -> tuple[Tensor, Moments]:
    """Return standardised features, from the moments of all workers (Chan, Golub and LeVeque 1983).

    Operations in place are several times as fast as those that allocate a matrix, and ``torch.var_mean`` is slower.
    """
    features, n = z.shape
    own = z.new_empty(2 * features + 1)
    own[:features] = z.sum(1) / max(n, 1)
    deviations = z - own[:features, None]
    own[features:-1] = torch.linalg.vecdot(deviations, deviations, dim=1)
    own[-1] = n
    parts = reducer.gather(own)
    counts = parts[:, -1:]
    count = int(counts.sum().item())
    if count < 2:
        raise ValueError("batch norm needs at least two items in a batch; got one. Use a larger batch size.")
    means = parts[:, :features]
    mean = (counts * means).sum(0) / count
    squares = parts[:, features:-1].sum(0) + (counts * (means - mean).square()).sum(0)
    inverse = torch.rsqrt(squares / count + eps)
    standardised = deviations.sub_((mean - own[:features])[:, None]).mul_(inverse[:, None])
    return standardised, Moments(mean=mean, inverse=inverse, count=count)


class _Normalisation(torch.autograd.Function):
    r"""Scale and shift standardised features: :math:`h = \gamma \hat z + \beta`.

    The gradient with respect to :math:`z` is
    :math:`\gamma (d - \bar d - \hat z\, \overline{d \hat z}) / \sigma`. The means run over the items of all workers,
    because every output depends on the items of all.
    """

    @staticmethod
    def forward(
        ctx: Any,
        z: Tensor,
        weight: Tensor | None,
        bias: Tensor | None,
        standardised: Tensor,
        moments: Moments,
        reducer: Reducer,
    ) -> Tensor:
        scale = moments.inverse if weight is None else moments.inverse * weight
        ctx.save_for_backward(standardised, scale)
        ctx.count = moments.count
        ctx.reducer = reducer
        output = standardised.clone() if weight is None else standardised * weight[:, None]
        return output if bias is None else output.add_(bias[:, None])

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        (gradient,) = gradients
        standardised, scale = ctx.saved_tensors
        own = torch.stack([gradient.sum(1), torch.linalg.vecdot(gradient, standardised, dim=1)])
        mean, slope = ctx.reducer.sum(own.clone())[:, :, None] / ctx.count
        of_z = (standardised * -slope).add_(gradient).sub_(mean).mul_(scale[:, None])
        _, has_weight, has_bias, *_ = ctx.needs_input_grad
        return of_z, own[1] if has_weight else None, own[0] if has_bias else None, None, None, None


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
