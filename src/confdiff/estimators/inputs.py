"""Inputs of the estimators: convert pairs to :class:`~confdiff.Pairs` and check them."""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.forms import SAMPLED, as_pairs
from confdiff.pairs.sparse import SparseItems, as_matrix, distinct_rows
from confdiff.prior import SameAnswers
from confdiff.validation import warn_user


def as_pairs_or_stream(pairs: Any, c: ArrayLike | None, *, items: Any, **columns: Any) -> Pairs | StreamedPairs:
    """Return streamed pairs unchanged, and all other forms of pairs as pairs in memory."""
    if not isinstance(pairs, StreamedPairs):
        return as_pairs(pairs, c, items=items, **columns)
    if any(value is not None for value in (c, items, *columns.values())):
        raise ValueError(
            "streamed pairs have their own items, differences and weights; pass no c, items, sample_weight or groups."
        )
    return pairs


def pairs_and_sample(pairs: Pairs | StreamedPairs, seed: int) -> tuple[Pairs | StreamedPairs, Pairs]:
    """Return the pairs to train on, and pairs in memory for all else: the same pairs, or a sample of a stream."""
    if isinstance(pairs, StreamedPairs):
        return pairs, pairs.sample(SAMPLED, seed)
    data = as_float_matrix(pairs)
    return data, data


def has_answers_only(pairs: Pairs | StreamedPairs) -> bool:
    """Return whether pairs have same-class answers and no difference."""
    return pairs.has("same") and not pairs.has("differences")


def graded_or(answered: Pairs, pairs: Pairs | StreamedPairs, seed: int) -> Pairs:
    """Return the pairs that have a difference, or a sample of a stream; the answered ones if no pair has."""
    if not pairs.has("differences"):
        return answered
    graded = pairs.carrying("differences")
    return graded if isinstance(graded, Pairs) else graded.sample(SAMPLED, seed)


def answers_of(pairs: Pairs | StreamedPairs, seed: int = 0) -> SameAnswers | None:
    """Return the same-class answers of pairs, or of a sample of a stream; None if there are none."""
    if not isinstance(pairs, StreamedPairs):
        return SameAnswers.of_pairs(pairs)
    return SameAnswers.of_pairs(pairs.carrying("same").sample(SAMPLED, seed)) if pairs.has("same") else None


def check_validation(validation: Any, data: Pairs, *, allow_missing: bool = False) -> Pairs:
    """Check that validation pairs have the features, classes and differences of the training pairs."""
    if not isinstance(validation, Pairs):
        raise ValueError(f"validation must be a Pairs; got {type(validation).__name__}.")
    validation_pairs = as_float_matrix(validation, allow_missing=allow_missing)
    for what, count, expected in (
        ("features", validation_pairs.items.shape[1], data.items.shape[1]),
        ("classes", validation_pairs.n_classes, data.n_classes),
    ):
        if count != expected:
            raise ValueError(f"validation must have as many {what} as the pairs, {expected}; got {count}.")
    if validation_pairs.difference is None and data.difference is not None:
        raise ValueError("validation must have differences, as the pairs have; got none.")
    return validation_pairs


def as_float_matrix(data: Pairs, *, allow_missing: bool = False) -> Pairs:
    """Return the pairs with items as a matrix of floats; refuse items with more dimensions, and missing values."""
    if not allow_missing:
        data.require_complete()
    if data.items.ndim != 2:
        shape = tuple(data.items.shape)
        raise ValueError(f"items must be a matrix, shape (N, d); got {shape}. Flatten them first.")
    if isinstance(data.items, SparseItems) or data.items.dtype in (torch.float32, torch.float64):
        return data
    return data.with_items(data.items.float(), data.feature_names)


def predict_item_proba(model: Any, data: Pairs) -> NDArray[Any]:
    """Predict probabilities (N, K) for all items of pairs whose columns are already checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        probabilities: NDArray[Any] = model.predict_proba(as_matrix(data.items))
    return probabilities


def predict_item_scores(model: Any, data: Pairs) -> NDArray[Any]:
    """Predict scores (N,) for all items of pairs whose columns are already checked."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        scores: NDArray[Any] = model.decision_function(as_matrix(data.items))
    return scores


def warn_of_unconnected_groups(data: Pairs) -> None:
    """Warn if no pair connects some groups: differences do not determine the offsets between them."""
    if data.group is None:
        return
    n_components = data.n_components()
    if n_components > 1:
        warn_user(
            f"the compared items form {n_components} connected components. Differences do not determine the offsets "
            "between these, and one prior for all of them is biased: add pairs across groups if you can."
        )


def class_names(classes: Any, data: Pairs) -> NDArray[Any]:
    """Return an array of class names; names of different types keep their types."""
    if classes is None:
        return np.arange(data.n_classes) if data.has_vectors else np.array([-1, 1])
    count = data.n_classes
    if isinstance(classes, str) or len(classes) != count or len(set(classes)) != count:
        expected = "two different names, the negative one first" if count == 2 else f"{count} different names"
        raise ValueError(f"classes must be {expected}; got {classes!r}.")
    names = np.empty(count, dtype=object)
    names[:] = classes
    return names if len({type(name) for name in classes}) > 1 else np.asarray(classes)


def distinct_items(data: Pairs) -> tuple[Any, NDArray[np.int64], NDArray[np.int64]]:
    """Return the distinct items of the pairs, sorted, and the rows in them of the first and second items of pairs.

    The items are an array, or a SciPy sparse array if those of the pairs are sparse.

    >>> distinct_items(Pairs([[2.0], [1.0], [9.0], [2.0]], left=[0, 1], right=[1, 3]))
    (array([[1.],
           [2.]]), array([1, 0]), array([0, 1]))
    """
    compact = data.compact()
    items, rows = distinct_rows(as_matrix(compact.items))
    return items, rows[compact.left.numpy()], rows[compact.right.numpy()]
