"""From the forms in which estimators take pairs to :class:`~confdiff.Pairs`."""

import math
import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import as_array


def as_pairs(pairs: Any, c: ArrayLike | None = None, *, items: Any = None, **known: Any) -> Pairs:
    """Pairs from any of the forms that the estimators take; see :class:`ConfDiffClassifier`."""
    given = {name: value for name, value in known.items() if value is not None}
    if isinstance(pairs, Pairs):
        if items is not None:
            raise ValueError("items= goes with row numbers; these Pairs carry their items already.")
        if c is None and not given:
            return pairs
        kept = {name: getattr(pairs, name) for name in ("weight", "group", "posteriors", "labels", "feature_names")}
        c = pairs.difference if c is None else c
        return Pairs(pairs.items, pairs.left, pairs.right, c, **(kept | given))
    if items is not None:
        return Pairs.from_rows(pairs, items, c, **given)
    array = as_array("pairs", pairs)
    if array.ndim == 2 and array.shape[1] == 2:
        raise ValueError(
            "pairs of shape (n, 2) are row numbers, and these need the items they point to. "
            "Pass items=..., or Pairs.from_rows(pairs, items), which cross-validation can split."
        )
    return Pairs.from_array(array, c, **given)


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


def without_some_items(data: Pairs, share: float, seed: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs to train on and pairs to hold out, about ``share`` of all: those that touch one of some items.

    None of these items is trained on. Pairs held out by themselves would be of items that other pairs made known.
    """
    places = torch.stack([data.left, data.right])
    items = torch.unique(places)
    order = items[torch.randperm(len(items), generator=generator(seed, "held out"))]
    chosen = torch.zeros(int(items.max()) + 1, dtype=torch.bool)
    chosen[order[: max(1, round((1 - math.sqrt(1 - share)) * len(items)))]] = True
    touched = chosen[places].any(dim=0).numpy()
    return np.flatnonzero(~touched), np.flatnonzero(touched)


def warn_of_unconnected_groups(data: Pairs) -> None:
    """Differences inside groups say nothing about offsets between groups that no pair connects."""
    if data.group is None:
        return
    parts = data.n_components()
    if parts > 1:
        warnings.warn(
            f"the compared items fall into {parts} parts that no pair connects. Differences do not tell the offsets "
            "between them, and one prior for all is then biased: add pairs across groups if you can.",
            UserWarning,
            stacklevel=3,
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
