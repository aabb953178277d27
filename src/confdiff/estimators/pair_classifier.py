"""What classifiers of single items have in common that are learned from pairs."""

import os
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_feature_names, check_is_fitted

from confdiff.estimators.inputs import as_float_matrix, warn_of_unconnected_groups
from confdiff.losses import LOSSES
from confdiff.methods import find_method
from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs, Supervision
from confdiff.training import Recipe, predict_scores, train
from confdiff.validation import (
    as_float32,
    as_tensor,
    check_choice,
    check_count,
    check_items,
    check_prior,
    prior_missing,
)


def has_probabilities(estimator: "PairClassifier") -> bool:
    """Whether the loss of an estimator gives probabilities; scikit-learn asks by catching AttributeError."""
    loss = check_choice("loss", getattr(estimator, "loss_", estimator.loss), LOSSES)
    if LOSSES[loss].probability is None:
        raise AttributeError(f"the {loss} loss gives no probabilities; logistic, squared and exponential do.")
    return True


class PairClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Everything but how pairs come in and what they are scored by.

    The parameters are explained in :class:`~confdiff.ConfDiffClassifier`.
    """

    learns_from: ClassVar[tuple[Supervision, ...]]
    """What the methods of this classifier may learn from."""

    default_method: ClassVar[str]
    """The method that is used where none is given."""

    def __init__(
        self,
        method: str | None = None,
        *,
        prior: float | None = None,
        model: ModelLike = "mlp",
        loss: str = "logistic",
        classes: tuple[Any, Any] = (-1, 1),
        epochs: int = 50,
        batch_size: int = 256,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-5,
        optimizer: Any = "adam",
        schedule: str = "constant",
        device: str = "auto",
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.prior = prior
        self.model = model
        self.loss = loss
        self.classes = classes
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.optimizer = optimizer
        self.schedule = schedule
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _fit(self, pairs: Pairs, checkpoint: str | os.PathLike[str] | None) -> None:
        recipe, facts = self._recipe(), LOSSES[check_choice("loss", self.loss, LOSSES)]
        method = find_method(self.default_method if self.method is None else self.method)
        if method.learns_from not in self.learns_from:
            raise ValueError(f"{type(self).__name__} does not learn from {method.learns_from}, as {method.name} does.")
        if method.needs_prior and self.prior is None:
            raise prior_missing(method.name)
        prior = None if self.prior is None else check_prior(self.prior)
        classes = _class_names(self.classes)
        if checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError("a checkpoint can only be resumed with the same seed: set random_state to a number.")
        data = as_float_matrix(pairs)
        warn_of_unconnected_groups(data)
        model = build_model(self.model, data.items.shape[1], seed=recipe.seed)
        self.history_ = train(
            model,
            data,
            method,
            prior=prior,
            loss=facts.function,
            recipe=recipe,
            checkpoint=checkpoint,
            progress=bool(self.verbose),
        )
        self.model_, self.loss_, self.classes_, self.n_iter_ = model, self.loss, classes, recipe.epochs
        self._remember_features(data)

    def _pair_scores(self, pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores of the first and of the second items of pairs."""
        check_is_fitted(self)
        data = as_float_matrix(pairs)
        self._check_features(data.feature_names, data.items.shape[1])
        scores = predict_scores(self.model_, data.items)
        return scores[data.left], scores[data.right]

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """The scores g(x): positive class where at least 0. X: (m, d). Returns: (m,)."""
        return self._scores(X).numpy()

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """The probabilities of the negative and the positive class. X: (m, d). Returns: (m, 2)."""
        positive = self._probability(self._scores(X))
        return np.stack([1 - positive, positive], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item. X: (m, d). Returns: (m,)."""
        positive = self.decision_function(X) >= 0
        return self.classes_[positive.astype(int)]  # type: ignore[no-any-return]

    def _recipe(self) -> Recipe:
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.RandomState):
            seed = int(check_random_state(seed).randint(2**31))
        check_count("random_state", seed, least=0)
        return Recipe(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            optimizer=self.optimizer,
            schedule=self.schedule,
            device=self.device,
            seed=seed,
        )

    def _remember_features(self, data: Pairs) -> None:
        self.n_features_in_ = data.items.shape[1]
        if data.feature_names is not None:
            self.feature_names_in_ = np.asarray(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _scores(self, X: Any) -> torch.Tensor:
        check_is_fitted(self)
        if isinstance(X, Pairs):
            raise ValueError("predictions are for single items, and these are Pairs: pass their items, pairs.items.")
        _check_feature_names(self, X, reset=False)
        features = as_float32("X", check_items("X", X))
        self._check_features(None, features.shape[1])
        return predict_scores(self.model_, as_tensor(features))

    def _check_features(self, names: tuple[str, ...] | None, count: int) -> None:
        if count != self.n_features_in_:
            expected = f"{type(self).__name__} is expecting {self.n_features_in_} features as input"
            raise ValueError(f"X has {count} features, but {expected}.")
        known = getattr(self, "feature_names_in_", None)
        if names is not None and known is not None and list(names) != list(known):
            raise ValueError(f"the items have the columns {list(names)}; the model was fitted on {list(known)}.")

    def _probability(self, scores: torch.Tensor) -> NDArray[np.float32]:
        probability = LOSSES[self.loss_].probability
        assert probability is not None  # the callers are there only if it is
        return probability(scores).numpy()


def _class_names(classes: Any) -> NDArray[Any]:
    """Two names, kept as they are also where they are of different types."""
    names = np.empty(2, dtype=object)
    if len(classes) == 2 and classes[0] != classes[1]:
        names[:] = classes
        return names if type(classes[0]) is not type(classes[1]) else np.asarray(classes)
    raise ValueError(f"classes must be two different names, negative and positive; got {classes!r}.")
