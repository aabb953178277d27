"""Encode vectors, such as embeddings, as features of a common scale.

The dimensions are centred and divided by one number, so that the angles and distances of an embedding are kept, and
a dimension that hardly varies has hardly any influence.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.features.computing.sentences import SentenceEncoder
from confdiff.tabular.features.computing.vector_function import VectorFunction
from confdiff.tabular.features.reading import FeatureColumns

_Matrix = NDArray[np.float32]
_ROWS = 512  # of a part that is encoded at a time


@dataclass(frozen=True)
class Vectors:
    """Centre the vectors of a column, and divide them by one number.

    Attributes
    ----------
    columns
        The name of the column.
    mean
        The mean vector, which also replaces missing ones.
    scale
        The number that centred vectors are divided by.
    marked
        Whether vectors are missing in training. If so, the last feature is 1 where the vector is missing.
    """

    kind: ClassVar[str] = "vector"
    columns: tuple[str]
    mean: tuple[float, ...]
    scale: float
    marked: bool

    def __post_init__(self) -> None:
        if not self.mean:
            raise ValueError(f"mean of {self.columns!r:.60} must have an entry for each dimension; got none")
        if not self.scale > 0:
            raise ValueError(f"scale must be above 0; got {self.scale!r}")

    @property
    def length(self) -> int:
        """Number of dimensions."""
        return len(self.mean)

    @property
    def width(self) -> int:
        """Number of features."""
        return self.length + self.marked

    @classmethod
    def learn(cls, name: str, columns: FeatureColumns, **fields: str) -> Self:
        """Fit the encoder to a training column."""
        vectors = columns.vectors(name)
        is_present = ~_is_missing(vectors)
        if not is_present.any():
            raise ValueError(f"{columns.source}, column {name!r}: all vectors are missing. Pass ignore={name!r}.")
        mean, scale = _moments(vectors, np.flatnonzero(is_present))
        scale *= math.sqrt(len(mean)) / cls._norm(len(mean))
        return cls(columns=(name,), mean=tuple(mean.tolist()), scale=scale, marked=not is_present.all(), **fields)

    @staticmethod
    def _norm(length: int) -> float:
        """Return the root mean square of the norms of encoded vectors; the numbers have a variance of 1."""
        return math.sqrt(length)

    def encode(self, columns: FeatureColumns) -> _Matrix:
        """Return (N, dimensions), and a further column if missing vectors are marked."""
        name = self.columns[0]
        vectors = columns.vectors(name, self.length)
        mean = np.array(self.mean, dtype=np.float32)
        scale = np.float32(self.scale)
        encoded = np.zeros((len(vectors), self.width), dtype=np.float32)
        for start in range(0, len(vectors), _ROWS):
            part = vectors[start : start + _ROWS]
            with np.errstate(over="ignore", invalid="ignore"):
                encoded[start : start + _ROWS, : self.length] = (part - mean) / scale
        missing = _is_missing(vectors)
        if missing.any():
            encoded[missing, : self.length] = 0
        if self.marked:
            encoded[:, self.length] = missing
        if not np.isfinite(encoded.sum(dtype=np.float64)):
            raise ValueError(f"{columns.source}, column {name!r}: a value is too far from the values in training.")
        return encoded

    def names(self) -> Iterator[str]:
        """Yield the names of the features."""
        yield from (f"{self.columns[0]}[{index}]" for index in range(self.length))
        if self.marked:
            yield f"{self.columns[0]} is missing"

    def sources(self) -> tuple[str, ...]:
        """Return the column of each feature."""
        return self.columns * self.width


@dataclass(frozen=True)
class ComputedVectors(Vectors):
    """Encode the vectors that a function of the user or a text encoder returns for the cells of a column.

    Attributes
    ----------
    function
        The name of the function, for messages.
    fingerprint
        What identifies the function. A model uses no other.
    """

    kind: ClassVar[str] = "encoded"
    function: str
    fingerprint: str

    @classmethod
    def learn(cls, name: str, columns: FeatureColumns, **fields: str) -> Self:
        """Fit the encoder to a training column, whose function is among those of the columns."""
        function = columns.functions[name]
        return super().learn(name, columns, function=function.name, fingerprint=function.fingerprint)

    def check(self, function: VectorFunction) -> VectorFunction:
        """Check that a function is the one of the training, and return it."""
        if function.fingerprint != self.fingerprint:
            raise ValueError(
                f"the encoder of {self.columns[0]!r} must be the one of the training, {self.function!r} "
                f"({self.fingerprint[:8]}); got {function.name!r} ({function.fingerprint[:8]}), which is another "
                "function or has other weights. Pass the same one, or fit the model again."
            )
        return function

    def found(self) -> VectorFunction:
        """Return the function, if it can be found by its name; loading a model executes no code."""
        name = self.columns[0]
        raise ValueError(
            f"the model encodes the column {name!r} by the function {self.function!r}, which is not part of the model. "
            f"Pass it: load_model(..., encoders={{{name!r}: function}})."
        )


@dataclass(frozen=True)
class SentenceVectors(ComputedVectors):
    """Encode the vectors of a text encoder, in addition to the words of the texts."""

    kind: ClassVar[str] = "sentence"

    @staticmethod
    def _norm(length: int) -> float:
        """Return the norm that TF-IDF weights of a text have."""
        return 1.0

    def found(self) -> VectorFunction:
        """Return the text encoder at its place in training."""
        try:
            encoder = SentenceEncoder(self.function)
        except ValueError as error:
            raise ValueError(
                f"the model needs the text encoder {self.function!r} ({self.fingerprint[:8]}) of its training: pass "
                f"its folder as text_encoder='...'. {error}"
            ) from error
        return self.check(encoder)


def _moments(vectors: _Matrix, rows: NDArray[np.int64]) -> tuple[NDArray[np.float64], float]:
    """Return the mean of some vectors, and the root mean square of the numbers of the centred ones (1 if it is 0)."""
    parts = [rows[start : start + _ROWS] for start in range(0, len(rows), _ROWS)]
    mean = sum(vectors[part].sum(axis=0, dtype=np.float64) for part in parts) / len(rows)
    squares = sum(float(((vectors[part] - mean) ** 2).sum()) for part in parts)
    scale = float(np.sqrt(squares / (len(rows) * vectors.shape[1])))
    return np.asarray(mean), scale if scale > 1e-6 * float(np.abs(mean).max()) else 1.0


def _is_missing(vectors: _Matrix) -> NDArray[np.bool_]:
    missing: NDArray[np.bool_] = np.isnan(vectors[:, 0]) if vectors.shape[1] else np.ones(len(vectors), dtype=bool)
    return missing
