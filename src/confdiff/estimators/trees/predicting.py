"""Predictions of fitted trees: scores, probabilities, contributions and importances of features."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from confdiff.calibration import log_odds
from confdiff.estimators.items import DifferenceScored, has_classes, numbers_of_scores
from confdiff.estimators.trees.categories import Categories
from confdiff.estimators.trees.model import TreeModel
from confdiff.pairs import Pairs
from confdiff.threads import follow_policy
from confdiff.validation import check_class_priors, check_prior

_Vector = NDArray[np.float64]


class TreePredictor(DifferenceScored):
    """Base class of an estimator of boosted trees with all but its fit and its saving.

    The attributes are documented in :class:`~confdiff.ConfDiffBoosting`.
    """

    takes_missing: ClassVar[bool] = True

    target_prior: float | ArrayLike | None
    model_: TreeModel
    categories_: Categories
    prior_: Any
    start_: _Vector
    temperature_: float
    offset_: float

    @follow_policy
    def decision_function(self, X: Any) -> _Vector:
        """Return the scores g(x) of items.

        For the probability link, a score of at least 0 means the positive class. The scores of the other links have
        mean 0 over the training items.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,) or (m, K)
            One score per item; one per class if there are several classes.
        """
        return self._scores(self._items(X)) + self._prior_shift()

    @available_if(has_classes)
    @follow_policy
    def predict_proba(self, X: Any) -> _Vector:
        """Predict the probabilities of the classes, at ``target_prior`` if it is given; for the probability link.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, K)
            The columns are in the order of ``classes_``.
        """
        p = probability_of(self.decision_function(X))
        return p if p.ndim == 2 else np.stack([1 - p, p], axis=1)

    @follow_policy
    def explain(self, X: Any) -> _Vector:
        """Return the contribution of each feature to the score of each item, exactly (TreeSHAP).

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, d + 1) or (m, K, d + 1)
            The last column is the same for all items. The sum of each row is the score of ``decision_function``.
        """
        contributions = self.model_.contributions(self._items(X)) / self.temperature_
        constant = (self.start_ + self.offset_) / self.temperature_ + self._prior_shift()
        contributions[..., -1] += constant if self.model_.n_scores > 1 else constant[0]
        return contributions

    @property
    def feature_importances_(self) -> _Vector:
        """The gain of all splits on each feature, with sum 1."""
        check_is_fitted(self)
        return self.model_.importances()

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        return numbers_of_scores(self.decision_function(X))

    def _scores(self, items: NDArray[Any]) -> _Vector:
        """Return the calibrated scores of items at the training prior."""
        start = self.start_ if self.model_.n_scores > 1 else self.start_[0]
        return (self.model_.scores(items) + start + self.offset_) / self.temperature_

    def _prior_shift(self) -> float | _Vector:
        """Return the shift of the scores from the training prior to ``target_prior``."""
        if self.target_prior is None or self.link_ != "probability":
            return 0.0
        if self.model_.n_scores == 1:
            return log_odds(check_prior(self.target_prior, "target_prior")) - log_odds(self.prior_)
        shift: _Vector = np.log(check_class_priors(self.target_prior, self.model_.n_scores) / self.prior_)
        return shift

    def _as_pairs(self, pairs: Any, c: ArrayLike | None = None, *, items: Any = None, **columns: Any) -> Pairs:
        return super()._as_pairs(pairs, c, items=self._encoded(items), **columns)

    def _items(self, X: Any) -> Any:
        check_is_fitted(self)
        return super()._items(self._encoded(X))

    def _encoded(self, items: Any) -> Any:
        """Return a data frame with numbers for its categories, and anything else as it is."""
        return self.categories_.encoded(items) if hasattr(self, "categories_") else items


def probability_of(scores: _Vector) -> _Vector:
    """Return the probabilities of scores: of the positive class, or of K classes."""
    p: _Vector = expit(scores) if scores.ndim == 1 else softmax(scores, axis=1)
    return p
