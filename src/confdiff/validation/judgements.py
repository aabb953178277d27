"""Check the data of pairs and items: differences, weights, labels, row numbers, groups, annotators and sides."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation.arrays import as_array, check_finite, check_range, check_vector, count_suffix
from confdiff.validation.messages import no_weight


def check_class_priors(values: Any, n_classes: int) -> NDArray[Any]:
    """Return the priors of K classes, each above 0 and with sum 1."""
    array = check_vector("prior", values, n_classes, of="class")
    if array.min() <= 0 or abs(array.sum() - 1) > 1e-4:
        raise ValueError(f"prior must be one number above 0 for each class, with sum 1; got {array.tolist()}.")
    return array


def check_difference(
    values: Any, length: int | None = None, *, name: str = "c (the confidence difference)", start: int = 0
) -> NDArray[np.float32]:
    """Return the confidence differences c = p(+|x') - p(+|x), one in [-1, 1] for each pair.

    Parameters
    ----------
    values : array-like of shape (n,)
        The differences. Values outside [-1, 1] by rounding only are clipped.
    length : int or None
        The expected n, if it is known.
    name : str
        Name of the argument, for messages.
    start : int
        Number of the first row, for messages about a batch.

    Returns
    -------
    ndarray of float32, shape (n,)
    """
    array = check_vector(name, values, length, start=start)
    if array.dtype.kind == "b":
        raise ValueError(
            f"{name} must be numbers in [-1, 1]; got true/false values. "
            "A preference is not a difference: methods such as pcomp-abs learn from ordered pairs."
        )
    rounding = 1e-6  # differences of rounded posteriors may exceed 1 by this much
    hint = "Divide percentages by 100; map a scale to -1..1."
    check_range(name, array, -1 - rounding, 1 + rounding, hint, start=start)
    return array.clip(-1, 1).astype(np.float32)


def _rounding(array: NDArray[Any]) -> float:
    """Return the tolerance of sums over the classes: 16-bit floats are rounded in the fourth digit."""
    return 1e-4 if array.dtype.itemsize > 2 else 1e-3 * array.shape[1]


def check_difference_beside(
    values: NDArray[Any], same: NDArray[Any], *, name: str = "c (the confidence difference)", start: int = 0
) -> NDArray[np.float32]:
    """Return the confidence differences of pairs, NaN where a pair has a same-class answer instead.

    Parameters
    ----------
    values : ndarray of shape (n,)
        The differences; NaN is allowed where ``same`` is not NaN.
    same : ndarray of shape (n,)
        Checked answers, see :func:`check_same`.
    name, start
        As in :func:`check_difference`.

    Returns
    -------
    ndarray of float32, shape (n,)
    """
    numbers = _with_missing(name, values)
    if numbers.shape != same.shape:
        return check_difference(values, len(same), name=name, start=start)  # which says what is wrong
    missing = np.isnan(numbers)
    unanswered = missing & np.isnan(same)
    if unanswered.any():
        row = start + int(np.argmax(unanswered))
        raise ValueError(
            f"{name} must be given where a pair has no answer about the class; row {row} has neither. Drop such pairs."
        )
    differences = check_difference(np.where(missing, 0.0, numbers), len(same), name=name, start=start)
    return np.where(missing, np.float32(np.nan), differences)


def check_same(values: Any, length: int, *, name: str = "same", start: int = 0) -> NDArray[np.float32]:
    """Return answers whether both items of a pair are of the same class: probabilities, 0 or 1, NaN if not asked.

    Parameters
    ----------
    values : array-like of shape (n,)
        Numbers in [0, 1] or true/false values; None and NaN are missing.
    length : int
        The number of pairs, n.
    name : str
        Name of the argument, for messages.
    start : int
        Number of the first row, for messages about a batch.

    Returns
    -------
    ndarray of float32, shape (n,)

    Examples
    --------
    >>> check_same([True, None, 0.25], 3)
    array([1.  ,  nan, 0.25], dtype=float32)
    """
    numbers = _with_missing(name, values)
    missing = np.isnan(numbers)
    checked = check_vector(name, np.where(missing, 0.0, numbers), length, start=start)
    check_range(name, checked, 0, 1, "1 is the same class, 0 another one; NaN if not asked.", start=start)
    return np.where(missing, np.float32(np.nan), checked).astype(np.float32)


def _with_missing(name: str, values: Any) -> NDArray[np.float64]:
    """Return numbers, with NaN for missing values."""
    array = as_array(name, values)
    if array.dtype.kind == "O":
        array = np.array([np.nan if value is None or value != value else value for value in array.reshape(-1)])
    return array.astype(np.float64)


def check_difference_vectors(array: NDArray[Any], length: int) -> NDArray[np.float32]:
    """Return the confidence differences of K classes, c_k = p(k|x') - p(k|x).

    Parameters
    ----------
    array : ndarray of shape (n, K)
        The differences, in [-1, 1] and with sum 0 for each pair.
    length : int
        The expected n.

    Returns
    -------
    ndarray of float32, shape (n, K)
    """
    name = "c (the confidence differences)"
    if len(array) != length:
        raise ValueError(f"{name} must have one row for each pair: expected {length}, got {len(array)}.")
    check_finite(name, array)
    for column in range(array.shape[1]):
        check_range(f"{name}, class {column},", array[:, column], -1 - 1e-6, 1 + 1e-6, "Divide percentages by 100.")
    sums = array.sum(axis=1, dtype=np.float64)
    rounding = _rounding(array)
    hint = "Posteriors sum to 1, so their differences sum to 0."
    check_range(f"{name}, summed over the classes,", sums, -rounding, rounding, hint)
    return array.clip(-1, 1).astype(np.float32)


_LEAST_RATIO = 1e-30  # of the smallest and the largest weight: smaller weights would become 0 as 32-bit floats


def check_weight(values: Any, length: int) -> NDArray[np.float32]:
    """Return the weights of the pairs, finite, non-negative and not all zero, scaled to a mean of 1."""
    array = check_vector("weight", values, length)
    check_range("weight", array, 0, math.inf, "Drop pairs that should not count, or give them weight 0.")
    if not array.any():
        raise no_weight()
    scaled = array / array.max()  # before the mean: a sum of very large weights would overflow
    least = array[array > 0].min()
    if scaled[array > 0].min() < _LEAST_RATIO:
        raise ValueError(
            f"weight must not differ by more than a factor of {1 / _LEAST_RATIO:g}, as the smallest would count as 0; "
            f"got {least:g} to {array.max():g}. Give pairs that should not count a weight of 0."
        )
    weight: NDArray[np.float32] = (scaled / scaled.mean(dtype=np.float64)).astype(np.float32)
    return weight


def check_posteriors(values: Any, length: int) -> NDArray[np.float32]:
    """Return the posteriors r = p(y = +1 | x) of the items, or those of K classes.

    Parameters
    ----------
    values : array-like of shape (N,) or (N, K)
        Probabilities in [0, 1]; those of K classes sum to 1 for each item.
    length : int
        The expected N.

    Returns
    -------
    ndarray of float32, shape (N,) or (N, K)
    """
    array = as_array("posteriors", values)
    if array.ndim != 2:
        array = check_vector("posteriors", array, length, of="item")
    check_finite("posteriors", array)
    if len(array) != length:
        raise ValueError(f"posteriors must have one row for each item: expected {length}, got {len(array)}.")
    for column in array.reshape(length, -1).T:
        check_range("posteriors", column, 0, 1, "Pass probabilities; divide percentages by 100.")
    if array.ndim == 2:
        sums = array.sum(axis=1, dtype=np.float64)
        rounding = _rounding(array)
        hint = "Divide each row by its sum."
        check_range("posteriors, summed over the classes,", sums, 1 - rounding, 1 + rounding, hint)
    return array.astype(np.float32)


def check_labels(values: Any, length: int, n_classes: int = 2) -> NDArray[np.float32]:
    """Return the class labels of the items as 0/1, or as 0 to K - 1 for K classes.

    Parameters
    ----------
    values : array-like of shape (length,)
        Labels 0/1 or -1/+1; for K > 2 classes whole numbers from 0 to K - 1.
    length : int
        Number of items.
    n_classes : int
        Number of classes K.

    Returns
    -------
    ndarray of float32, shape (length,)
    """
    array = check_vector("labels", values, length, of="item")
    classes = np.unique(array)
    if n_classes > 2:
        if not np.isin(classes, np.arange(n_classes)).all():
            expected = f"whole numbers from 0 to {n_classes - 1}"
            raise ValueError(f"labels must be {expected}; got numbers from {classes[0]:g} to {classes[-1]:g}.")
        return array.astype(np.float32)
    if not (np.isin(classes, (0, 1)).all() or np.isin(classes, (-1, 1)).all()):
        shown = ", ".join(f"{value:g}" for value in classes[:5])
        raise ValueError(f"labels must be 0/1 or -1/+1; got the values {shown}.")
    positive: NDArray[np.float32] = (array == 1).astype(np.float32)
    return positive


def check_rows(name: str, values: Any, n_items: int, length: int | None = None, *, start: int = 0) -> NDArray[np.int64]:
    """Return row numbers into the items, one for each pair.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array-like of shape (n,)
        Whole numbers from 0 to ``n_items - 1``.
    n_items : int
        Number of items.
    length : int or None
        The expected n, if it is known.
    start : int
        Number of the first row, for messages about a batch.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    array = check_vector(name, values, length, start=start)
    if array.dtype.kind == "f" and (array % 1).any():
        row = int(np.flatnonzero(array % 1)[0])
        raise ValueError(f"{name} must be whole row numbers into the items; got {array[row]:g} at row {start + row}.")
    if array.dtype.kind == "b":
        raise ValueError(f"{name} must be row numbers into the items; got true/false values.")
    outside = np.flatnonzero((array < 0) | (array >= n_items))
    if len(outside):
        row = int(outside[0])
        position = f"row {start + row}" + count_suffix(len(outside))
        raise ValueError(
            f"{name} must be row numbers of the items, 0 to {n_items - 1}; got {array[row]:g} at {position}."
        )
    return array.astype(np.int64)


def check_item_mask(name: str, values: Any, n_items: int) -> NDArray[np.bool_]:
    """Return a mask of the items: true or false for each of them, shape (n_items,)."""
    mask = as_array(name, values)
    if mask.dtype != bool or mask.shape != (n_items,):
        expected = f"true or false for each item, shape ({n_items},)"
        raise ValueError(f"{name} must be {expected}; got values of type {mask.dtype}, shape {mask.shape}.")
    return mask


def check_groups(values: Any, length: int) -> NDArray[np.int64]:
    """Return one whole number per pair for its group, from group names of any type."""
    return _encoded("group", "a group", values, length)[0]


def check_annotators(values: Any, length: int) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return the number of the annotator of each pair, and the names of the annotators.

    Parameters
    ----------
    values : array-like of shape (n,)
        The name of each pair's annotator, of any type.
    length : int
        The number of pairs, n.

    Returns
    -------
    codes : array of shape (n,)
        Indices into the names.
    names : tuple
        The names: sorted, or in the order of their first pairs if their types are mixed.

    Examples
    --------
    >>> check_annotators(["eve", "ann", "eve"], 3)
    (array([1, 0, 1]), ('ann', 'eve'))
    """
    return _encoded("annotator", "an annotator", values, length)


def check_annotator_codes(name: str, values: Any, *, start: int = 0) -> NDArray[np.int64]:
    """Return the numbers of the annotators of a batch of pairs, whole numbers from 0."""
    array = check_vector(name, values, start=start)
    is_number = (array >= 0) & (array % 1 == 0) if array.dtype.kind in "iuf" else np.zeros(len(array), dtype=bool)
    if not is_number.all():
        row = int(np.argmin(is_number))
        raise ValueError(
            f"{name} must number the annotators from 0; got {array[row]!s} at row {start + row}. Number them first, "
            "for example with pandas.factorize."
        )
    return array.astype(np.int64)


def check_side(values: Any, length: int, *, name: str = "side", start: int = 0) -> NDArray[np.int8]:
    """Return which item of each pair was shown first: 1 for its first item, -1 for its second, 0 if not known."""
    array = check_vector(name, values, length, start=start)
    is_side = np.isin(array, (-1, 0, 1))
    if not is_side.all():
        row = int(np.argmin(is_side))
        raise ValueError(
            f"{name} must be 1 where the first item of a pair was shown first, -1 where its second was, and 0 where "
            f"that is not known; got {array[row]!s} at row {start + row}."
        )
    return array.astype(np.int8)


def _encoded(name: str, one: str, values: Any, length: int) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """Return one whole number per pair, and the names that these are indices of."""
    names = np.asarray(values)
    if names.shape != (length,):
        raise ValueError(f"{name} must have one entry for each pair: expected shape ({length},), got {names.shape}.")
    if names.dtype.kind == "f":
        check_finite(name, names)
    if names.dtype != object:
        distinct, codes = np.unique(names, return_inverse=True)
        return codes.astype(np.int64), tuple(distinct.tolist())
    numbers: dict[Any, int] = {}
    for row, entry in enumerate(names.tolist()):
        if entry is None or entry != entry:  # None, NaN and NA are missing, not a name
            raise ValueError(f"{name} must name {one} for each pair; got {entry!r} at row {row}.")
        numbers.setdefault(entry, len(numbers))
    return np.array([numbers[entry] for entry in names.tolist()], dtype=np.int64), tuple(numbers)
