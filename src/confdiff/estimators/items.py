"""Base classes of all classifiers of single items: checks of their features, predictions, and a score from pairs."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from confdiff.estimators.inputs import as_float_matrix, predict_item_proba
from confdiff.metrics import difference_r2
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.threads import follow_policy
from confdiff.validation import check_items


class ItemClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that records the features it was fitted on, and requires the same for predictions."""

    classes_: NDArray[Any]

    @follow_policy
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each item.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
            Entries of ``classes_``.
        """
        numbers = self._class_numbers(X)
        names: NDArray[Any] = self.classes_[numbers]
        return names

    @abstractmethod
    def _class_numbers(self, X: Any) -> NDArray[Any]:
        """Return the position in ``classes_`` of the class of each item, (m,)."""

    def _remember_features(self, data: Pairs) -> None:
        self.n_features_in_ = data.items.shape[1]
        if data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _items(self, X: Any) -> NDArray[Any]:
        """Return single items as a matrix, after checking that they have the training features."""
        check_is_fitted(self)
        if isinstance(X, Pairs):
            raise ValueError("predictions are for single items; got Pairs. Pass their items, pairs.items.")
        _check_feature_names(self, X, reset=False)
        items = check_items("X", X)
        self._check_features(None, items.shape[1])
        return items

    def _items_of(self, pairs: Pairs) -> Pairs:
        """Return pairs over a matrix of floats, after checking that they have the training features."""
        check_is_fitted(self)
        data = as_float_matrix(pairs)
        self._check_features(data.feature_names, data.items.shape[1])
        return data

    def _check_features(self, names: tuple[str, ...] | None, count: int) -> None:
        if count != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {count} features, but {expected}.")
        fitted_names = getattr(self, "feature_names_in_", None)
        if names is not None and fitted_names is not None and list(names) != list(fitted_names):
            raise ValueError(f"the items have the columns {list(names)}; the model was fitted on {list(fitted_names)}.")


class DifferenceScored(ItemClassifier):
    """A classifier with a ``score`` that needs no labels: the R² of the differences of held-out pairs."""

    @follow_policy
    def score(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Return the R² of the predicted differences: 1 is perfect, 0 is the score of a constant.

        It is ``1 - sum((p' - p - c)^2) / sum(c^2)`` with p, p' the predicted probabilities.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or (n, 2), or Pairs
            Held-out pairs, in the forms that ``fit`` takes.
        c : array of shape (n,) or (n, K), default=None
            Their confidence differences; not needed if ``pairs`` has them.
        items : array of shape (N, d) or DataFrame, default=None
            The items that row numbers or ids in ``pairs`` refer to.
        sample_weight : array of shape (n,), default=None
            Weights of the pairs.

        Returns
        -------
        float
            At most 1.
        """
        data = as_pairs(pairs, c, items=items, weight=sample_weight)
        check_is_fitted(self)
        if data.difference is None:
            raise ValueError("score needs the differences of the pairs: pass c=...")
        return difference_r2(self._differences(data), data.difference, data.weight)

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        """Predict the differences of pairs, (n,) or (n, K) for K classes, from the probabilities of their items."""
        data = self._items_of(pairs)
        probabilities = predict_item_proba(self, data)
        differences: NDArray[Any] = probabilities[data.right] - probabilities[data.left]
        return differences if data.has_vectors else differences[:, 1]


def numbers_of_scores(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the highest of K scores (m, K); for one score (m,), 1 if it is at least 0, else 0.

    >>> numbers_of_scores(np.array([-0.5, 0.0])), numbers_of_scores(np.array([[1.0, 3.0, 2.0]]))
    (array([0, 1]), array([1]))
    """
    return scores.argmax(axis=1) if scores.ndim == 2 else (scores >= 0).astype(int)
