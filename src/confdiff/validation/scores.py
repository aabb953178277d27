"""Check the output of networks and the input of risks."""

import math
from collections.abc import Iterable
from typing import Any

from torch import Tensor


def check_same_shape(**tensors: Any) -> None:
    """Check that all tensors are vectors of one length, so that nothing broadcasts silently; ``None`` is skipped.

    >>> import torch
    >>> check_same_shape(g=torch.zeros(3), c=torch.zeros(3, 1))
    Traceback (most recent call last):
    ...
    ValueError: g, c must be vectors of one length; got g (3,), c (3, 1).
    """
    shape = next(iter(tensors.values())).shape
    if len(shape) == 1 and all(tensor is None or tensor.shape == shape for tensor in tensors.values()):
        return
    present = {name: tensor for name, tensor in tensors.items() if tensor is not None}
    raise ValueError(f"{', '.join(present)} must be vectors of one length; got {_shapes(present)}.")


def check_same_matrix(weight: Tensor | None, **tensors: Tensor) -> None:
    """Check that all tensors are matrices of one shape (n, K), and ``weight`` a vector (n,) or ``None``."""
    shape = next(iter(tensors.values())).shape
    if len(shape) != 2 or any(tensor.shape != shape for tensor in tensors.values()):
        raise ValueError(f"{', '.join(tensors)} must be matrices of one shape (n, K); got {_shapes(tensors)}.")
    if weight is not None and weight.shape != shape[:1]:
        raise ValueError(f"weight must be one number for each pair, ({shape[0]},); got {tuple(weight.shape)}.")


def _shapes(tensors: dict[str, Any]) -> str:
    return ", ".join(f"{name} {tuple(tensor.shape)}" for name, tensor in tensors.items())


def check_scores(output: Any, rows: int, n_classes: int | None = None) -> Tensor:
    """Return the output of a model as one score per item, or per item and class.

    Parameters
    ----------
    output : Any
        Output of the model for ``rows`` items.
    rows : int
        Number of items.
    n_classes : int or None
        Number of classes K if the model scores each of them, ``None`` for one score per item.

    Returns
    -------
    Tensor of shape (rows,), or (rows, K)

    Raises
    ------
    ValueError
        If the output is not a tensor of that shape.
    """
    expected = [(rows,), (rows, 1)] if n_classes is None else [(rows, n_classes)]
    if not isinstance(output, Tensor) or tuple(output.shape) not in expected:
        got = f"shape {tuple(output.shape)}" if isinstance(output, Tensor) else type(output).__name__
        shapes = " or ".join(map(str, expected))
        per = "per item" if n_classes is None else "per item and class"
        raise ValueError(f"the model must return one score {per}, shape {shapes}; got {got}.")
    return output.reshape(expected[0])


def non_finite_risk(terms: Tensor, names: Iterable[str], epoch: int, step: int) -> FloatingPointError:
    """Return the error for a NaN or infinite risk, with the partial risk, the step and a remedy."""
    values = zip(names, terms.tolist(), strict=True)
    bad = [f"{name} = {value:g}" for name, value in values if not math.isfinite(value)]
    return FloatingPointError(
        f"the risk is not finite at epoch {epoch + 1}, step {step + 1}: partial risk {', '.join(bad) or 'sum'}. "
        "A smaller learning rate or scaled features usually help."
    )
