"""Scores of a network for single items."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from confdiff.pairs.sparse import Items, SparseItems, dense_batches
from confdiff.threads import computing
from confdiff.training.cost import largest_product
from confdiff.validation import as_float32, as_tensor, check_scores


def predict_scores(model: nn.Module, items: Items, *, n_classes: int | None = None, batch_size: int = 1024) -> Tensor:
    """Return the model's scores of items, in evaluation mode and without gradients.

    Parameters
    ----------
    model : torch.nn.Module
        The network.
    items : tensor or SparseItems of shape (m, d)
        The items to score; sparse ones are made dense batch by batch.
    n_classes : int, default=None
        The number of classes, if the network gives one score per class.
    batch_size : int, default=1024
        Items per forward pass.

    Returns
    -------
    tensor of shape (m,) or (m, K)
        The scores, on the CPU; with K columns if ``n_classes`` is given.
    """
    device = _device_of(model)
    with evaluating(model), torch.inference_mode():
        first = items[:1].dense() if isinstance(items, SparseItems) else items[:1]
        work = largest_product(model, for_network(first, model).to(device), min(batch_size, len(items)))
        parts = (for_network(part, model).to(device) for part in dense_batches(items, batch_size))
        with computing(work):
            scores = [check_scores(model(x), len(x), n_classes).cpu() for x in parts]
    return torch.cat(scores)


def _device_of(model: nn.Module) -> torch.device:
    first = next(model.parameters(), None)
    return torch.device("cpu") if first is None else first.device


def for_network(items: Tensor, model: nn.Module) -> Tensor:
    """Convert floats and bytes (pixels) to the precision of the network; leave ids, which it looks up, unchanged."""
    if not (items.is_floating_point() or items.dtype == torch.uint8):
        return items
    precision = next((p.dtype for p in model.parameters() if p.is_floating_point()), torch.float32)
    if precision == torch.float32 and items.dtype == torch.float64:
        return as_tensor(as_float32("items", items.cpu().numpy()))
    return items.to(precision)


@contextmanager
def evaluating(model: nn.Module) -> Iterator[None]:
    """Set evaluation mode inside the block; after it, restore the mode of every module, including frozen ones."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        yield
    finally:
        for module, mode in modes:
            module.training = mode
