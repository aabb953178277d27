"""A transformer of single items that is applied to the items of pairs."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.pairs.sparse import as_matrix
from confdiff.validation import is_sparse


class ItemTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Apply a scikit-learn transformer to the items of pairs, so that pairs can pass through a ``Pipeline``.

    The transformer is fitted on the items of the training pairs. Pairs, as an (n, 2, d) array or as
    :class:`~confdiff.Pairs`, become :class:`~confdiff.Pairs` with transformed items; single items, (m, d), become a
    matrix. ``fit`` and ``score`` of the pipeline therefore take pairs, and ``predict`` takes single items.

    Parameters
    ----------
    transformer : transformer
        A scikit-learn transformer of single items; it is cloned.

    Attributes
    ----------
    transformer_ : transformer
        The fitted transformer.
    n_features_in_ : int
        The number of features.

    Examples
    --------
    >>> from confdiff import ConfDiffClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X = np.array([[[1.0, 900.0], [2.0, 100.0]], [[3.0, 500.0], [1.0, 400.0]]])
    >>> c = [0.4, -0.6]
    >>> pipe = make_pipeline(ItemTransformer(StandardScaler()), ConfDiffClassifier(prior=0.5, epochs=1))
    >>> pipe.fit(X, c).predict_proba([[2.0, 300.0]]).shape
    (1, 2)
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, pairs: Any, c: ArrayLike | None = None) -> "ItemTransformer":
        """Fit the transformer on the items of the pairs, each once.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or Pairs
            The training pairs.
        c : array, default=None
            Not used; present for scikit-learn.

        Returns
        -------
        ItemTransformer
            The fitted transformer.
        """
        data = as_pairs(pairs)
        rows = torch.unique(torch.cat([data.left, data.right]))
        self.n_features_in_ = data.items.shape[1]
        self.transformer_ = clone(self.transformer).fit(_frame(as_matrix(data.items[rows]), data.feature_names))
        return self

    def transform(self, pairs: Any) -> Any:
        """Transform the items of pairs, or single items.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or (m, d), or Pairs
            Pairs or single items.

        Returns
        -------
        Pairs or array of shape (m, d')
            Pairs with transformed items, or transformed single items.
        """
        check_is_fitted(self)
        if not isinstance(pairs, Pairs) and np.ndim(pairs) == 2:
            return self.transformer_.transform(pairs)
        data = as_pairs(pairs)
        features = self.transformer_.transform(_frame(as_matrix(data.items), data.feature_names))
        return data.with_items(features)


def _frame(features: Any, names: tuple[str, ...] | None) -> Any:
    """Return named dense features as a DataFrame, for transformers that select columns by name."""
    if names is None or is_sparse(features):
        return features
    import pandas as pd

    return pd.DataFrame(features, columns=list(names))
