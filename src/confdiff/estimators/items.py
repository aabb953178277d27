"""What all classifiers of single items have in common, however they were learned."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from confdiff.estimators.inputs import as_float_matrix
from confdiff.metrics import difference_r2
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.validation import check_items


class ItemClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """Remembers the columns of the items that it was fitted on, and asks for them again."""

    classes_: NDArray[Any]

    def _names(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The names of classes by their numbers."""
        names: NDArray[Any] = self.classes_[numbers]
        return names

    def _remember_features(self, data: Pairs) -> None:
        self.n_features_in_ = data.items.shape[1]
        if data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _items(self, X: Any) -> NDArray[Any]:
        """Single items to predict for, as a matrix with the columns of training."""
        check_is_fitted(self)
        if isinstance(X, Pairs):
            raise ValueError("predictions are for single items, and these are Pairs: pass their items, pairs.items.")
        _check_feature_names(self, X, reset=False)
        items = check_items("X", X)
        self._check_features(None, items.shape[1])
        return items

    def _items_of(self, pairs: Pairs) -> Pairs:
        """Pairs whose items have the columns of training."""
        check_is_fitted(self)
        data = as_float_matrix(pairs)
        self._check_features(data.feature_names, data.items.shape[1])
        return data

    def _check_features(self, names: tuple[str, ...] | None, count: int) -> None:
        if count != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {count} features, but {expected}.")
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and list(names) != list(known):
            raise ValueError(f"the items have the columns {list(names)}; the model was fitted on {list(known)}.")


class DifferenceScored(ABC):
    """``score`` without labels: how much of the differences of held-out pairs the probabilities explain."""

    def score(
        self,
        pairs: Any,
        c: ArrayLike | None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """How much of the differences of held-out pairs the model explains: 1 is perfect, 0 what a constant gets.

        ``1 - sum((p' - p - c)^2) / sum(c^2)`` with p, p' the predicted probabilities. Takes pairs as ``fit`` does.
        """
        data = as_pairs(pairs, c, items=items, weight=sample_weight)
        check_is_fitted(self)
        if data.difference is None:
            raise ValueError("score needs the differences of the pairs: pass c.")
        return difference_r2(self._differences(data), data.difference, data.weight)

    @abstractmethod
    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        """The predicted differences of pairs: (n,), of K classes (n, K)."""


def differences_of(probabilities: NDArray[Any], pairs: Pairs) -> NDArray[Any]:
    """The differences of pairs by the probabilities (N, K) of their items, in the form that those of the pairs have."""
    differences: NDArray[Any] = probabilities[pairs.right] - probabilities[pairs.left]
    return differences if pairs.has_vectors else differences[:, 1]
