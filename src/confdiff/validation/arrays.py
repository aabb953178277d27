"""Checks of arrays, whatever they stand for: numbers, finite, of the right length."""

import warnings
from collections import Counter
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def as_array(what: str, values: Any, columns: Iterable[str] | None = None) -> NDArray[Any]:
    """Anything array-like (list, NumPy, pandas, torch) as a dense numeric NumPy array, without a copy if possible."""
    if isinstance(values, Tensor):
        values = values.detach().cpu()
        values = values.float().numpy() if values.dtype == torch.bfloat16 else values.numpy()
    if hasattr(values, "toarray"):
        raise ValueError(f"{what} must be dense; got a sparse matrix. Use {what}.toarray() if it fits in memory.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} must be a regular array; the rows have different lengths.") from error
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{what} must be numeric; got {_first_non_number(array, columns)}.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{what} must be numeric; got values of type {array.dtype}.")
    return array


def as_tensor(array: NDArray[Any]) -> Tensor:
    """A tensor that shares the memory of an array, also of a read-only one (pandas, memory-mapped files)."""
    with warnings.catch_warnings():  # torch warns of writing to a read-only array, and nothing here writes
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def column_names(items: Any) -> tuple[str, ...] | None:
    """The column names of a data frame if all are text, as scikit-learn has it; otherwise ``None``."""
    columns = list(getattr(items, "columns", []))
    if not columns or not all(isinstance(name, str) for name in columns):
        return None
    if len(set(columns)) < len(columns):
        twice = next(name for name, count in Counter(columns).items() if count > 1)
        raise ValueError(f"the columns of the items must have different names; {twice!r} stands there more than once.")
    return tuple(columns)


def _first_non_number(array: NDArray[Any], columns: Iterable[str] | None) -> str:
    for place, value in np.ndenumerate(array):
        if not isinstance(value, Real):
            return f"{value!r} at {place_of(place, columns)}"
    return "values that are not numbers"


def place_of(index: tuple[int, ...], columns: Iterable[str] | None = None) -> str:
    """Where an entry stands, in words: ``row 3``, ``row 3, column 5``, ``row 3, column 'age'``."""
    if len(index) == 1 or columns is None:
        names: list[object] = list(index[1:])
    else:
        names = [repr(list(columns)[index[1]])]
    return ", ".join([f"row {index[0]}"] + [f"column {name}" for name in names])


def and_more(count: int, of: str = "rows") -> str:
    """How many other places have the fault that a message names the first place of."""
    return f" ({count} such {of})" if count > 1 else ""


def check_finite(what: str, array: NDArray[Any], columns: Iterable[str] | None = None, *, start: int = 0) -> None:
    """No NaN and no infinity; the message names the first bad entry, counting rows from ``start``.

    >>> check_finite("X", np.array([[1.0, 2.0], [np.nan, 3.0]]), columns=["age", "weight"])
    Traceback (most recent call last):
    ...
    ValueError: X must be finite, without NaN or infinity; found nan at row 1, column 'age'. Impute or drop it first.
    """
    # The sum of a finite array is finite or overflows: only then is every single entry worth a look.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum()):
            return
    bad = np.argwhere(~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        place = place_of((index[0] + start, *index[1:]), columns) + and_more(len(bad), "entries")
        expected = f"{what} must be finite, without NaN or infinity"
        raise ValueError(f"{expected}; found {array[index]} at {place}. Impute or drop it first.")


def check_items(what: str, values: Any) -> NDArray[Any]:
    """A matrix of features, one item a row: 2-D, not empty, finite.

    32-bit floats stay what they are; all else becomes 64-bit, so that a transformer sees what the user has.
    """
    columns = column_names(values)
    array = as_array(what, values, columns)
    if array.ndim != 2:
        hint = " Reshape your data with x.reshape(1, -1) if it is a single item." if array.ndim == 1 else ""
        raise ValueError(f"{what} must be a matrix with one item a row, shape (m, d); got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(f"{what} must hold at least one item and one feature; got shape {array.shape}.")
    check_finite(what, array, columns)
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def as_float32(what: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """Finite features as the 32-bit floats that networks take; a number out of their reach is named."""
    with np.errstate(over="ignore"):
        features: NDArray[np.float32] = array.astype(np.float32, copy=False)
    if features is not array:
        check_finite(f"{what}, as 32-bit floats,", features)
    return features


def check_vector(
    what: str, values: Any, length: int | None = None, *, of: str = "pair", start: int = 0
) -> NDArray[Any]:
    """A finite numeric vector, with one entry for each of ``length`` pairs (or items)."""
    array = as_array(what, values)
    if array.ndim != 1:
        raise ValueError(f"{what} must be one number for each {of}, shape (n,); got shape {array.shape}.")
    if length is not None and len(array) != length:
        raise ValueError(f"{what} must have one entry for each {of}: expected {length}, got {len(array)}.")
    check_finite(what, array, start=start)
    return array


def check_range(what: str, array: NDArray[Any], low: float, high: float, hint: str, *, start: int = 0) -> None:
    """All entries in [low, high]; the message names the first that is not."""
    outside = np.flatnonzero((array < low) | (array > high))
    if len(outside):
        row = int(outside[0])
        place = f"row {start + row}" + and_more(len(outside))
        raise ValueError(f"{what} must lie in [{low:g}, {high:g}]; got {array[row]:.10g} at {place}. {hint}")
