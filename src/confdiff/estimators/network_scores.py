"""Predictions of a classifier that has a network: scores, and probabilities of classes."""

from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from confdiff.calibration import log_odds
from confdiff.estimators.items import ItemClassifier, numbers_of_scores
from confdiff.estimators.settings import check_shift, has_probabilities
from confdiff.losses import LOSSES
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_items
from confdiff.threads import follow_policy
from confdiff.training import predict_scores
from confdiff.validation import as_float32, as_tensor, check_class_priors, check_prior


class NetworkScored(ItemClassifier):
    """A classifier that scores items by a network.

    The parameters and attributes are documented in :class:`~confdiff.ConfDiffClassifier`.
    """

    model_: torch.nn.Module
    loss_: str
    n_classes_: int | None
    prior_: Any
    temperature_: float
    offset_: float
    target_prior: float | ArrayLike | None

    @follow_policy
    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Return the scores g(x) of items. With the probability link, a score of at least 0 means the positive class.

        With another link, the scores of the training items have mean 0.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m,) or (m, K)
            One score per item; one per class if there are several classes.
        """
        return self._shifted_scores(X).numpy()

    @available_if(has_probabilities)
    @follow_policy
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """Predict the probabilities of the classes, at ``target_prior`` if it is given.

        Parameters
        ----------
        X : array of shape (m, d)
            Single items.

        Returns
        -------
        array of shape (m, K)
            The columns are in the order of ``classes_``.
        """
        p = self._probability(self._shifted_scores(X))
        return p if p.ndim == 2 else np.stack([1 - p, p], axis=1)

    def _class_numbers(self, X: Any) -> NDArray[Any]:
        return numbers_of_scores(self.decision_function(X))

    def _shifted_scores(self, X: Any) -> torch.Tensor:
        """Return the scores of items, shifted from the training prior to ``target_prior``."""
        features = as_items("X", self._items(X))
        scores = self._rescaled(predict_scores(self.model_, features, n_classes=self.n_classes_))
        return scores if self.target_prior is None else scores + self._prior_shift()

    def _prior_shift(self) -> torch.Tensor | float:
        check_shift(self.loss_)
        if self.n_classes_ is None:
            return log_odds(check_prior(self.target_prior, "target_prior")) - log_odds(self.prior_)
        target = check_class_priors(self.target_prior, self.n_classes_)
        return as_tensor(as_float32("target_prior", np.log(target / self.prior_)))

    def _probability(self, scores: torch.Tensor, loss: str | None = None) -> NDArray[np.float32]:
        if scores.ndim == 2:
            return torch.softmax(scores, dim=1).numpy()
        probability = LOSSES[loss or self.loss_].probability
        assert probability is not None  # callers check this
        return probability(scores).numpy()

    def _pair_probabilities(self, pairs: Pairs) -> NDArray[np.float32]:
        """Return the probabilities of the first and of the second items of pairs: (2, n), or (2, n, K)."""
        return np.stack([self._probability(g) for g in self._pair_scores(pairs)])

    def _pair_scores(self, pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the scores of the first and of the second items of pairs."""
        data = self._items_of(pairs)
        if len(data.items) > 2 * len(data):
            data = data.compact()
        scores = self._rescaled(predict_scores(self.model_, data.items, n_classes=self.n_classes_))
        return scores[data.left], scores[data.right]

    def _rescaled(self, scores: torch.Tensor) -> torch.Tensor:
        return scores if (self.temperature_, self.offset_) == (1, 0) else (scores + self.offset_) / self.temperature_
