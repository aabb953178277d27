"""From the forms in which estimators take pairs to :class:`~confdiff.Pairs`, and which of them are held out."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.forms import SAMPLED, as_pairs
from confdiff.pairs.splitting import assign_parts, fraction_of_items, split_by_part
from confdiff.randomness import generator
from confdiff.validation import warn_user


def as_pairs_or_stream(pairs: Any, c: ArrayLike | None, *, items: Any, **known: Any) -> Pairs | StreamedPairs:
    """Streamed pairs as they are, all else as pairs in memory."""
    if not isinstance(pairs, StreamedPairs):
        return as_pairs(pairs, c, items=items, **known)
    if any(value is not None for value in (c, items, *known.values())):
        raise ValueError("c, items, weights and groups go with pairs in memory; streamed ones carry what they have.")
    return pairs


def all_and_known(pairs: Pairs | StreamedPairs, seed: int) -> tuple[Pairs | StreamedPairs, Pairs]:
    """The pairs to train on, and those that all else is asked of: the same, or some of a stream."""
    if isinstance(pairs, StreamedPairs):
        return pairs, pairs.sample(SAMPLED, seed)
    data = as_float_matrix(pairs)
    return data, data


def check_validation(validation: Any, data: Pairs) -> Pairs:
    """Held-out pairs that tell of their items what the pairs to learn from tell."""
    if not isinstance(validation, Pairs):
        raise ValueError(f"validation must be a Pairs; got {type(validation).__name__}.")
    held_out = as_float_matrix(validation)
    for what, given, expected in (
        ("features", held_out.items.shape[1], data.items.shape[1]),
        ("classes", held_out.n_classes, data.n_classes),
    ):
        if given != expected:
            raise ValueError(f"validation must have as many {what} as the pairs, {expected}; got {given}.")
    if held_out.difference is None and data.difference is not None:
        raise ValueError("validation must have differences, as the pairs have; got none.")
    return held_out


def as_float_matrix(data: Pairs) -> Pairs:
    """The pairs over a matrix of floats; tensors may come as whole numbers or with more dimensions."""
    if data.items.ndim != 2:
        shape = tuple(data.items.shape)
        raise ValueError(f"items must be a matrix, shape (N, d); got {shape}. Flatten them first.")
    if data.items.dtype in (torch.float32, torch.float64):
        return data
    return data.with_items(data.items.float(), data.feature_names)


def probabilities_of(model: Any, data: Pairs) -> NDArray[Any]:
    """What a model says of all items of pairs, whose columns are known to be those that it was fitted on."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        probabilities: NDArray[Any] = model.predict_proba(data.items.numpy())
    return probabilities


def hold_out(data: Pairs | StreamedPairs, share: float, seed: int) -> tuple[Pairs | StreamedPairs, Pairs]:
    """Pairs to train on and pairs to hold out, about ``share`` of all; of a stream at most :data:`SAMPLED`."""
    if isinstance(data, StreamedPairs):
        chosen = torch.rand(len(data.items), generator=generator(seed, "held out")) < fraction_of_items(share)
        return data.without(chosen), data.sample(SAMPLED, seed, touching=chosen)
    kept, held_out = without_some_items(data, share, seed)
    if len(kept) < 2 or len(held_out) < 2:
        raise ValueError(f"{len(data)} pairs are too few to hold some of them out.")
    return data[kept], data[held_out]


def without_some_items(data: Pairs, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs to train on and pairs to hold out, about ``share`` of all: those that touch one of some items.

    None of these items is trained on. Pairs held out by themselves would be of items that other pairs made known.
    """
    items = torch.unique(torch.stack([data.left, data.right]))
    order = items[torch.randperm(len(items), generator=generator(seed, "held out"))]
    size = max(1, round(fraction_of_items(share) * len(items)))
    part = assign_parts(order.numpy(), [size], count=len(data.items))
    training, held_out = split_by_part(data.left.numpy(), data.right.numpy(), part)
    return training, held_out


def warn_of_unconnected_groups(data: Pairs) -> None:
    """Differences inside groups say nothing about offsets between groups that no pair connects."""
    if data.group is None:
        return
    parts = data.n_components()
    if parts > 1:
        warn_user(
            f"the compared items fall into {parts} parts that no pair connects. Differences do not tell the offsets "
            "between them, and one prior for all is then biased: add pairs across groups if you can."
        )


def class_names(classes: Any, data: Pairs) -> NDArray[Any]:
    """A name for each class, kept as they are also where they are of different types."""
    if classes is None:
        return np.arange(data.n_classes) if data.has_vectors else np.array([-1, 1])
    count = data.n_classes
    if isinstance(classes, str) or len(classes) != count or len(set(classes)) != count:
        many = {2: "two different names, the negative one first"}.get(count, f"{count} different names")
        raise ValueError(f"classes must be {many}; got {classes!r}.")
    names = np.empty(count, dtype=object)
    names[:] = classes
    return names if len({type(name) for name in classes}) > 1 else np.asarray(classes)


def distinct_items(data: Pairs) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.int64]]:
    """The items that stand in a pair, equal ones once and in an order of their own, and the rows of both ends of pairs.

    >>> distinct_items(Pairs([[2.0], [1.0], [9.0], [2.0]], left=[0, 1], right=[1, 3]))
    (array([[1.],
           [2.]]), array([1, 0]), array([0, 1]))
    """
    used = data.compact()
    items, rows = np.unique(used.items.numpy(), axis=0, return_inverse=True)
    return items, rows.reshape(-1)[used.left], rows.reshape(-1)[used.right]
