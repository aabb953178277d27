"""Turn mixed columns of items into the numeric features of a network."""

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from confdiff.display.text import listed
from confdiff.io.decoding import decode
from confdiff.tabular.features.encoders import (
    Category,
    Encoder,
    Numbers,
    Text,
    as_numbers,
    as_text,
    encoder_from_state,
    encoder_to_state,
)
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.tables import Columns, ItemTable, table_columns
from confdiff.tabular.values import is_missing
from confdiff.validation import check_choice, check_count, warn_user

KINDS = ("number", "flag", "time", "category", "text", "ignore")
"""Kinds of columns."""

_NUMERIC = ("number", "flag", "time")
_KIND_OF_TYPE = {"b": "flag", "i": "number", "u": "number", "f": "number", "M": "time"}
_MAX_CATEGORIES = 50
_MIN_WORDS = 3  # of a text, on average


class ItemFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Turn the columns of items into numbers: numbers are scaled, categories one-hot encoded, texts TF-IDF weighted.

    A missing number becomes the median, and a further feature marks it; a missing category is a category of its own.
    The order of the columns does not matter, and columns that ``fit`` has not seen are ignored.

    Parameters
    ----------
    kinds : mapping, optional
        Column -> ``"number"``, ``"flag"`` (true or false), ``"time"``, ``"category"``, ``"text"`` or ``"ignore"``.
        Other columns are recognised.
    max_features : int
        Maximum number of words per text column; the most frequent ones are used.

    Attributes
    ----------
    kinds_ : dict
        Column -> its kind.
    encoders_ : list
        The fitted encoder of each column.
    feature_names_in_, n_features_in_
        The columns in use, and their number.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [30, 50, 40, 40], "ward": ["A", "B", "A", "B"]})
    >>> ItemFeatures().fit(frame).transform(frame).round(2)
        age  ward = A  ward = B
    0 -1.41       1.0       0.0
    1  1.41       0.0       1.0
    2  0.00       1.0       0.0
    3  0.00       0.0       1.0
    """

    def __init__(self, *, kinds: Mapping[str, str] | None = None, max_features: int = 2000) -> None:
        self.kinds = kinds
        self.max_features = max_features

    def fit(self, X: Any, y: Any = None, *, rows: NDArray[np.int64] | None = None) -> "ItemFeatures":
        """Learn the encoding of columns.

        Parameters
        ----------
        X : data frame, mapping from names to columns, or ItemTable
            The items.
        y : None
            Not used; for pipelines of scikit-learn.
        rows : array of int, optional
            The rows to learn from; all if not given.
        """
        check_count("max_features", self.max_features)
        table = _as_table(X)
        self.kinds_ = self._kinds_of(table)
        used = {name: table.columns[name] for name, kind in self.kinds_.items() if kind != "ignore"}
        if not used:
            raise ValueError(
                f"{table.source} must have a column to learn from; all are ignored: {listed(table.columns)}. "
                "Pass kinds={'...': 'category'} for a column that matters."
            )
        for name in used:
            if self.kinds_[name] in _NUMERIC:
                as_numbers(table.source, name, used[name])  # of all rows, so that messages count rows correctly
        if rows is not None:
            used = {name: column[rows] for name, column in used.items()}
        self.encoders_ = self._learned(table.source, used)
        self.feature_names_in_ = np.array(list(used), dtype=object)
        self.n_features_in_ = len(used)
        return self

    def _learned(self, source: TableSource, used: Columns) -> list[Encoder]:
        numbers = {name: column for name, column in used.items() if self.kinds_[name] in _NUMERIC}
        encoders: list[Encoder] = []
        if numbers:
            encoders.append(Numbers.learn(numbers, source))
        for name, column in used.items():
            if self.kinds_[name] == "category":
                encoders.append(Category.learn({name: column}, source))
            elif self.kinds_[name] == "text":
                encoders.append(Text.learn({name: column}, source, self.max_features))
        return encoders

    def _kinds_of(self, table: ItemTable) -> dict[str, str]:
        chosen = dict(self.kinds or {})
        for name, kind in chosen.items():
            if name not in table.columns:
                raise ValueError(
                    f"no column of {table.source} is named {name!r} (kinds={{{name!r}: {kind!r}}}); "
                    f"the columns are {listed(table.columns)}."
                )
            check_choice("kind", kind, KINDS)
        return {name: chosen.get(name) or kind_of(name, column) for name, column in table.columns.items()}

    def transform(self, X: Any) -> Any:
        """Return the features of items.

        Parameters
        ----------
        X : data frame, mapping from names to columns, or ItemTable
            N items with the training columns.

        Returns
        -------
        data frame or array of shape (N, k)
            A data frame if ``X`` is one.
        """
        check_is_fitted(self)
        table = _as_table(X)
        missing = [name for name in self.feature_names_in_ if name not in table.columns]
        if missing:
            raise ValueError(
                f"{table.source} must have the training columns; missing: {listed(map(repr, missing))}. "
                f"The columns are {listed(table.columns)}."
            )
        encoded = np.concatenate([encoder.encode(table.columns, table.source) for encoder in self.encoders_], axis=1)
        if not hasattr(X, "iloc"):
            return encoded
        import pandas as pd

        return pd.DataFrame(encoded, index=X.index, columns=self.get_feature_names_out())

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features."""
        check_is_fitted(self)
        return np.array([name for encoder in self.encoders_ for name in encoder.names()], dtype=object)

    def to_state(self) -> dict[str, Any]:
        """Return the fitted encoders as plain values."""
        check_is_fitted(self)
        return {
            "max_features": self.max_features,
            "kinds": self.kinds_,
            "encoders": [encoder_to_state(encoder) for encoder in self.encoders_],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "ItemFeatures":
        """Return the fitted transformer that :meth:`to_state` described."""
        kinds = decode(dict[str, str], state["kinds"], "kinds")
        for kind in kinds.values():
            check_choice("kind", kind, KINDS)
        max_features = check_count("max_features", state["max_features"])
        features = cls(kinds=kinds, max_features=max_features)
        features.kinds_ = dict(kinds)
        features.encoders_ = [
            encoder_from_state(encoder) for encoder in decode(tuple[Any, ...], state["encoders"], "encoders")
        ]
        _check_encoded(kinds, features.encoders_)
        used = [name for name, kind in features.kinds_.items() if kind != "ignore"]
        features.feature_names_in_ = np.array(used, dtype=object)
        features.n_features_in_ = len(used)
        return features


def _check_encoded(kinds: Mapping[str, str], encoders: Sequence[Encoder]) -> None:
    """Check that each column in use has one encoder, of its kind."""
    encoded = [(name, encoder.kind) for encoder in encoders for name in encoder.columns]
    expected = [(name, "number" if kind in _NUMERIC else kind) for name, kind in kinds.items() if kind != "ignore"]
    if sorted(encoded) != sorted(expected) or not encoders:
        raise ValueError("its encoders are not those of its columns")


def kind_of(name: str, column: NDArray[Any]) -> str:
    """Return the recognised kind of a column, one of :data:`KINDS`; warn if the column is ignored.

    >>> kind_of("ward", np.array(["A", "B", "A"])), kind_of("age", np.array([30.5, np.nan]))
    ('category', 'number')
    """
    if column.dtype.kind in _KIND_OF_TYPE:
        return _KIND_OF_TYPE[column.dtype.kind]
    values = column[~is_missing(column)]
    if not len(values):
        return _ignored(name, "it is empty")
    if all(isinstance(value, Real) for value in values.tolist()):
        return "flag" if all(isinstance(value, bool) for value in values.tolist()) else "number"
    n_distinct = len(np.unique(as_text(values)))
    words = np.mean([len(str(value).split()) for value in values.tolist()])
    few = n_distinct <= _MAX_CATEGORIES
    if words >= _MIN_WORDS and not (few and len(values) >= 5 * n_distinct):
        return "text"
    if few:
        return "category"
    return _ignored(name, f"its {n_distinct:,} values look like names, not like a category or a text")


def _ignored(name: str, reason: str) -> str:
    warn_user(
        f"column {name!r} is ignored: {reason}. If it matters, pass its kind, such as kinds={{{name!r}: 'category'}}."
    )
    return "ignore"


def _as_table(X: Any) -> ItemTable:
    if isinstance(X, ItemTable):
        return X
    if not isinstance(X, Mapping) and not hasattr(X, "columns"):
        raise ValueError(f"items must be a data frame or a mapping from names to columns; got {type(X).__name__}.")
    source, columns = table_columns(X, "items")
    rows = len(next(iter(columns.values()))) if columns else 0
    return ItemTable(source, np.arange(rows), columns)
