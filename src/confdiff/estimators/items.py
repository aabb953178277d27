"""Base classes of all classifiers of single items: checks of their features, predictions, and a score from pairs."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from confdiff.estimators.inputs import as_float_matrix, predict_item_proba, predict_item_scores
from confdiff.estimators.offset import OffsetReported
from confdiff.links import LinkName, find_link, preference_probability
from confdiff.metrics import difference_r2
from confdiff.pairs import Pairs
from confdiff.pairs.forms import as_pairs
from confdiff.pairs.sparse import SparseItems
from confdiff.threads import follow_policy
from confdiff.validation import check_matrix


class ItemClassifier(OffsetReported, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn has no types
    """A classifier that records the features it was fitted on, and requires the same for predictions."""

    classes_: NDArray[Any]

    takes_missing: ClassVar[bool] = False
    """Whether features may be NaN."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.takes_missing
        return tags

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

    def _as_pairs(self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, **columns: Any) -> Pairs:
        """Return pairs from any of the forms that ``fit`` takes, with missing values if the estimator takes them."""
        return as_pairs(pairs, c, items=items, allow_missing=self.takes_missing, **columns)

    def _remember_features(self, data: Pairs) -> None:
        self.n_features_in_ = data.items.shape[1]
        if data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _items(self, X: Any) -> Any:
        """Return single items as an array or a sparse array, after checking that they have the training features."""
        check_is_fitted(self)
        if isinstance(X, Pairs):
            raise ValueError("predictions are for single items; got Pairs. Pass their items, pairs.items.")
        if isinstance(X, SparseItems):
            X = X.to_scipy()
        _check_feature_names(self, X, reset=False)
        items = check_matrix("X", X, allow_missing=self.takes_missing)
        self._check_features(None, items.shape[1])
        return items

    def _items_of(self, pairs: Pairs) -> Pairs:
        """Return pairs over a matrix of floats, after checking that they have the training features."""
        check_is_fitted(self)
        data = as_float_matrix(pairs, allow_missing=self.takes_missing)
        self._check_features(data.feature_names, data.items.shape[1])
        return data

    def _check_features(self, names: tuple[str, ...] | None, count: int) -> None:
        if count != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {count} features, but {expected}.")
        fitted_names = getattr(self, "feature_names_in_", None)
        if names is not None and fitted_names is not None and list(names) != list(fitted_names):
            raise ValueError(f"the items have the columns {list(names)}; the model was fitted on {list(fitted_names)}.")


def has_classes(estimator: Any) -> bool:
    """Return whether scores determine the classes; raise an AttributeError that says why they do not."""
    link = find_link(getattr(estimator, "link_", "probability"))
    if not link.has_classes:
        raise AttributeError(
            f"the judgements are differences of {link.quantity} (link={link.name!r}), so there are no classes. "
            "Use decision_function(X), the scores of items."
        )
    return True


def _has_preferences(estimator: Any) -> bool:
    """Return whether scores determine preferences; raise an AttributeError that says why they do not."""
    link = find_link(getattr(estimator, "link_", "probability"))
    if link.name != "preference":
        raise AttributeError(f"predict_preference(X) needs link='preference'; this estimator has link={link.name!r}.")
    return True


class DifferenceScored(ItemClassifier):
    """An estimator that learns from differences, with a ``score`` that needs no labels: the R² of held-out pairs.

    The link decides what a difference is measured in, and which predictions make sense (:mod:`confdiff.links`).
    """

    link_: LinkName
    """The link of the fitted estimator; without this attribute, it is the probability link."""

    reference_scores_: NDArray[np.float64]
    """Scores that represent those of the training items; links without classes have them."""

    @available_if(has_classes)
    @follow_policy
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each item; only for the probability link.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
            Entries of ``classes_``.
        """
        return super().predict(X)

    @available_if(_has_preferences)
    @follow_policy
    def predict_preference(self, X: Any) -> NDArray[np.float64]:
        """Predict the probability of each item to be preferred to a random training item.

        It is the mean of sigmoid(g(x) - g(x_i)) over the training items. Only the preference link has it.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,)
        """
        return preference_probability(self.decision_function(X), self.reference_scores_)

    @follow_policy
    def predict_difference(self, pairs: Any, *, items: Any = None) -> NDArray[Any]:
        """Predict the differences of pairs, in the units of ``c``.

        Parameters
        ----------
        pairs : array of shape (n, 2, d) or (n, 2), or Pairs
            Pairs in the forms that ``fit`` takes.
        items : array of shape (N, d) or DataFrame, default=None
            The items that row numbers or ids in ``pairs`` refer to.

        Returns
        -------
        array of shape (n,) or (n, K)
        """
        return self._differences(self._as_pairs(pairs, items=items))

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

        It is ``1 - sum((d - c)^2) / sum(c^2)`` with d the predicted differences. For the probability link these are
        ``p' - p``, with p, p' the predicted probabilities.

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
        data = self._as_pairs(pairs, c, items=items, weight=sample_weight)
        check_is_fitted(self)
        if data.difference is None:
            raise ValueError("score needs the differences of the pairs: pass c=...")
        return difference_r2(self._differences(data), data.difference, data.weight)

    def _differences(self, pairs: Pairs) -> NDArray[Any]:
        """Predict the differences of pairs, (n,) or (n, K) for K classes, from the scores of their items."""
        data = self._items_of(pairs)
        left = data.left.numpy()  # NumPy takes a tensor with one entry as a number
        right = data.right.numpy()
        link = find_link(getattr(self, "link_", "probability"))
        if not link.has_classes:
            scores = predict_item_scores(self, data)
            return link.difference(scores[left], scores[right])
        probabilities = predict_item_proba(self, data)
        differences: NDArray[Any] = probabilities[right] - probabilities[left]
        return differences if data.has_vectors else differences[:, 1]


def numbers_of_scores(scores: NDArray[Any]) -> NDArray[Any]:
    """Return the class with the highest of K scores (m, K); for one score (m,), 1 if it is at least 0, else 0.

    >>> numbers_of_scores(np.array([-0.5, 0.0])), numbers_of_scores(np.array([[1.0, 3.0, 2.0]]))
    (array([0, 1]), array([1]))
    """
    return scores.argmax(axis=1) if scores.ndim == 2 else (scores >= 0).astype(int)
