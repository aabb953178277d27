"""Compute the vectors of the cells of a column, each content once, and keep them in the cache."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.progress import reporting_progress
from confdiff.io.vector_cache import cache_vectors, cached_vectors

_Vectors = NDArray[np.float32]


class CellError(ValueError):
    """The reason why a cell has no vector, with the cell."""

    def __init__(self, cell: str, reason: str) -> None:
        super().__init__(reason)
        self.cell = cell


class VectorFunction(ABC):
    """A function from the cells of a column to vectors.

    Parameters
    ----------
    name : str
        The name of the function, for messages.
    fingerprint : str
        What identifies the function: another fingerprint means other vectors.
    noun : str
        What it encodes, such as ``"texts"``.
    batch : int
        The number of cells that are computed before the vectors are written to the cache.
    """

    def __init__(self, name: str, fingerprint: str, noun: str, batch: int) -> None:
        self.name = name
        self.fingerprint = fingerprint
        self.noun = noun
        self.batch = batch

    @abstractmethod
    def digest(self, cell: str) -> str:
        """Return a digest of the content of a cell: of the text, or of the file that it names."""

    @abstractmethod
    def compute(self, cells: Sequence[str]) -> Any:
        """Return the vectors of some cells, (n, d); raise a :class:`CellError` for one that has none."""

    @abstractmethod
    def check_unchanged(self) -> None:
        """Check that the fingerprint is still that of the function, before and after vectors are computed."""

    def vectors(self, cells: NDArray[Any], where: Callable[[int], str]) -> _Vectors:
        """Return the vectors of cells, (N, d), with NaN where a cell is empty.

        Parameters
        ----------
        cells : array of str
            The cells.
        where : callable
            Place of a row, for messages.
        """
        self.check_unchanged()
        distinct = sorted(set(cells.tolist()) - {""})
        try:
            contents = {cell: self.digest(cell) for cell in distinct}
            matrix, row_of = self._vectors_of(contents)
        except CellError as error:
            row = int(np.flatnonzero(cells == error.cell)[0])
            raise ValueError(f"{where(row)}: {error}") from error
        rows = np.array([row_of[contents[cell]] if cell else len(matrix) for cell in cells.tolist()], dtype=np.int64)
        missing = np.full((1, matrix.shape[1]), np.nan, dtype=np.float32)
        return np.concatenate([matrix, missing])[rows]

    def _vectors_of(self, contents: dict[str, str]) -> tuple[_Vectors, dict[str, int]]:
        """Return the vectors of distinct contents, and the row of each."""
        cell_of = {content: cell for cell, content in contents.items()}
        vectors = cached_vectors(self.fingerprint, list(cell_of))
        new = [content for content in cell_of if content not in vectors]
        with reporting_progress(f"encoding {self.noun}", len(new), shown=len(new) > self.batch) as update:
            for start in range(0, len(new), self.batch):
                part = new[start : start + self.batch]
                matrix = self._checked([cell_of[content] for content in part])
                self._check_contents(part, cell_of)
                cache_vectors(self.fingerprint, part, matrix)
                vectors.update(zip(part, matrix, strict=True))
                update(start + len(part))
        self._check_lengths(vectors, cell_of)
        row_of = {content: row for row, content in enumerate(cell_of)}
        stacked = [vectors[content] for content in row_of]
        return np.stack(stacked) if stacked else np.empty((0, 0), dtype=np.float32), row_of

    def _checked(self, cells: Sequence[str]) -> _Vectors:
        """Compute vectors, and check that they are finite."""
        with np.errstate(over="ignore"):
            matrix = np.asarray(self.compute(cells), dtype=np.float32)
        if matrix.ndim != 2 or len(matrix) != len(cells) or not matrix.shape[1]:
            raise ValueError(
                f"the encoder {self.name!r} must return one vector per cell, with shape ({len(cells)}, d); got the "
                f"shape {matrix.shape}."
            )
        bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
        if len(bad):
            cell = cells[bad[0]]
            raise CellError(cell, f"the encoder {self.name!r} returned a vector that is not finite for {cell!r:.60}.")
        return matrix

    def _check_contents(self, contents: Sequence[str], cell_of: dict[str, str]) -> None:
        """Check that neither the function nor the cells, which may name files, changed while vectors were computed."""
        self.check_unchanged()
        for content in contents:
            if self.digest(cell_of[content]) != content:
                raise CellError(cell_of[content], f"{cell_of[content]!r:.200} changed while it was encoded.")

    def _check_lengths(self, vectors: dict[str, _Vectors], cell_of: dict[str, str]) -> None:
        lengths = {content: len(vectors[content]) for content in cell_of}
        first = next(iter(lengths.values()), 0)
        for content, length in lengths.items():
            if length != first:
                cell = cell_of[content]
                raise CellError(
                    cell,
                    f"the encoder {self.name!r} must return vectors of one length; got {length:,} numbers for "
                    f"{cell!r:.60} and {first:,} for others. If it has changed, it needs another version.",
                )
