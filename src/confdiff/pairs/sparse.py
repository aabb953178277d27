"""Items as a sparse matrix: stored once, and made dense only a few rows at a time."""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Union

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from confdiff.validation import as_float32, as_tensor, is_sparse

_MOST_ENTRIES = 2**24  # of a dense batch of sparse items, 64 MB


class SparseItems:
    """N items with d features each, as a SciPy CSR matrix of 32-bit floats.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array of shape (N, d)
        Finite 32-bit floats in canonical form: columns sorted, none twice, no stored zero.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> items = SparseItems(csr_array(np.eye(3, dtype=np.float32)))
    >>> items[[2, 0]].dense()
    tensor([[0., 0., 1.],
            [1., 0., 0.]])
    """

    dtype = torch.float32
    ndim = 2
    device = torch.device("cpu")

    def __init__(self, matrix: Any) -> None:
        self._matrix = matrix

    def __len__(self) -> int:
        return int(self._matrix.shape[0])

    def __repr__(self) -> str:
        return f"SparseItems(shape={self.shape}, stored={self._matrix.nnz})"

    @property
    def shape(self) -> tuple[int, int]:
        """The number of items and of features."""
        rows, columns = self._matrix.shape
        return int(rows), int(columns)

    def __getitem__(self, rows: Any) -> "SparseItems":
        """Return the items that a slice, row numbers or a mask select, still sparse."""
        return SparseItems(self._matrix[_index(rows)])

    def to_scipy(self) -> Any:
        """Return the matrix, a ``scipy.sparse.csr_array`` of 32-bit floats; it is shared, not copied."""
        return self._matrix

    def dense(self, rows: Any = None, *, out: Tensor | None = None) -> Tensor:
        """Return some items, or all of them, as a dense tensor.

        Parameters
        ----------
        rows : slice, row numbers or mask, optional
            The items; all of them by default.
        out : tensor of shape (m, d), optional
            Memory to write to, contiguous and on the CPU.

        Returns
        -------
        tensor of shape (m, d)
        """
        chosen = self._matrix if rows is None else self._matrix[_index(rows)]
        return torch.from_numpy(chosen.toarray(out=None if out is None else out.numpy()))

    def identity(self) -> list[Tensor | bytes]:
        """Return data that differ between different items, to be hashed."""
        parts = (self._matrix.data, self._matrix.indices, self._matrix.indptr)
        return [str(self.shape).encode(), *(torch.from_numpy(np.asarray(part)) for part in parts)]


Items = Union[Tensor, SparseItems]  # noqa: UP007  # a documented alias
"""The items of pairs: a tensor (N, ...), or a sparse matrix (N, d)."""


def _index(rows: Any) -> Any:
    return rows.cpu().numpy() if isinstance(rows, Tensor) else rows


def as_matrix(items: Items) -> Any:
    """Return items as other libraries take them: a NumPy array, or a SciPy sparse array."""
    return items.to_scipy() if isinstance(items, SparseItems) else items.numpy()


def as_items(name: str, matrix: Any) -> Items:
    """Return a checked matrix, dense or sparse, as 32-bit floats for a network.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    matrix : array or scipy.sparse.csr_array of shape (m, d)
        As :func:`confdiff.validation.check_matrix` returns it.
    """
    return SparseItems(matrix) if is_sparse(matrix) else as_tensor(as_float32(name, matrix))


def require_dense(items: Items, what: str) -> Tensor:
    """Return items that must be a tensor; the error says what needs it.

    Parameters
    ----------
    items : tensor or SparseItems
        The items.
    what : str
        The operation, as the subject of the message.
    """
    if isinstance(items, SparseItems):
        raise ValueError(f"{what} needs dense items; got a sparse matrix. Use .toarray() if it fits in memory.")
    return items


def dense_batches(items: Items, size: int) -> Iterator[Tensor]:
    """Yield the items in dense batches of at most ``size`` rows; smaller ones if sparse items have many columns.

    >>> [len(batch) for batch in dense_batches(torch.zeros(5, 2), 2)]
    [2, 2, 1]
    """
    if isinstance(items, Tensor):
        yield from torch.split(items, size)
        return
    rows = max(1, min(size, _MOST_ENTRIES // items.shape[1]))
    for start in range(0, len(items), rows):
        yield items.dense(slice(start, start + rows))


def distinct_rows(matrix: Any) -> tuple[Any, NDArray[np.int64]]:
    """Return the distinct rows of a matrix, sorted, and the position of each row among them.

    It is ``np.unique(matrix, axis=0, return_inverse=True)``, also for sparse matrices.

    Parameters
    ----------
    matrix : array or scipy.sparse.csr_array of shape (m, d)
        A sparse matrix must be in canonical form.

    Returns
    -------
    distinct : array or scipy.sparse.csr_array of shape (k, d)
    position : array of int64, shape (m,)

    Examples
    --------
    >>> distinct_rows(np.array([[2.0], [1.0], [2.0]]))
    (array([[1.],
           [2.]]), array([1, 0, 1]))
    """
    if isinstance(matrix, np.ndarray):
        distinct, position = np.unique(matrix, axis=0, return_inverse=True)
        return distinct, position.reshape(-1)
    keys = _row_keys(matrix)
    first_row = {key: row for row, key in reversed(list(enumerate(keys)))}
    ordered = sorted(first_row)
    number = {key: position for position, key in enumerate(ordered)}
    positions = np.fromiter((number[key] for key in keys), dtype=np.int64, count=len(keys))
    return matrix[[first_row[key] for key in ordered]], positions


def _row_keys(matrix: Any) -> list[bytes]:
    """Return bytes of each row whose order is the lexicographic order of the dense rows.

    Two rows first differ in some column. There one of them stores a negative number, which precedes the zeros of
    others, and the earlier its column the more so; or a positive number, which follows zeros in the same way. An entry
    is therefore coded by its sign and column, then its value; the end of a row is coded as a zero.
    """
    width = matrix.shape[1]
    columns = matrix.indices.astype(np.int64)
    values = np.asarray(matrix.data, dtype=np.float32)
    bits = values.view(np.int32).astype(np.int64)
    entry = np.zeros((len(values), 2), dtype=">i8")
    entry[:, 0] = np.where(values < 0, columns, 2 * width + 1 - columns)
    entry[:, 1] = np.where(values < 0, 2**31 - (bits & 0x7FFFFFFF), bits)
    buffer = entry.tobytes()
    end = np.array([width], dtype=">i8").tobytes()
    bounds = (matrix.indptr.astype(np.int64) * 16).tolist()
    return [buffer[start:stop] + end for start, stop in pairwise(bounds)]
