"""Columns of items as numbers: numbers scaled, categories one-hot, text by its words. What was learned is plain data.

An encoder is learned from the columns of one kind, gives (N, k) floats, and becomes a dictionary of plain values and
back, so that a saved model needs nothing executed to be read.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import find_rows
from confdiff.tabular.features.text_form import FORM, form_of
from confdiff.tabular.sources import Source
from confdiff.tabular.tables import Columns
from confdiff.tabular.values import as_numeric, is_missing
from confdiff.validation import check_choice, check_finite

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class Numbers:
    """Numbers, less their mean and divided by their standard deviation.

    fill: what stands in for a missing number, the median. marked: those that were missing in training somewhere; they
    have a further column that is 1 where the number is missing.
    """

    kind: ClassVar[str] = "number"
    columns: tuple[str, ...]
    fill: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]
    marked: tuple[str, ...]

    @classmethod
    def learn(cls, columns: Columns, source: Source) -> Self:
        """From the columns of training."""
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        values = np.stack([as_numbers(source, name, column) for name, column in columns.items()], axis=1)
        imputer = SimpleImputer(strategy="median", keep_empty_features=True).fit(values)
        scaler = StandardScaler().fit(imputer.transform(values))
        marked = [name for name, column in zip(columns, values.T, strict=True) if np.isnan(column).any()]
        fill, mean, scale = (tuple(found.tolist()) for found in (imputer.statistics_, scaler.mean_, scaler.scale_))
        return cls(tuple(columns), fill, mean, scale, tuple(marked))

    def encode(self, columns: Columns, source: Source) -> Matrix:
        """(N, columns and marked ones)."""
        rows = len(next(iter(columns.values())))
        encoded = np.empty((rows, len(self.columns) + len(self.marked)), dtype=np.float32)
        for place, name in enumerate(self.columns):
            numbers = as_numbers(source, name, columns[name])
            missing = np.isnan(numbers)
            if name in self.marked:
                encoded[:, len(self.columns) + self.marked.index(name)] = missing
            filled = np.where(missing, self.fill[place], numbers) if missing.any() else numbers
            encoded[:, place] = (filled - self.mean[place]) / self.scale[place]
        return encoded

    def names(self) -> Iterator[str]:
        """What the numbers are called."""
        yield from self.columns
        yield from (f"{name} is missing" for name in self.marked)


@dataclass(frozen=True)
class Category:
    """A column that holds one of a few values: 1 at the one it holds. A value not seen in training is none of them.

    values: in their order; an empty text stands for a missing value.
    """

    kind: ClassVar[str] = "category"
    columns: tuple[str]
    values: tuple[str, ...]

    @classmethod
    def learn(cls, columns: Columns, source: Source) -> Self:
        """From the column of training."""
        ((name, column),) = columns.items()
        return cls((name,), tuple(np.unique(as_text(column)).tolist()))

    def encode(self, columns: Columns, source: Source) -> Matrix:
        """(N, values)."""
        places = find_rows(np.array(self.values, dtype=object), as_text(columns[self.columns[0]]))
        encoded = np.zeros((len(places), len(self.values)), dtype=np.float32)
        known = np.flatnonzero(places >= 0)
        encoded[known, places[known]] = 1
        return encoded

    def names(self) -> Iterator[str]:
        """What the numbers are called."""
        yield from (f"{self.columns[0]} = {value or '(missing)'}" for value in self.values)


@dataclass(frozen=True)
class Text:
    """A column of text: the weights of its words (TF-IDF, rows of length 1), and its form.

    words: those that stand in at least two texts. idf: their inverse document frequencies.
    mean, scale: of the measures of :data:`~confdiff.tabular.features.text_form.FORM`, which are the last columns.
    """

    kind: ClassVar[str] = "text"
    columns: tuple[str]
    words: tuple[str, ...]
    idf: tuple[float, ...]
    mean: tuple[float, ...]
    scale: tuple[float, ...]

    @classmethod
    def learn(cls, columns: Columns, source: Source, most_words: int = 2000) -> Self:
        """From the column of training."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        ((name, column),) = columns.items()
        texts = as_text(column)
        vectorizer = TfidfVectorizer(min_df=2, sublinear_tf=True, max_features=most_words, dtype=np.float32)
        try:
            vectorizer.fit(texts)
        except ValueError as error:
            raise ValueError(f"{source}, column {name!r}, has no word that stands in two texts; ignore it.") from error
        words = vectorizer.get_feature_names_out().tolist()
        form = form_of(texts)
        spread = form.std(axis=0)
        scale = np.where(spread > 0, spread, 1.0)
        return cls(
            (name,),
            tuple(words),
            tuple(vectorizer.idf_.tolist()),
            tuple(form.mean(axis=0).tolist()),
            tuple(scale.tolist()),
        )

    def encode(self, columns: Columns, source: Source) -> Matrix:
        """(N, words and form)."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        texts = as_text(columns[self.columns[0]])
        vectorizer = TfidfVectorizer(vocabulary=list(self.words), sublinear_tf=True, dtype=np.float32)
        vectorizer.idf_ = np.array(self.idf, dtype=np.float32)
        weights = vectorizer.transform(texts).toarray()
        form = (form_of(texts) - self.mean) / self.scale
        return np.concatenate([weights, form.astype(np.float32)], axis=1)

    def names(self) -> Iterator[str]:
        """What the numbers are called."""
        yield from (f"{self.columns[0]}: {word}" for word in self.words)
        yield from (f"{self.columns[0]}: {measure}" for measure in FORM)


Encoder = Numbers | Category | Text
KINDS: dict[str, type[Encoder]] = {encoder.kind: encoder for encoder in (Numbers, Category, Text)}


def as_state(encoder: Encoder) -> dict[str, Any]:
    """An encoder as plain values."""
    return {"kind": encoder.kind, **asdict(encoder)}


def from_state(state: dict[str, Any]) -> Encoder:
    """The encoder that :func:`as_state` made these values of."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in state.items() if name != "kind"
    }
    return KINDS[check_choice("kind of column", state["kind"], KINDS)](**values)


def as_numbers(source: Source, name: str, column: NDArray[Any]) -> NDArray[np.float64]:
    """A column of numbers, of truth values or of times (in days), NaN where one is missing."""
    if column.dtype.kind == "M":
        missing = np.isnat(column)
        days = (column - np.datetime64(0, "D")) / np.timedelta64(1, "D")
        return np.where(missing, np.nan, days)
    numbers = as_numeric(source, name, column)
    if numbers.dtype.kind == "f":
        check_finite(source.column(name), np.where(np.isnan(numbers), 0, numbers), start=source.first_row)
    return numbers.astype(np.float64, copy=False)


def as_text(column: NDArray[Any]) -> NDArray[Any]:
    """A column as text, empty where nothing stands there; each as long as it is."""
    text = np.empty(len(column), dtype=object)
    text[:] = [
        "" if missing else str(value) for value, missing in zip(column.tolist(), is_missing(column), strict=True)
    ]
    return text
