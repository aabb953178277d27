"""From mixed columns of items to the numbers that a network takes."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from confdiff.tabular.features.encoders import (
    Category,
    Encoder,
    Numbers,
    Text,
    as_numbers,
    as_state,
    as_text,
    from_state,
)
from confdiff.tabular.sources import Source
from confdiff.tabular.tables import Columns, ItemTable, columns_of
from confdiff.tabular.values import is_missing
from confdiff.validation import check_choice, check_count, warn_user

KINDS = ("number", "flag", "time", "category", "text", "ignore")
"""What a column can hold."""

NUMERIC = ("number", "flag", "time")
_MOST_VALUES = 50  # of a category
_FEWEST_WORDS = 3  # of a text, on average


class ItemFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Turns the columns of items into numbers: numbers are scaled, categories one-hot, texts weighted by their words.

    A missing number is replaced by the median and marked in a column of its own; a missing category is one of its own.
    The order of the columns does not matter, and columns that were not there in ``fit`` are no matter.

    Parameters
    ----------
    kinds : column -> ``"number"``, ``"flag"`` (true or false), ``"time"``, ``"category"``, ``"text"`` or ``"ignore"``;
        those not named are recognised.
    most_words : how many words of a text are used, the most frequent ones.

    Attributes
    ----------
    kinds_ : what each column was taken for. encoders_ : what was learned. feature_names_in_, n_features_in_.

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 50, 40, 40], "ward": ["A", "B", "A", "B"]})
    >>> ItemFeatures().fit(frame).transform(frame).round(2)
        age  ward = A  ward = B
    0 -1.41       1.0       0.0
    1  1.41       0.0       1.0
    2  0.00       1.0       0.0
    3  0.00       0.0       1.0
    """

    def __init__(self, *, kinds: Mapping[str, str] | None = None, most_words: int = 2000) -> None:
        self.kinds = kinds
        self.most_words = most_words

    def fit(self, X: Any, y: Any = None, *, rows: NDArray[np.int64] | None = None) -> "ItemFeatures":
        """Learn from items: a data frame, or a mapping from names to columns. rows: those to learn from, if not all."""
        check_count("most_words", self.most_words)
        table = _as_table(X)
        self.kinds_ = self._kinds_of(table)
        used = {name: table.columns[name] for name, kind in self.kinds_.items() if kind != "ignore"}
        if not used:
            raise ValueError(f"{table.source} must have a column to learn from; none of {list(table.columns)} can be.")
        for name in used:
            if self.kinds_[name] in NUMERIC:
                as_numbers(table.source, name, used[name])  # of all rows, so that a message names the right one
        if rows is not None:
            used = {name: column[rows] for name, column in used.items()}
        self.encoders_ = self._learned(table.source, used)
        self.feature_names_in_ = np.array(list(used), dtype=object)
        self.n_features_in_ = len(used)
        return self

    def _learned(self, source: Source, used: Columns) -> list[Encoder]:
        numbers = {name: column for name, column in used.items() if self.kinds_[name] in NUMERIC}
        encoders: list[Encoder] = [Numbers.learn(numbers, source)] if numbers else []
        for name, column in used.items():
            if self.kinds_[name] == "category":
                encoders.append(Category.learn({name: column}, source))
            elif self.kinds_[name] == "text":
                encoders.append(Text.learn({name: column}, source, self.most_words))
        return encoders

    def _kinds_of(self, table: ItemTable) -> dict[str, str]:
        said = dict(self.kinds or {})
        for name, kind in said.items():
            check_choice(f"column in kinds, none of {table.source}'s:", name, table.columns)
            check_choice("kind", kind, KINDS)
        return {name: said.get(name) or kind_of(name, column) for name, column in table.columns.items()}

    def transform(self, X: Any) -> Any:
        """The features of items, (N, k): a data frame where a data frame came, else an array."""
        check_is_fitted(self)
        table = _as_table(X)
        missing = [name for name in self.feature_names_in_ if name not in table.columns]
        if missing:
            there = ", ".join(list(table.columns)[:8])
            raise ValueError(f"{table.source} must have a column {missing[0]!r}, as in training; it has {there}.")
        encoded = np.concatenate([encoder.encode(table.columns, table.source) for encoder in self.encoders_], axis=1)
        if not hasattr(X, "iloc"):
            return encoded
        import pandas as pd

        return pd.DataFrame(encoded, index=X.index, columns=self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """What the features are called."""
        check_is_fitted(self)
        return np.array([name for encoder in self.encoders_ for name in encoder.names()], dtype=object)

    def as_state(self) -> dict[str, Any]:
        """What was learned, as plain values."""
        check_is_fitted(self)
        return {
            "most_words": self.most_words,
            "kinds": self.kinds_,
            "encoders": [as_state(encoder) for encoder in self.encoders_],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "ItemFeatures":
        """What :meth:`as_state` gave, fitted again."""
        features = cls(kinds=state["kinds"], most_words=state["most_words"])
        features.kinds_ = dict(state["kinds"])
        features.encoders_ = [from_state(encoder) for encoder in state["encoders"]]
        used = [name for name, kind in features.kinds_.items() if kind != "ignore"]
        features.feature_names_in_, features.n_features_in_ = np.array(used, dtype=object), len(used)
        return features


def kind_of(name: str, column: NDArray[Any]) -> str:
    """What a column seems to hold.

    >>> kind_of("ward", np.array(["A", "B", "A"])), kind_of("age", np.array([30.5, np.nan]))
    ('category', 'number')
    """
    plain = {"b": "flag", "i": "number", "u": "number", "f": "number", "M": "time"}
    if column.dtype.kind in plain:
        return plain[column.dtype.kind]
    there = column[~is_missing(column)]
    if not len(there):
        return _ignored(name, "nothing stands in it")
    if all(isinstance(value, Real) for value in there.tolist()):
        return "flag" if all(isinstance(value, bool) for value in there.tolist()) else "number"
    values, words = np.unique(as_text(there)), np.mean([len(str(value).split()) for value in there.tolist()])
    few = len(values) <= _MOST_VALUES
    if words >= _FEWEST_WORDS and not (few and len(there) >= 5 * len(values)):
        return "text"
    if few:
        return "category"
    return _ignored(name, f"its {len(values):,} values look like names, not like a category or a text")


def _ignored(name: str, why: str) -> str:
    warn_user(f"column {name!r} is left out: {why}. Say what it is if it should count.")
    return "ignore"


def _as_table(X: Any) -> ItemTable:
    if isinstance(X, ItemTable):
        return X
    if not isinstance(X, Mapping) and not hasattr(X, "columns"):
        raise ValueError(f"items must be a data frame or a mapping from names to columns; got {type(X).__name__}.")
    source, columns = columns_of(X, "items")
    rows = len(next(iter(columns.values()))) if columns else 0
    return ItemTable(source, np.arange(rows), columns)
