"""Transformers of single items, applied to pairs."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs


class ItemTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Applies a scikit-learn transformer to the items of pairs, so that pairs can go through a ``Pipeline``.

    It is fitted on the items of the training pairs. Pairs, given as an (n, 2, d) array or as
    :class:`~confdiff.Pairs`, come out as :class:`~confdiff.Pairs` over transformed items; single items, (m, d), as a
    matrix. So ``fit`` and ``score`` of the pipeline take pairs, and ``predict`` single items.

    >>> from confdiff import ConfDiffClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, c = np.array([[[1.0, 900.0], [2.0, 100.0]], [[3.0, 500.0], [1.0, 400.0]]]), [0.4, -0.6]
    >>> pipe = make_pipeline(ItemTransformer(StandardScaler()), ConfDiffClassifier(prior=0.5, epochs=1))
    >>> pipe.fit(X, c).predict_proba([[2.0, 300.0]]).shape
    (1, 2)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, pairs: Any, c: ArrayLike | None = None) -> "ItemTransformer":
        """Fit the transformer on the items that stand in the pairs, each once."""
        data = as_pairs(pairs)
        seen = torch.unique(torch.cat([data.left, data.right]))
        self.n_features_in_ = data.items.shape[1]
        self.transformer_ = clone(self.transformer).fit(_frame(data.items[seen].numpy(), data.feature_names))
        return self

    def transform(self, pairs: Any) -> Any:
        """Transform the items of pairs, or single items."""
        check_is_fitted(self)
        if not isinstance(pairs, Pairs) and np.ndim(pairs) == 2:
            return self.transformer_.transform(pairs)
        data = as_pairs(pairs)
        features = self.transformer_.transform(_frame(data.items.numpy(), data.feature_names))
        if issparse(features):
            raise ValueError(
                f"{self.transformer_} gives a sparse matrix; networks take dense ones (sparse_output=False)."
            )
        return data.with_items(features)


def _frame(features: NDArray[Any], names: tuple[str, ...] | None) -> Any:
    """The features as a data frame where they have names, as transformers that select columns need them."""
    if names is None:
        return features
    import pandas as pd

    return pd.DataFrame(features, columns=list(names))
