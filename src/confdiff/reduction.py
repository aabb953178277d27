r"""Sums and means over the pairs of a batch, of which this process may have a part only.

A risk is a function of sums over the pairs of a batch, and often not a linear one: corrections, the square of an offset
and the shift of targets come after the sum. With several workers, each has some of the pairs of a batch. Risks
therefore sum by the functions of this module. Inside :func:`reducing`, they add the sums of all workers before they
return.

Symbols: :math:`S = \sum_w s_w` the sum over workers. Every worker computes the same :math:`F(S)`, and the gradient of
:math:`F` with respect to its own :math:`s_w` is :math:`F'(S)`. So the backward pass needs no exchange, and the
gradients of the workers add up to the gradient of the whole batch.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import torch
from torch import Tensor


class Reducer(Protocol):
    """The other workers, as sums over pairs use them."""

    rank: int
    """The number of this worker, from 0."""

    size: int
    """The number of workers."""

    n_pairs: int
    """The number of pairs of the whole batch."""

    def sum(self, values: Tensor) -> Tensor:
        """Add the values of all workers, in place, and return them."""

    def gather(self, values: Tensor) -> Tensor:
        """Return the values of all workers, in a new first dimension."""


_current: ContextVar[Reducer | None] = ContextVar("reducer", default=None)


def current_reducer() -> Reducer | None:
    """Return the reducer of the enclosing block of :func:`reducing`, or None."""
    return _current.get()


@contextmanager
def reducing(reducer: Reducer | None) -> Iterator[None]:
    """Let sums over pairs include the pairs of other workers inside the block; None leaves them as they are."""
    token = _current.set(reducer)
    try:
        yield
    finally:
        _current.reset(token)


def sum_over_pairs(values: Tensor, dim: int = -1) -> Tensor:
    """Return the sum over the pairs of the batch.

    Parameters
    ----------
    values : Tensor
        One entry per pair along the dimension ``dim``.
    dim : int
        The dimension of the pairs.

    Returns
    -------
    Tensor
        The sums, without the dimension ``dim``; the same in all workers.

    Examples
    --------
    >>> sum_over_pairs(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([3., 7.])
    """
    reducer = _current.get()
    if reducer is None:
        return values.sum(dim)
    total: Tensor = _SumOverWorkers.apply(values.sum(dim), reducer)  # type: ignore[no-untyped-call]
    return total


def mean_over_pairs(values: Tensor, dim: int = -1) -> Tensor:
    """Return the mean over the pairs of the batch; parameters and result as in :func:`sum_over_pairs`.

    >>> mean_over_pairs(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1.5000, 3.5000])
    """
    reducer = _current.get()
    if reducer is None:
        return values.mean(dim)
    return sum_over_pairs(values, dim) / reducer.n_pairs


def part_of(n: int, reducer: Reducer | None) -> slice:
    """Return the part of n pairs or items that is for this worker; parts differ by at most one.

    >>> part_of(5, None)
    slice(0, 5, None)
    """
    if reducer is None:
        return slice(0, n)
    return slice(n * reducer.rank // reducer.size, n * (reducer.rank + 1) // reducer.size)


class _SumOverWorkers(torch.autograd.Function):
    """The sum of a value over workers, whose gradient with respect to the own value is that of the sum."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, reducer: Reducer) -> Tensor:
        return reducer.sum(value.clone().contiguous())

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0], None
