"""Encode columns of items as numbers: numbers scaled, categories one-hot, texts as TF-IDF weights.

An encoder is learned from the columns of one kind and returns (N, k) floats: numbers as an array, categories and texts
as a sparse matrix. It is converted to plain values and back, so that reading a saved model executes nothing.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confdiff.io.decoding import check_object, decode_fields
from confdiff.io.lookup import find_rows
from confdiff.standardisation import is_constant
from confdiff.tabular.features.reading import FeatureColumns
from confdiff.tabular.features.text_form import FORM, form_of
from confdiff.tabular.features.vector_encoders import ComputedVectors, SentenceVectors, Vectors
from confdiff.tabular.features.vocabulary import NEW_TOKENS, TOKENS, Vocabulary, learn_vocabulary
from confdiff.validation import check_choice

_Matrix = NDArray[np.float32]
_MAX_IDF = 1000.0  # 1 + log of the number of texts


@dataclass(frozen=True)
class Numbers:
    """Standardise numeric columns.

    Attributes
    ----------
    columns
        The names of the columns.
    fill
        The median of each, which replaces missing numbers.
    mean, scale
        Mean and standard deviation of each.
    marked
        The columns with missing numbers in training. Each has a further feature: 1 where the number is missing.
    """

    kind: ClassVar[str] = "number"
    columns: tuple[str, ...]
    fill: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    marked: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_distinct("columns", self.columns)
        _check_distinct("marked", self.marked)
        _check_lengths(self, len(self.columns), "fill", "mean", "scale")
        _check_positive("scale", self.scale)
        if not set(self.marked) <= set(self.columns):
            raise ValueError(f"marked columns must be columns; got {self.marked!r:.60}")

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.columns) + len(self.marked)

    @classmethod
    def learn(cls, names: Iterable[str], columns: FeatureColumns) -> Self:
        """Fit the encoder to training columns."""
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        names = tuple(names)
        values = np.stack([columns.numbers(name) for name in names], axis=1)
        imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(values)
        scaler = StandardScaler().fit(imputer.transform(values))
        return cls(
            columns=names,
            fill=tuple(imputer.statistics_.tolist()),
            mean=tuple(scaler.mean_.tolist()),
            scale=tuple(scaler.scale_.tolist()),
            marked=tuple(name for name, numbers in zip(names, values.T, strict=True) if np.isnan(numbers).any()),
        )

    def encode(self, columns: FeatureColumns) -> _Matrix:
        """Return (N, columns and marked columns)."""
        encoded = np.empty((len(columns), len(self.columns) + len(self.marked)), dtype=np.float32)
        for index, name in enumerate(self.columns):
            numbers = columns.numbers(name)
            missing = np.isnan(numbers)
            if name in self.marked:
                encoded[:, len(self.columns) + self.marked.index(name)] = missing
            filled = np.where(missing, self.fill[index], numbers) if missing.any() else numbers
            encoded[:, index] = _standardised(columns, name, filled, self.mean[index], self.scale[index])
        return encoded

    def names(self) -> Iterator[str]:
        """Yield the names of the features."""
        yield from self.columns
        yield from (f"{name} is missing" for name in self.marked)

    def sources(self) -> tuple[str, ...]:
        """Return the column of each feature."""
        return (*self.columns, *self.marked)


@dataclass(frozen=True)
class Category:
    """Encode a column with few values as one-hot features; a value that is new after training gives zeros.

    Attributes
    ----------
    columns
        The name of the column.
    values
        Its sorted values; the empty text is a missing value.
    """

    kind: ClassVar[str] = "category"
    columns: tuple[str]
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_distinct("values", self.values)

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.values)

    @classmethod
    def learn(cls, name: str, columns: FeatureColumns) -> Self:
        """Fit the encoder to a training column."""
        return cls(columns=(name,), values=tuple(np.unique(columns.text(name)).tolist()))

    def encode(self, columns: FeatureColumns) -> Any:
        """Return (N, values) as a ``scipy.sparse.csr_array``."""
        from scipy.sparse import csr_array

        positions = find_rows(np.array(self.values, dtype=object), columns.text(self.columns[0]))
        rows = np.flatnonzero(positions >= 0)
        ones = np.ones(len(rows), dtype=np.float32)
        return csr_array((ones, (rows, positions[rows])), shape=(len(positions), len(self.values)))

    def names(self) -> Iterator[str]:
        """Yield the names of the features."""
        yield from (f"{self.columns[0]} = {value or '(missing)'}" for value in self.values)

    def sources(self) -> tuple[str, ...]:
        """Return the column of each feature."""
        return self.columns * self.width


@dataclass(frozen=True)
class Text:
    """Encode a column of text as L2-normalised TF-IDF weights of its words, plus measures such as its length.

    Attributes
    ----------
    columns
        The name of the column.
    words
        The words and pairs of words, such as ``"clean water"``, each of which occurs in at least two texts.
    idf
        Their inverse document frequencies.
    mean, scale
        Mean and standard deviation of the measures of :data:`~confdiff.tabular.features.text_form.FORM`, which are
        the last features.
    tokens
        What counts as a word, see :data:`~confdiff.tabular.features.vocabulary.TOKENS`. Saved encoders that do not
        name it have the first.
    """

    kind: ClassVar[str] = "text"
    columns: tuple[str]
    words: tuple[str, ...]
    idf: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    tokens: str = "long words"

    def __post_init__(self) -> None:
        check_choice("tokens", self.tokens, TOKENS)
        _check_distinct("words", self.words)
        _check_lengths(self, len(self.words), "idf")
        _check_lengths(self, len(FORM), "mean", "scale")
        _check_positive("scale", self.scale)
        if any(not 0 < idf < _MAX_IDF for idf in self.idf):
            raise ValueError("idf must hold inverse document frequencies, which are above 0 and small")

    @property
    def width(self) -> int:
        """Number of features."""
        return len(self.words) + len(FORM)

    @classmethod
    def learn(cls, name: str, columns: FeatureColumns, max_features: int) -> Self:
        """Fit the encoder to a training column, with at most ``max_features`` words and pairs of words."""
        texts = columns.text(name)
        try:
            vocabulary = learn_vocabulary(texts, max_features)
        except ValueError as error:
            raise ValueError(
                f"{columns.source}, column {name!r}: no word occurs in two texts. Leave it out with ignore={name!r}."
            ) from error
        form = form_of(texts)
        spread = form.std(axis=0)
        return cls(
            columns=(name,),
            words=vocabulary.words,
            idf=vocabulary.idf,
            mean=tuple(form.mean(axis=0).tolist()),
            scale=tuple(np.where(is_constant(form), 1.0, spread).tolist()),
            tokens=NEW_TOKENS,
        )

    def encode(self, columns: FeatureColumns) -> Any:
        """Return (N, words and measures of form) as a ``scipy.sparse.csr_array``."""
        from scipy.sparse import csr_array, hstack

        texts = columns.text(self.columns[0])
        weights = Vocabulary(self.words, self.idf, self.tokens).weights(texts)
        form = _standardised(columns, self.columns[0], form_of(texts), np.array(self.mean), np.array(self.scale))
        return csr_array(hstack([weights, csr_array(form)], format="csr"))

    def names(self) -> Iterator[str]:
        """Yield the names of the features."""
        yield from (f"{self.columns[0]}: {word}" for word in self.words)
        yield from (f"{self.columns[0]}: {measure}" for measure in FORM)

    def sources(self) -> tuple[str, ...]:
        """Return the column of each feature."""
        return self.columns * self.width


Encoder = Numbers | Category | Text | Vectors
_ENCODERS: dict[str, type[Encoder]] = {
    encoder.kind: encoder for encoder in (Numbers, Category, Text, Vectors, ComputedVectors, SentenceVectors)
}


def encoder_to_state(encoder: Encoder) -> dict[str, Any]:
    """Return an encoder as plain values."""
    return {"kind": encoder.kind, **asdict(encoder)}


def encoder_from_state(state: dict[str, Any]) -> Encoder:
    """Return the encoder that :func:`encoder_to_state` described; its ``__post_init__`` checks that fields agree."""
    fields = dict(check_object("an encoder", state))
    encoder = _ENCODERS[check_choice("kind of column", fields.pop("kind"), _ENCODERS)]
    return decode_fields(encoder, fields)


def _standardised(columns: FeatureColumns, name: str, values: NDArray[Any], mean: Any, scale: Any) -> _Matrix:
    """Return values in standard deviations from the mean of the training items; they must be 32-bit floats."""
    with np.errstate(over="ignore", invalid="ignore"):
        standardised: _Matrix = ((values - mean) / scale).astype(np.float32)
    if not np.isfinite(standardised).all():
        raise ValueError(f"{columns.source}, column {name!r}: a value is too far from the values in training.")
    return standardised


def _check_lengths(encoder: Any, expected: int, *names: str) -> None:
    """Check that some fields of an encoder have one entry for each column, word or measure."""
    for name in names:
        if len(getattr(encoder, name)) != expected:
            raise ValueError(f"{name} of {encoder.columns!r:.60} must have {expected} entries")


def _check_distinct(name: str, values: tuple[str, ...]) -> None:
    if len(set(values)) != len(values):
        raise ValueError(f"{name} must differ; got one of them twice")


def _check_positive(name: str, values: tuple[float, ...]) -> None:
    if any(not value > 0 for value in values):
        raise ValueError(f"{name} must be above 0; got {min(values)!r}")
