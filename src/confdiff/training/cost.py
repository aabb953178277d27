"""The size of the largest matrix product of a network, from which the number of threads follows."""

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

from confdiff.randomness import seeded

_LENGTHS: dict[str, Callable[..., int]] = {
    "linear": lambda x, weight, *_: weight.shape[-1],
    "matmul": lambda left, right, *_: left.shape[-1],
    "__matmul__": lambda left, right, *_: left.shape[-1],
    "mm": lambda left, right, *_: left.shape[-1],
    "bmm": lambda left, right, *_: left.shape[-1],
    "addmm": lambda offset, left, *_: left.shape[-1],
    "conv1d": lambda x, weight, *_: weight[0].numel(),
    "conv2d": lambda x, weight, *_: weight[0].numel(),
    "conv3d": lambda x, weight, *_: weight[0].numel(),
}
"""Name of a function -> the multiply-adds for one entry of its result, from its arguments."""
_cost_per_item: WeakKeyDictionary[nn.Module, float] = WeakKeyDictionary()


def largest_product(model: nn.Module, x: Tensor, n_rows: int) -> float:
    """Return the multiply-adds of the largest matrix product in a forward pass over ``n_rows`` items.

    Parameters
    ----------
    model : torch.nn.Module
        The network, in evaluation mode. It is measured once and not changed.
    x : tensor of shape (m, d)
        Items as the network takes them. The first one is enough.
    n_rows : int
        Items per forward pass.

    Returns
    -------
    float
        The largest over all matrix products and convolutions; 0 if the network cannot be measured.

    Examples
    --------
    >>> largest_product(nn.Sequential(nn.Linear(8, 3), nn.Linear(3, 1)), torch.zeros(1, 8), 100)
    2400.0
    """
    if model not in _cost_per_item:
        _cost_per_item[model] = _measure(model, x[:1])
    return n_rows * _cost_per_item[model]


class _Products(TorchFunctionMode):
    """Note the size of the largest product of a block."""

    def __init__(self) -> None:
        super().__init__()
        self.largest: float = 0.0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        name = getattr(function, "__name__", "")
        if name in _LENGTHS:
            self.largest = max(self.largest, float(result.numel() * _LENGTHS[name](*args)))
        return result


def _measure(model: nn.Module, x: Tensor) -> float:
    """Pass one item through the network, twice as a batch, and return the size of the largest product per item."""
    products = _Products()
    with torch.no_grad(), seeded(0, "cost"), products:
        try:
            model(torch.cat([x, x]))
        except Exception:  # the work itself reports why a network fails
            return 0.0
    return products.largest / 2
