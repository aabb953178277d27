"""NumPy files (.npy) with one vector per row, such as embeddings. The ids of the items are the numbers of the rows."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.table_formats.table_format import TableFormat, check_has_columns
from confdiff.io.vectors import from_matrix

_NAMES = ("id", "vector")
_DAMAGE = (ValueError, EOFError, OverflowError, TypeError, SyntaxError, TokenError, RecursionError)  # of odd headers


class _Npy(TableFormat):
    def read(self, path: Path, columns: list[str] | None) -> Any:
        import pyarrow

        return pyarrow.Table.from_batches([_as_batch(_mapped(path), 0, columns)])

    def read_batches(self, path: Path, columns: list[str], rows: int) -> Iterator[Any]:
        matrix = _mapped(path)
        for start in range(0, len(matrix), rows):
            yield _as_batch(matrix[start : start + rows], start, columns)

    def read_column_names(self, path: Path) -> list[str]:
        return list(_NAMES)

    @contextmanager
    def open_writer(self, path: Path, schema: Any, *, escape: bool = True) -> Iterator[Callable[[Any], None]]:
        raise ValueError(f"{path.name!r}: tables are not written as .npy. Choose another ending, such as .parquet.")

    def count_rows(self, path: Path) -> int | None:
        return len(_mapped(path))


def _mapped(path: Path) -> NDArray[Any]:
    """Return the matrix in a file without reading all of it. Pickled objects are never loaded."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers in the style of Python 2
            matrix = np.lib.format.open_memmap(path, mode="r")
    except _DAMAGE as error:
        raise ValueError(
            f"{path} must hold a matrix of numbers, as np.save writes it, with one vector per row; it cannot be read: "
            f"{' '.join(str(error).split())[:200].rstrip('.')}."
        ) from error
    if matrix.ndim != 2 or matrix.dtype.kind not in "iuf" or not matrix.shape[1]:
        raise ValueError(
            f"{path} must hold a matrix of numbers with one vector per row; got the shape {matrix.shape} and the type "
            f"{matrix.dtype}."
        )
    return matrix


def _as_batch(matrix: NDArray[Any], start: int, columns: list[str] | None) -> Any:
    import pyarrow

    check_has_columns(list(_NAMES), columns or [])
    arrays: dict[str, Callable[[], Any]] = {
        "id": lambda: pyarrow.array(np.arange(start, start + len(matrix))),
        "vector": lambda: from_matrix(matrix),
    }
    names = _NAMES if columns is None else columns
    return pyarrow.record_batch({name: arrays[name]() for name in names})


NPY = _Npy(
    ending=".npy",
    first_row=0,
    row_note="the first row is row 0",
)
