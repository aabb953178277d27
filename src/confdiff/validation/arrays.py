"""Check that arrays are numeric, finite and of the right shape."""

import warnings
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor


def as_array(name: str, values: Any, columns: Iterable[str] | None = None, *, start: int = 0) -> NDArray[Any]:
    """Convert an array-like (list, NumPy, pandas, torch) to a dense numeric NumPy array, without a copy if possible.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array-like
        The values to convert.
    columns : iterable of str or None
        Names of the columns, for messages.
    start : int
        Number of the first row, for messages.

    Raises
    ------
    ValueError
        If the values are sparse, ragged or not numeric.
    """
    if isinstance(values, Tensor):
        if values.layout is not torch.strided:
            raise ValueError(f"{name} must be dense; got a sparse tensor. Use {name}.to_dense(), or a SciPy matrix.")
        values = values.detach().cpu()
        values = values.float().numpy() if values.dtype == torch.bfloat16 else values.numpy()
    if is_sparse(values):
        raise ValueError(f"{name} must be dense; got a sparse matrix. Use {name}.toarray() if it fits in memory.")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array; got rows of different lengths.") from error
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name} must be numeric; got {_first_non_number(array, columns, start)}.") from error
    if array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numeric; got values of type {array.dtype}.")
    return array


def is_sparse(values: Any) -> bool:
    """Return whether values are a sparse matrix or array of SciPy."""
    return hasattr(values, "tocsr") and hasattr(values, "toarray")


def as_tensor(array: NDArray[Any]) -> Tensor:
    """Return a tensor that shares the memory of an array, even if it is read-only (pandas, memory-mapped files)."""
    with warnings.catch_warnings():  # torch warns about writing to a read-only array; nothing here writes
        warnings.filterwarnings("ignore", message="The given NumPy array is not writable")
        return torch.from_numpy(array)


def column_names(items: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame if all are strings, as scikit-learn does; otherwise ``None``."""
    columns = list(getattr(items, "columns", []))
    if not columns or not all(isinstance(name, str) for name in columns):
        return None
    if len(set(columns)) < len(columns):
        repeated = next(name for name, count in Counter(columns).items() if count > 1)
        raise ValueError(f"the columns of the items must have distinct names; got {repeated!r} more than once.")
    return tuple(columns)


def _first_non_number(array: NDArray[Any], columns: Iterable[str] | None, start: int) -> str:
    for (row, *rest), value in np.ndenumerate(array):
        if not _is_number(value):
            return f"{value!r} at {describe_index((row + start, *rest), columns)}"
    return "values that are not numbers"


def _is_number(value: Any) -> bool:
    """Return whether a value is a number, or the text of one."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def describe_index(index: tuple[int, ...], columns: Iterable[str] | None = None) -> str:
    """Describe the position of an entry.

    >>> describe_index((3,)), describe_index((3, 5)), describe_index((3, 0), columns=["age"])
    ('row 3', 'row 3, column 5', "row 3, column 'age'")
    """
    if len(index) == 1 or columns is None:
        names: list[object] = list(index[1:])
    else:
        names = [repr(list(columns)[index[1]])]
    return ", ".join([f"row {index[0]}"] + [f"column {name}" for name in names])


def count_suffix(count: int, noun: str = "rows") -> str:
    """Return the number of invalid entries, as the end of a message that names the first.

    >>> count_suffix(3), count_suffix(1)
    (' (3 such rows)', '')
    """
    return f" ({count} such {noun})" if count > 1 else ""


def check_finite(
    name: str,
    array: NDArray[Any],
    columns: Iterable[str] | None = None,
    *,
    start: int = 0,
    allow_missing: bool = False,
) -> None:
    """Check for NaN and infinity; the message names the first such entry, counting rows from ``start``.

    With ``allow_missing``, NaN is a missing value and only infinity is refused.

    >>> check_finite("X", np.array([[1.0, 2.0], [np.nan, 3.0]]), columns=["age", "weight"])
    Traceback (most recent call last):
    ...
    ValueError: X must be finite, without NaN or infinity; got nan at row 1, column 'age'. Impute or drop it first.
    """
    # The sum of a finite array is finite or overflows: only then are single entries checked.
    with np.errstate(over="ignore", invalid="ignore"):
        if array.dtype.kind != "f" or np.isfinite(array.sum()):
            return
    bad = np.argwhere(np.isinf(array) if allow_missing else ~np.isfinite(array))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        position = describe_index((index[0] + start, *index[1:]), columns) + count_suffix(len(bad), "entries")
        expected = f"{name} must be finite" + (" or NaN" if allow_missing else ", without NaN or infinity")
        raise ValueError(f"{expected}; got {array[index]} at {position}. Impute or drop it first.")


LARGEST = float(np.finfo(np.float32).max)
"""The largest size of a feature: networks compute with 32-bit floats."""


def check_size(name: str, array: NDArray[Any], columns: Iterable[str] | None = None, *, start: int = 0) -> None:
    """Check that finite numbers are 32-bit floats; the message names the first that is too large.

    >>> check_size("X", np.array([[1.0, 2.0], [1e308, 3.0]]), columns=["age", "weight"])
    Traceback (most recent call last):
    ...
    ValueError: X must be at most 3.40282e+38 in size; got 1e+308 at row 1, column 'age'. Correct it or use other units.
    """
    if array.dtype != np.float64 or (array.max(initial=0.0) <= LARGEST and array.min(initial=0.0) >= -LARGEST):
        return
    bad = np.argwhere(np.abs(array) > LARGEST)
    if not len(bad):  # but missing values
        return
    index = tuple(int(i) for i in bad[0])
    position = describe_index((index[0] + start, *index[1:]), columns) + count_suffix(len(bad), "entries")
    expected = f"{name} must be at most {LARGEST:g} in size"
    raise ValueError(f"{expected}; got {array[index]:g} at {position}. Correct it or use other units.")


def check_items(name: str, values: Any, *, allow_missing: bool = False) -> NDArray[Any]:
    """Return a matrix of features with one item per row, after checking that it is 2-D, non-empty and finite.

    Features of 32-bit floats keep their type. All others become 64-bit, so that transformers lose no precision.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array-like of shape (m, d)
        The features.
    allow_missing : bool
        Whether values may be NaN.

    Returns
    -------
    ndarray of shape (m, d)

    Raises
    ------
    ValueError
        If the values are not a finite numeric matrix with at least one row and one column, or are beyond the largest
        32-bit float.
    """
    columns = column_names(values)
    array = as_array(name, values, columns)
    if array.ndim != 2:
        hint = " Reshape your data with x.reshape(1, -1) if it is a single item." if array.ndim == 1 else ""
        raise ValueError(f"{name} must be a matrix with one item per row, shape (m, d); got shape {array.shape}.{hint}")
    if 0 in array.shape:
        raise ValueError(f"{name} must have at least one item and one feature; got shape {array.shape}.")
    check_finite(name, array, columns, allow_missing=allow_missing)
    check_size(name, array, columns)
    return np.ascontiguousarray(array, dtype=np.float32 if array.dtype == np.float32 else np.float64)


def check_sparse_items(name: str, values: Any) -> Any:
    """Return a sparse matrix of features as a CSR array of 32-bit floats, after checking it like :func:`check_items`.

    A CSR matrix of 32-bit floats in canonical form is not copied.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : SciPy sparse matrix or array of shape (m, d)
        The features.

    Returns
    -------
    scipy.sparse.csr_array of shape (m, d)
        Columns sorted, none twice, no stored zero.

    Raises
    ------
    ValueError
        If the values are not a finite numeric matrix with at least one row and one column, or are beyond the largest
        32-bit float.
    """
    from scipy.sparse import csr_array

    if values.ndim != 2 or 0 in values.shape:
        expected = "a matrix with at least one item and one feature, shape (m, d)"
        raise ValueError(f"{name} must be {expected}; got shape {values.shape}.")
    if values.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numeric; got values of type {values.dtype}.")
    matrix = csr_array(values)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    _check_stored(name, matrix)
    matrix = matrix.astype(np.float32, copy=False)
    if not matrix.data.all():
        matrix = matrix.copy()
        matrix.eliminate_zeros()
    return matrix


def check_matrix(name: str, values: Any, *, allow_missing: bool = False) -> Any:
    """Return checked features with one item per row: an array, or a sparse array if the values are sparse.

    With ``allow_missing``, values of an array may be NaN.
    """
    if is_sparse(values):
        return check_sparse_items(name, values)
    return check_items(name, values, allow_missing=allow_missing)


def _check_stored(name: str, matrix: Any) -> None:
    """Check the stored numbers of a CSR matrix; the message names the row and column of the first that is refused."""
    data = matrix.data
    if data.dtype.kind != "f":
        return
    bad = np.flatnonzero(~np.isfinite(data) | (np.abs(data) > LARGEST))
    if not len(bad):
        return
    row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
    position = describe_index((row, int(matrix.indices[bad[0]]))) + count_suffix(len(bad), "entries")
    expected = f"{name} must be finite and at most {LARGEST:g} in size"
    raise ValueError(f"{expected}; got {data[bad[0]]:g} at {position}. Impute, correct or drop it first.")


def as_float32(name: str, array: NDArray[Any]) -> NDArray[np.float32]:
    """Return finite features as the 32-bit floats that networks take; raise if a value overflows."""
    with np.errstate(over="ignore"):
        features: NDArray[np.float32] = array.astype(np.float32, copy=False)
    if features is not array:
        check_finite(f"{name}, as 32-bit floats,", features)
    return features


def check_vector(
    name: str, values: Any, length: int | None = None, *, of: str = "pair", start: int = 0
) -> NDArray[Any]:
    """Return a finite numeric vector with one entry for each of ``length`` pairs.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    values : array-like of shape (n,)
        The values to check.
    length : int or None
        The expected n, if it is known.
    of : str
        The kind of object that each entry belongs to, for messages: ``"pair"``, ``"item"`` or ``"class"``.
    start : int
        Number of the first row, for messages about a batch.

    Returns
    -------
    ndarray of shape (n,)

    Raises
    ------
    ValueError
        If the values are not numeric, not finite, or of another shape.
    """
    array = as_array(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one number for each {of}, shape (n,); got shape {array.shape}.")
    if length is not None and len(array) != length:
        raise ValueError(f"{name} must have one entry for each {of}: expected {length}, got {len(array)}.")
    check_finite(name, array, start=start)
    return array


def check_range(name: str, array: NDArray[Any], low: float, high: float, hint: str, *, start: int = 0) -> None:
    """Check that all entries lie in [low, high]; the message names the first that does not, and ends with ``hint``."""
    outside = np.flatnonzero((array < low) | (array > high))
    if len(outside):
        row = int(outside[0])
        position = f"row {start + row}" + count_suffix(len(outside))
        raise ValueError(f"{name} must lie in [{low:g}, {high:g}]; got {array[row]:.10g} at {position}. {hint}")
