"""Columns of vectors: each cell is a list of d numbers, such as an embedding.

They are kept as one Arrow array of 32-bit floats, which shares its memory with the matrix of the features where
possible. A missing cell is null there, and a row of NaN in the matrix.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_Vectors = NDArray[np.float32]


class _NotVectors(ValueError):
    """The reason why a column of lists is not a column of vectors."""


def as_vectors(column: Any) -> Any:
    """Return a column of lists as an Arrow array of vectors, and any other column as it is.

    Parameters
    ----------
    column : Arrow array, NumPy array, pandas series or list
        The column. Its cells may be lists, tuples, NumPy arrays or tensors; None is a missing vector.

    Examples
    --------
    >>> as_vectors([[1, 2], None]).type, as_vectors([[1, 2], [3]]), as_vectors([7])
    (FixedSizeListType(fixed_size_list<item: float>[2]), [[1, 2], [3]], [7])
    """
    try:
        return _converted(column)
    except _NotVectors:
        return column


def check_not_nested(position: str, name: str, column: Any, start: int = 0) -> None:
    """Check that a column that is used holds plain values or vectors, and no other lists or objects.

    Parameters
    ----------
    position : str
        Beginning of the message, such as ``"items.jsonl, "``.
    name : str
        Name of the column.
    column
        The column, of Arrow, pandas or NumPy.
    start : int
        The number of its first row, for messages.
    """
    if not _is_nested(column):
        return
    try:
        _converted(column, start)
    except _NotVectors as error:
        raise ValueError(
            f"{position}column {name!r} must hold one value per row, or vectors: lists of numbers of one length; "
            f"got {error}. Write the parts as columns, or leave the column out with ignore={name!r}."
        ) from error


def is_vectors(array: Any) -> bool:
    """Return whether an Arrow array, whole or in chunks, holds vectors as :func:`as_vectors` returns them."""
    import pyarrow

    kind = array.type
    is_list = bool(pyarrow.types.is_fixed_size_list(kind))
    return is_list and kind.value_type == pyarrow.float32() and kind.list_size > 0


def holds_vectors(column: Any) -> bool:
    """Return whether a column that was read is one of vectors: an Arrow array of them, or a matrix."""
    import pyarrow

    if isinstance(column, pyarrow.Array | pyarrow.ChunkedArray):
        return is_vectors(column)
    return isinstance(column, np.ndarray) and column.ndim > 1


def from_matrix(matrix: NDArray[Any]) -> Any:
    """Return the rows of a matrix as an Arrow array of vectors, without a copy of 32-bit floats in rows.

    >>> from_matrix(np.ones((3, 2))).type
    FixedSizeListType(fixed_size_list<item: float>[2])
    """
    import pyarrow

    with np.errstate(over="ignore"):
        numbers = np.ascontiguousarray(matrix, dtype=np.float32)
    return pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(numbers.reshape(-1)), numbers.shape[1])


def to_matrix(array: Any) -> _Vectors:
    """Return an Arrow array of vectors as a matrix of shape (N, d), with NaN where a vector is missing.

    >>> to_matrix(as_vectors([[1, 2], None]))
    array([[ 1.,  2.],
           [nan, nan]], dtype=float32)
    """
    length = array.type.list_size
    if not array.null_count:
        return _numbers(array.flatten()).reshape(-1, length)
    matrix = np.full((len(array), length), np.nan, dtype=np.float32)
    matrix[_is_present(array)] = _numbers(array.drop_null().flatten()).reshape(-1, length)
    return matrix


def _converted(column: Any, start: int = 0) -> Any:
    """Return a column of lists as vectors and others as they are; lists that are no vectors raise the reason."""
    import pyarrow

    if isinstance(column, np.ndarray) and column.ndim > 1:
        return _from_array(column)
    if not _is_nested(column):
        return column
    if hasattr(column, "__arrow_array__"):
        column = pyarrow.array(column)
    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if not isinstance(column, pyarrow.Array):
        return _from_cells(list(column), start)
    return _from_arrow(column.storage if isinstance(column, pyarrow.ExtensionArray) else column, start)


def _from_array(array: NDArray[Any]) -> Any:
    if array.ndim != 2:
        raise _NotVectors(f"an array of shape {array.shape}")
    if array.dtype.kind not in "iuf" or not array.shape[1]:
        raise _NotVectors(f"an array of {array.shape[1]} values of type {array.dtype} per row")
    return from_matrix(array)


def _from_arrow(array: Any, start: int) -> Any:
    """Return an Arrow array of lists as vectors. The numbers are not copied if they are 32-bit floats."""
    import pyarrow

    kinds = pyarrow.types
    if is_vectors(array):
        return array
    is_list = any(check(array.type) for check in (kinds.is_list, kinds.is_large_list, kinds.is_fixed_size_list))
    if not is_list:
        raise _NotVectors("objects or lists of several kinds")
    present = array.drop_null() if array.null_count else array
    if not len(present):
        return pyarrow.nulls(len(array))
    length = _common_length(array, start)
    numbers = present.flatten()
    if not (kinds.is_integer(numbers.type) or kinds.is_floating(numbers.type)):
        raise _NotVectors(f"lists of values of the type {numbers.type}")
    vectors = from_matrix(_numbers(numbers).reshape(-1, length))
    return _with_missing(vectors, _is_present(array)) if array.null_count else vectors


def _common_length(array: Any, start: int) -> int:
    from pyarrow import compute

    lengths = compute.list_value_length(array).drop_null().to_numpy(zero_copy_only=False)
    return _same_length(np.flatnonzero(_is_present(array)), lengths, start)


def _same_length(rows: NDArray[np.int64], lengths: NDArray[Any], start: int) -> int:
    """Return the length of all vectors, or raise an error that names the first of another length."""
    first = int(lengths[0])
    others = np.flatnonzero(lengths != first)
    if len(others):
        other = f"{lengths[others[0]]:,} in row {rows[others[0]] + start}"
        raise _NotVectors(f"{first:,} numbers in row {rows[0] + start} and {other}")
    if not first:
        raise _NotVectors("empty lists")
    return first


def _from_cells(cells: list[Any], start: int) -> Any:
    """Return Python objects, which are lists or arrays, as vectors."""
    import pyarrow

    rows = np.array([row for row, cell in enumerate(cells) if not _is_missing(cell)], dtype=np.int64)
    arrays = [_vector(cells[row], row + start) for row in rows]
    if not arrays:
        return pyarrow.nulls(len(cells))
    length = _same_length(rows, np.array([len(array) for array in arrays]), start)
    matrix = np.empty((len(rows), length), dtype=np.float32)
    with np.errstate(over="ignore"):
        for index, array in enumerate(arrays):
            matrix[index] = array
    is_present = np.zeros(len(cells), dtype=bool)
    is_present[rows] = True
    return from_matrix(matrix) if is_present.all() else _with_missing(from_matrix(matrix), is_present)


def _vector(cell: Any, row: int) -> NDArray[Any]:
    try:
        array = np.asarray(cell)
    except (TypeError, ValueError, RuntimeError) as error:  # of a tensor with a gradient, for example
        raise _NotVectors(f"a value in row {row} that is not a list of numbers") from error
    if array.ndim != 1:
        raise _NotVectors(f"a value in row {row} that is not a list of numbers: {cell!r:.40}")
    if array.dtype.kind not in "iuf" and len(array):
        raise _NotVectors(f"a list in row {row} whose values are not numbers: {cell!r:.40}")
    return array


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and np.isnan(cell)) or type(cell).__name__ == "NAType"


def _is_present(array: Any) -> NDArray[np.bool_]:
    present: NDArray[np.bool_] = array.is_valid().to_numpy(zero_copy_only=False)
    return present


def _numbers(array: Any) -> NDArray[Any]:
    """Return the numbers of an Arrow array, NaN where one is missing; without a copy if none is."""
    numbers: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return numbers


def _with_missing(vectors: Any, is_present: NDArray[np.bool_]) -> Any:
    """Return vectors with null between them, where no vector is present."""
    import pyarrow

    positions = np.where(is_present, np.cumsum(is_present) - 1, 0)
    return vectors.take(pyarrow.array(positions, mask=~is_present))


def _is_nested(column: Any) -> bool:
    import pyarrow

    kind = getattr(column, "type", None) or getattr(getattr(column, "dtype", None), "pyarrow_dtype", None)
    if isinstance(kind, pyarrow.DataType):
        encoded = pyarrow.types.is_run_end_encoded(kind)
        is_tensor = isinstance(kind, pyarrow.FixedShapeTensorType)
        is_plain = encoded or (isinstance(column, pyarrow.Array | pyarrow.ChunkedArray) and is_vectors(column))
        return bool(pyarrow.types.is_nested(kind) or is_tensor) and not is_plain
    if isinstance(column, np.ndarray) and column.ndim > 1:
        return True
    if not isinstance(column, list) and getattr(column, "dtype", None) != np.dtype(object):
        return False
    return any(_holds_values(kind) for kind in set(map(type, column)))


def _holds_values(kind: type) -> bool:
    """Return whether objects of a class hold several values; tensors of torch have a method ``numpy``."""
    return issubclass(kind, list | dict | tuple | set | np.ndarray) or hasattr(kind, "numpy")
