"""Checks of what networks give and risks take."""

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor


def check_same_shape(**tensors: Any) -> None:
    """Vectors of one length: nothing may broadcast silently.

    >>> import torch
    >>> check_same_shape(g=torch.zeros(3), c=torch.zeros(3, 1))
    Traceback (most recent call last):
    ...
    ValueError: g, c must be vectors of one length; got g (3,), c (3, 1).
    """
    shape = next(iter(tensors.values())).shape
    if len(shape) == 1 and all(tensor is None or tensor.shape == shape for tensor in tensors.values()):
        return
    given = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in given.items())
    raise ValueError(f"{', '.join(given)} must be vectors of one length; got {shapes}.")


def check_same_matrix(weight: Tensor | None, **tensors: Tensor) -> None:
    """Matrices of one shape (n, K), and a weight (n,) or none: nothing may broadcast silently."""
    shape = next(iter(tensors.values())).shape
    if len(shape) != 2 or any(tensor.shape != shape for tensor in tensors.values()):
        shapes = ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())
        raise ValueError(f"{', '.join(tensors)} must be matrices of one shape (n, K); got {shapes}.")
    if weight is not None and weight.shape != shape[:1]:
        raise ValueError(f"weight must be one number for each pair, ({shape[0]},); got {tuple(weight.shape)}.")


def check_scores(output: Any, rows: int, n_classes: int | None = None) -> Tensor:
    """A model's output as a vector with one score for each item, or a matrix with one for each of K classes."""
    expected = [(rows,), (rows, 1)] if n_classes is None else [(rows, n_classes)]
    if not isinstance(output, Tensor) or tuple(output.shape) not in expected:
        got = f"shape {tuple(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
        shapes = " or ".join(map(str, expected))
        each = "" if n_classes is None else " and class"
        raise ValueError(f"the model must give one score an item{each}, shape {shapes}; got {got}.")
    return output.reshape(expected[0])


def non_finite_risk(terms: Tensor, names: Iterable[str], epoch: int, step: int) -> FloatingPointError:
    """The error for a risk that is NaN or infinite: which partial risk, when, and what usually helps."""
    bad = [f"{name} = {value:g}" for name, value in zip(names, terms.tolist(), strict=True) if not math.isfinite(value)]
    return FloatingPointError(
        f"the risk is not finite at epoch {epoch + 1}, step {step + 1}: partial risk {', '.join(bad) or 'sum'}. "
        "A smaller learning rate or scaled features usually help."
    )
