"""Checks of what is known of pairs and their items: differences, weights, posteriors, labels, rows, groups."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation.arrays import and_more, as_array, check_finite, check_range, check_vector
from confdiff.validation.messages import no_weight


def check_class_priors(values: Any, n_classes: int) -> NDArray[Any]:
    """The priors of K classes: each above 0, adding up to 1."""
    array = check_vector("prior", values, n_classes, of="class")
    if array.min() <= 0 or abs(array.sum() - 1) > 1e-4:
        raise ValueError(f"prior must be one number above 0 for each class, adding up to 1; got {array.tolist()}.")
    return array


def check_difference(
    values: Any, length: int | None = None, *, what: str = "c (the confidence difference)", start: int = 0
) -> NDArray[np.float32]:
    """Confidence differences c = p(+|x') - p(+|x): one for each pair, in [-1, 1]."""
    array = check_vector(what, values, length, start=start)
    if array.dtype.kind == "b":
        raise ValueError(f"{what} must be numbers in [-1, 1]; got true/false. Who is higher is not yet by how much.")
    rounding = 1e-6  # differences of rounded posteriors may stick out by that much
    hint = "Divide percentages by 100; map a scale to -1..1."
    check_range(what, array, -1 - rounding, 1 + rounding, hint, start=start)
    return array.clip(-1, 1).astype(np.float32)


def _rounding(array: NDArray[Any]) -> float:
    """How far sums over the classes may be off: numbers of 16 bits are rounded in the fourth digit."""
    return 1e-4 if array.dtype.itemsize > 2 else 1e-3 * array.shape[1]


def check_difference_vectors(array: NDArray[Any], length: int) -> NDArray[np.float32]:
    """Confidence differences of K classes, c_k = p(k|x') - p(k|x): in [-1, 1], and adding up to 0 for each pair."""
    what = "c (the confidence differences)"
    if len(array) != length:
        raise ValueError(f"{what} must have one row for each pair: expected {length}, got {len(array)}.")
    check_finite(what, array)
    for column in range(array.shape[1]):
        check_range(f"{what}, class {column},", array[:, column], -1 - 1e-6, 1 + 1e-6, "Divide percentages by 100.")
    sums, rounding = array.sum(axis=1, dtype=np.float64), _rounding(array)
    hint = "What one class gains the others lose."
    check_range(f"{what}, added up over the classes,", sums, -rounding, rounding, hint)
    return array.clip(-1, 1).astype(np.float32)


def check_weight(values: Any, length: int) -> NDArray[np.float32]:
    """Weights of the pairs: not negative, not all zero; scaled to a mean of 1."""
    array = check_vector("weight", values, length)
    check_range("weight", array, 0, math.inf, "Drop pairs that should not count.")
    if not array.any():
        raise no_weight()
    scaled = array / array.max()  # first, as a sum of very large weights would overflow
    weight: NDArray[np.float32] = (scaled / scaled.mean(dtype=np.float64)).astype(np.float32)
    return weight


def check_posteriors(values: Any, length: int) -> NDArray[np.float32]:
    """Posteriors r = p(y = +1 | x), one for each item, in [0, 1]; or (N, K), those of K classes, which add up to 1."""
    array = as_array("posteriors", values)
    if array.ndim != 2:
        array = check_vector("posteriors", array, length, of="item")
    check_finite("posteriors", array)
    if len(array) != length:
        raise ValueError(f"posteriors must have one row for each item: expected {length}, got {len(array)}.")
    for column in array.reshape(length, -1).T:
        check_range("posteriors", column, 0, 1, "Posteriors are probabilities.")
    if array.ndim == 2:
        sums, rounding = array.sum(axis=1, dtype=np.float64), _rounding(array)
        what = "posteriors, added up over the classes,"
        check_range(what, sums, 1 - rounding, 1 + rounding, "Divide by the sum.")
    return array.astype(np.float32)


def check_labels(values: Any, length: int, n_classes: int = 2) -> NDArray[np.float32]:
    """Class labels of the items: 0/1 or -1/+1, returned as 0/1; or 0 to K - 1 where there are K classes."""
    array = check_vector("labels", values, length, of="item")
    found = np.unique(array)
    if n_classes > 2:
        if not np.isin(found, np.arange(n_classes)).all():
            expected = f"whole numbers from 0 to {n_classes - 1}"
            raise ValueError(f"labels must be {expected}; got numbers from {found[0]:g} to {found[-1]:g}.")
        return array.astype(np.float32)
    if not (np.isin(found, (0, 1)).all() or np.isin(found, (-1, 1)).all()):
        shown = ", ".join(f"{value:g}" for value in found[:5])
        raise ValueError(f"labels must be 0/1 or -1/+1; got the values {shown}.")
    positive: NDArray[np.float32] = (array == 1).astype(np.float32)
    return positive


def check_rows(what: str, values: Any, n_items: int, length: int | None = None, *, start: int = 0) -> NDArray[np.int64]:
    """Row numbers into the items, one for each pair."""
    array = check_vector(what, values, length, start=start)
    if array.dtype.kind == "f" and (array % 1).any():
        row = int(np.flatnonzero(array % 1)[0])
        raise ValueError(f"{what} must be whole row numbers into the items; got {array[row]:g} at row {start + row}.")
    if array.dtype.kind == "b":
        raise ValueError(f"{what} must be row numbers into the items; got true/false values.")
    outside = np.flatnonzero((array < 0) | (array >= n_items))
    if len(outside):
        row = int(outside[0])
        place = f"row {start + row}" + and_more(len(outside))
        raise ValueError(f"{what} must point into the items, 0 to {n_items - 1}; got {array[row]:g} at {place}.")
    return array.astype(np.int64)


def check_item_mask(what: str, values: Any, n_items: int) -> NDArray[np.bool_]:
    """A choice of items: true or false for each of them."""
    mask = as_array(what, values)
    if mask.dtype != bool or mask.shape != (n_items,):
        expected = f"true or false for each item, shape ({n_items},)"
        raise ValueError(f"{what} must be {expected}; got values of type {mask.dtype}, shape {mask.shape}.")
    return mask


def check_groups(values: Any, length: int) -> NDArray[np.int64]:
    """Group names of any kind, one for each pair, as whole numbers."""
    names = np.asarray(values)
    if names.shape != (length,):
        raise ValueError(f"group must have one entry for each pair: expected shape ({length},), got {names.shape}.")
    if names.dtype.kind == "f":
        check_finite("group", names)
    if names.dtype != object:
        return np.unique(names, return_inverse=True)[1].astype(np.int64)
    codes: dict[Any, int] = {}
    for row, name in enumerate(names.tolist()):
        if name is None or name != name:  # None, NaN and NA are missing, not a group
            raise ValueError(f"group must name a group for each pair; it is missing at row {row}.")
        codes.setdefault(name, len(codes))
    return np.array([codes[name] for name in names.tolist()], dtype=np.int64)


def check_known_ids(what: str, ids: NDArray[Any], rows: NDArray[np.int64]) -> None:
    """Every id was found in the index of the items (``rows`` holds -1 where it was not)."""
    unknown = np.flatnonzero(rows < 0)
    if len(unknown):
        first = int(unknown[0])
        name = ids[first : first + 1].tolist()[0]
        place = f"row {first}" + and_more(len(unknown))
        raise ValueError(f"{what}: the id {name!r} at {place} is not in the index of the items.")
