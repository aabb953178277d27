"""Turn mixed columns of items into the numeric features of a network."""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from confdiff.display.text import listed
from confdiff.io.column_types.deciding import type_of
from confdiff.io.column_types.lattice import ColumnType, check_type
from confdiff.io.decoding import decode
from confdiff.io.typed_table import is_frame, like_frame
from confdiff.tabular.features.computing.files import check_encoders, file_encoders
from confdiff.tabular.features.computing.sentences import SentenceEncoder
from confdiff.tabular.features.computing.vector_function import VectorFunction
from confdiff.tabular.features.encoders import (
    Category,
    Encoder,
    Numbers,
    Text,
    encoder_from_state,
    encoder_to_state,
)
from confdiff.tabular.features.kinds import ALL_KINDS, KINDS, kind_of
from confdiff.tabular.features.reading import NUMERIC_KINDS, FeatureColumns, type_to_read
from confdiff.tabular.features.vector_encoders import ComputedVectors, SentenceVectors, Vectors
from confdiff.tabular.features.vocabulary import MAX_WORDS
from confdiff.tabular.tables import ItemTable, table_columns
from confdiff.validation import check_choice, check_count, is_sparse

_MOST_DENSE = 1_000  # features of texts and categories; more of them are a sparse matrix


class ItemFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Turn the columns of items into numbers: numbers are scaled, categories one-hot encoded, texts TF-IDF weighted.

    A missing number becomes the median, and a further feature marks it; a missing category is a category of its own.
    A column whose cells are lists of numbers, such as embeddings, is a vector: it is centred and scaled, and a missing
    one becomes the mean.
    The order of the columns does not matter, and columns that ``fit`` has not seen are ignored.

    Parameters
    ----------
    kinds : mapping, optional
        Column -> ``"number"``, ``"flag"`` (true or false), ``"time"``, ``"category"``, ``"text"``, ``"vector"`` or
        ``"ignore"``. Other columns are recognised.
    max_features : int
        Maximum number of words and pairs of words per text column; single words come first, then the most frequent.
    sparse_output : bool
        Whether the features are a sparse matrix if texts and categories have more than 1,000 of them. Data frames as
        output (``set_output``) need ``False``.
    text_encoder : path or str, optional
        A model of sentence-transformers in a folder, see
        :class:`~confdiff.tabular.features.computing.sentences.SentenceEncoder`. Its vectors of the texts are used in
        addition to their words.
    encoders : mapping, optional
        Column of paths of files -> a function or a module of torch that maps a path to a vector, or a
        :class:`~confdiff.FileEncoder`.

    Attributes
    ----------
    kinds_ : dict
        Column -> its kind.
    types_ : dict
        Column -> the type by which its values are read, such as ``"integer"`` or ``"text"``.
    encoders_ : list
        The fitted encoder of each column; a text has two with ``text_encoder``.
    functions_ : dict
        Column -> the function that returns the vectors of its cells.
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

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        max_features: int = MAX_WORDS,
        sparse_output: bool = True,
        text_encoder: str | os.PathLike[str] | None = None,
        encoders: Mapping[str, Any] | None = None,
    ) -> None:
        self.kinds = kinds
        self.max_features = max_features
        self.sparse_output = sparse_output
        self.text_encoder = text_encoder
        self.encoders = encoders

    def fit(self, X: Any, y: Any = None, *, rows: NDArray[np.int64] | None = None) -> "ItemFeatures":
        """Learn the encoding of columns.

        Parameters
        ----------
        X : data frame, mapping from names to columns, path or ItemTable
            The items. A data frame is one of pandas, polars, pyarrow, or another with an Arrow stream.
        y : None
            Not used; for pipelines of scikit-learn.
        rows : array of int, optional
            The rows to learn from; all if not given.
        """
        check_count("max_features", self.max_features)
        check_encoders(self.encoders)
        table = _as_table(X, ignore=[name for name, kind in (self.kinds or {}).items() if kind == "ignore"])
        types = {name: table.types.get(name) or type_of(column) for name, column in table.columns.items()}
        self.kinds_ = self._kinds_of(table, types)
        self.types_ = {name: type_to_read(kind, types[name]) for name, kind in self.kinds_.items()}
        used = [name for name, kind in self.kinds_.items() if kind != "ignore"]
        if not used:
            raise ValueError(
                f"{table.source} must have a column to learn from; all are ignored: {listed(table.columns)}. "
                "Pass kinds={'...': 'category'} for a column that matters."
            )
        self.functions_ = self._functions()
        self.encoders_ = self._learned(used, FeatureColumns(table, self.types_, rows, self.functions_))
        self.feature_names_in_ = np.array(used, dtype=object)
        self.n_features_in_ = len(used)
        return self

    def _learned(self, used: list[str], columns: FeatureColumns) -> list[Encoder]:
        numbers = [name for name in used if self.kinds_[name] in NUMERIC_KINDS]
        encoders: list[Encoder] = []
        if numbers:
            encoders.append(Numbers.learn(numbers, columns))
        for name in used:
            if self.kinds_[name] == "category":
                encoders.append(Category.learn(name, columns))
            elif self.kinds_[name] == "text":
                encoders.append(Text.learn(name, columns, self.max_features))
                if name in columns.functions:
                    encoders.append(SentenceVectors.learn(name, columns))
            elif self.kinds_[name] == "vector":
                encoders.append(Vectors.learn(name, columns))
            elif self.kinds_[name] == "encoded":
                encoders.append(ComputedVectors.learn(name, columns))
        return encoders

    def _functions(self) -> dict[str, VectorFunction]:
        """Return the function of each column whose cells it turns into vectors."""
        functions = file_encoders(self.encoders)
        if self.text_encoder is None:
            return functions
        texts = [name for name, kind in self.kinds_.items() if kind == "text"]
        if not texts:
            raise ValueError(
                f"text_encoder={str(self.text_encoder)!r} would not be used: no column of the items is a text. "
                "Omit it, or pass kinds={'...': 'text'}."
            )
        return functions | dict.fromkeys(texts, SentenceEncoder(self.text_encoder))

    def _kinds_of(self, table: ItemTable, types: Mapping[str, ColumnType]) -> dict[str, str]:
        chosen = {**(self.kinds or {}), **dict.fromkeys(self.encoders or {}, "encoded")}
        for name, kind in chosen.items():
            if name not in table.columns:
                raise ValueError(
                    f"no column of {table.source} is named {name!r} (kinds={{{name!r}: {kind!r}}}); "
                    f"the columns are {listed(table.columns)}."
                )
            if name not in (self.encoders or {}):
                check_choice("kind", kind, KINDS)
            if types.get(name) == "vector" and kind not in ("vector", "ignore", "encoded"):
                raise ValueError(
                    f"{table.source}, column {name!r}: holds vectors, which cannot be of the kind {kind!r}. Omit "
                    f"the kind, or pass kinds={{{name!r}: 'ignore'}}."
                )
        return {
            name: chosen.get(name) or kind_of(name, column, types[name], table.source)
            for name, column in table.columns.items()
        }

    def transform(self, X: Any) -> Any:
        """Return the features of items.

        Parameters
        ----------
        X : data frame, mapping from names to columns, path or ItemTable
            N items with the training columns. A column of another type than in training is converted.

        Returns
        -------
        data frame, array or scipy.sparse.csr_array of shape (N, k)
            A sparse matrix if ``sparse_output`` allows it and texts and categories have more than 1,000 features.
            Otherwise a data frame of the same kind if ``X`` is one (pandas, polars, pyarrow).

        Raises
        ------
        ValueError
            If a column is missing, or a cell cannot be converted to the type of its column.
        """
        encoded = self.encode(X)
        if self.is_sparse or not is_frame(X):
            return encoded
        return like_frame(X, dict(zip(self.get_feature_names_out(), encoded.T, strict=True)))

    @property
    def is_sparse(self) -> bool:
        """Whether the features of items are a sparse matrix."""
        check_is_fitted(self)
        n_sparse = sum(encoder.width for encoder in self.encoders_ if not isinstance(encoder, Numbers | Vectors))
        return self.sparse_output and n_sparse > _MOST_DENSE

    @property
    def width(self) -> int:
        """Number of features."""
        check_is_fitted(self)
        return sum(encoder.width for encoder in self.encoders_)

    def encode(self, X: Any) -> Any:
        """Return the features of items as an array or a sparse matrix of shape (N, k), never as a data frame.

        See :meth:`transform`; sparse features are never made dense.
        """
        check_is_fitted(self)
        table = _as_table(X)
        missing = [name for name in self.feature_names_in_ if name not in table.columns]
        if missing:
            raise ValueError(
                f"{table.source} must have the training columns; missing: {listed(map(repr, missing))}. "
                f"The columns are {listed(table.columns)}."
            )
        columns = FeatureColumns(table, self.types_, functions=self._functions_in_use())
        parts = [encoder.encode(columns) for encoder in self.encoders_]
        return _sparse_matrix(parts) if self.is_sparse else _dense_matrix(parts)

    def use(
        self, *, encoders: Mapping[str, Any] | None = None, text_encoder: str | os.PathLike[str] | None = None
    ) -> "ItemFeatures":
        """Pass the functions of a model that was read from a folder, which holds their names and fingerprints only.

        Parameters
        ----------
        encoders : mapping, optional
            Column -> its function, as in training.
        text_encoder : path or str, optional
            The text encoder of the training, if it is at another place now.

        Raises
        ------
        ValueError
            A function is not that of the training.
        """
        check_is_fitted(self)
        functions = file_encoders(encoders)
        computed = {encoder.columns[0]: encoder for encoder in self.encoders_ if isinstance(encoder, ComputedVectors)}
        texts = [name for name, encoder in computed.items() if isinstance(encoder, SentenceVectors)]
        if text_encoder is not None:
            if not texts:
                raise ValueError(f"text_encoder={str(text_encoder)!r} would not be used: the model has none.")
            functions |= dict.fromkeys(texts, SentenceEncoder(text_encoder))
        for name, function in functions.items():
            if name not in computed:
                raise ValueError(f"encoders={{{name!r}: ...}} would not be used: the model has no encoder of {name!r}.")
            computed[name].check(function)
        self.functions_ = self.functions_ | functions
        return self

    def functions(self) -> dict[str, Any]:
        """Return the functions of the columns as arguments, to fit the encoding again."""
        if not hasattr(self, "encoders_"):
            parameters = {"encoders": self.encoders, "text_encoder": self.text_encoder}
            return {name: value for name, value in parameters.items() if value is not None}
        texts = [encoder.columns[0] for encoder in self.encoders_ if isinstance(encoder, SentenceVectors)]
        encoders = {name: function for name, function in self.functions_.items() if name not in texts}
        arguments: dict[str, Any] = {"encoders": encoders} if encoders else {}
        in_use = [self.functions_[name].name for name in texts if name in self.functions_]
        return arguments | ({"text_encoder": in_use[0]} if in_use else {})

    def _functions_in_use(self) -> dict[str, VectorFunction]:
        """Return the function of each column; a text encoder is searched for where it was in training."""
        for encoder in self.encoders_:
            if isinstance(encoder, ComputedVectors) and encoder.columns[0] not in self.functions_:
                self.functions_[encoder.columns[0]] = encoder.found()
        return self.functions_

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the features."""
        check_is_fitted(self)
        return np.array([name for encoder in self.encoders_ for name in encoder.names()], dtype=object)

    def feature_groups(self) -> NDArray[np.int64]:
        """Return the position in ``feature_names_in_`` of the column that each feature was made from, (k,)."""
        check_is_fitted(self)
        position = {name: index for index, name in enumerate(self.feature_names_in_)}
        return np.array([position[name] for encoder in self.encoders_ for name in encoder.sources()], dtype=np.int64)

    def to_state(self) -> dict[str, Any]:
        """Return the fitted encoders as plain values."""
        check_is_fitted(self)
        return {
            "max_features": self.max_features,
            "sparse_output": self.sparse_output,
            "kinds": self.kinds_,
            "types": self.types_,
            "encoders": [encoder_to_state(encoder) for encoder in self.encoders_],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> "ItemFeatures":
        """Return the fitted transformer that :meth:`to_state` described."""
        kinds = decode(dict[str, str], state["kinds"], "kinds")
        for kind in kinds.values():
            check_choice("kind", kind, ALL_KINDS)
        types = decode(dict[str, str], state["types"], "types")
        if types.keys() != kinds.keys():
            raise ValueError("its types are not those of its columns")
        max_features = check_count("max_features", state["max_features"])
        sparse_output = decode(bool, state.get("sparse_output", False), "sparse_output")
        features = cls(kinds=kinds, max_features=max_features, sparse_output=sparse_output)
        features.kinds_ = dict(kinds)
        features.types_ = {name: check_type(type) for name, type in types.items()}
        features.functions_ = {}
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
    encoded = [
        (name, encoder.kind)
        for encoder in encoders
        for name in encoder.columns
        if not (isinstance(encoder, SentenceVectors) and kinds.get(name) == "text")
    ]
    expected = [(name, "number" if kind in NUMERIC_KINDS else kind) for name, kind in kinds.items() if kind != "ignore"]
    if sorted(encoded) != sorted(expected) or not encoders:
        raise ValueError("its encoders are not those of its columns")


def _sparse_matrix(parts: Sequence[Any]) -> Any:
    """Return the columns of matrices, dense or sparse, as one CSR array."""
    from scipy.sparse import csr_array, hstack

    return csr_array(hstack([csr_array(part) for part in parts], format="csr"))


def _dense_matrix(parts: Sequence[Any]) -> NDArray[np.float32]:
    """Return the columns of matrices, dense or sparse, as one array; a single dense one is not copied."""
    if len(parts) == 1 and not is_sparse(parts[0]):
        only: NDArray[np.float32] = parts[0]
        return only
    return np.concatenate([part.toarray() if is_sparse(part) else part for part in parts], axis=1)


def _as_table(X: Any, ignore: Iterable[str] | None = None) -> ItemTable:
    """Return items with columns as written, and the types of those that are not ignored; no types if it is None."""
    if isinstance(X, ItemTable):
        return X
    source, table = table_columns(X, "items")
    return ItemTable(
        source=source,
        ids=np.arange(table.rows),
        columns=dict(table.columns),
        types={} if ignore is None else table.types(name for name in table.columns if name not in ignore),
    )
