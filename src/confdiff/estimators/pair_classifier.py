"""What classifiers of single items have in common that are learned from pairs."""

import os
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if

from confdiff.calibration import fit_to_differences, log_odds
from confdiff.estimators.inputs import (
    all_and_known,
    check_validation,
    class_names,
    hold_out,
    warn_of_unconnected_groups,
)
from confdiff.estimators.items import ItemClassifier
from confdiff.estimators.state import Restorable
from confdiff.losses import LOSSES
from confdiff.methods import Method, find_method
from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs, StreamedPairs, Supervision
from confdiff.prior import PriorEstimate, estimate_prior, warn_if_open
from confdiff.training import Recipe, check_streamable, epochs_for, predict_scores, train
from confdiff.validation import (
    as_float32,
    as_tensor,
    check_choice,
    check_class_priors,
    check_count,
    check_fraction,
    check_prior,
    no_probabilities,
    prior_missing,
)

_LEARNING_RATES = {"linear": 0.1}  # of networks with a name; a linear model has far to go
_LEARNING_RATE = 3e-3
_FEWEST = 50  # pairs, of which a tenth is held out where the prior is unknown


def has_probabilities(estimator: "PairClassifier") -> bool:
    """Whether the loss of an estimator gives probabilities; scikit-learn asks by catching AttributeError."""
    loss = check_choice("loss", getattr(estimator, "loss_", estimator.loss), LOSSES)
    if LOSSES[loss].probability is None:
        raise AttributeError(str(no_probabilities(loss)))
    return True


class PairClassifier(Restorable, ItemClassifier):
    """Everything but how pairs come in and what they are scored by.

    The parameters are explained in :class:`~confdiff.ConfDiffClassifier`.
    """

    learns_from: ClassVar[tuple[Supervision, ...]]
    """What the methods of this classifier may learn from."""

    default_method: ClassVar[str]
    """The method that is used where none is given."""

    prior_estimate_: PriorEstimate
    default_schedule: ClassVar[str]
    """The schedule of the learning rate that is used where none is given."""

    def __init__(
        self,
        method: str | None = None,
        *,
        prior: float | str | ArrayLike | None = None,
        model: ModelLike = "mlp",
        loss: str = "logistic",
        classes: Any = None,
        epochs: int | None = None,
        batch_size: int = 256,
        learning_rate: float | None = None,
        weight_decay: float = 1e-5,
        optimizer: Any = "adam",
        schedule: str | None = None,
        early_stopping: bool = False,
        calibrated: bool = False,
        validation_fraction: float = 0.1,
        target_prior: float | ArrayLike | None = None,
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
        self.early_stopping = early_stopping
        self.calibrated = calibrated
        self.validation_fraction = validation_fraction
        self.target_prior = target_prior
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False  # of labels; differences may be those of many classes
        return tags

    @abstractmethod
    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        """How well the scores of pairs go with what is known of them: the higher the better."""

    def _fit(
        self,
        pairs: Pairs | StreamedPairs,
        checkpoint: str | os.PathLike[str] | None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
    ) -> None:
        check_choice("loss", self.loss, LOSSES)
        method, recipe = self._method(pairs, labelled), self._recipe(len(pairs))
        everything, data = all_and_known(pairs, recipe.seed)
        classes = class_names(self.classes, data)
        if checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError("a checkpoint can only be resumed with the same seed: set random_state to a number.")
        self._check_uses(method, data)
        given = None if validation is None else check_validation(validation, data)
        warn_of_unconnected_groups(data)
        prior = self._told_prior(method, data, recipe, labelled)
        kept, held_out = (everything, given) if given else self._split(everything, recipe.seed, method, prior)
        n_classes = data.n_classes if data.has_vectors else None
        model = build_model(self.model, data.items.shape[1], n_classes or 1, seed=recipe.seed)
        history = train(
            model,
            kept,
            method,
            prior=prior,
            loss=LOSSES[self.loss].function if n_classes is None else None,
            recipe=recipe,
            checkpoint=checkpoint,
            progress=bool(self.verbose),
            **(self._stopping(held_out, recipe.epochs, n_classes) if self.early_stopping and held_out else {}),
        )
        self.model_, self.history_, self.classes_, self.n_iter_ = model, history, classes, len(history)
        self.n_classes_, self.loss_ = n_classes, self.loss
        self._remember_features(data)
        self._scale(held_out, prior)
        self._remember_prior(method, data, held_out, prior)

    def _method(self, pairs: Pairs | StreamedPairs, labelled: Any) -> Method:
        method = find_method(self.default_method if self.method is None else self.method)
        if method.learns_from not in self.learns_from:
            raise ValueError(f"{type(self).__name__} does not learn from {method.learns_from}, as {method.name} does.")
        if not method.classifies:
            raise ValueError(f"{method.name} only ranks, its scores tell no classes: use confdiff.train with it.")
        if method.needs_prior and self.prior is None and labelled is None:
            raise prior_missing(method.name)
        if labelled is not None and self.prior is not None and not isinstance(self.prior, str):
            raise ValueError("labelled items tell the prior, and one is given already: pass one of the two.")
        if isinstance(pairs, StreamedPairs):
            check_streamable(method)
        return method

    def _check_uses(self, method: Method, data: Pairs) -> None:
        """What only some losses, methods and numbers of classes have."""
        if data.has_vectors and self.loss != "logistic":
            raise ValueError(f"many classes are learned by the logistic loss; got loss={self.loss!r}.")
        if self.calibrated and (data.has_vectors or self.loss != "logistic"):
            raise ValueError(f"calibrated is there for two classes and the logistic loss; got loss={self.loss!r}.")
        if self.calibrated and data.difference is None:
            raise ValueError("calibrated rescales by differences, and these pairs carry none.")
        if self.target_prior is not None:
            self._check_shift(self.loss)
        if self.early_stopping and method.learns_from != "order":
            if data.difference is None:
                raise ValueError("early_stopping goes by differences, and these pairs carry none.")
            if LOSSES[self.loss].probability is None:
                raise no_probabilities(self.loss)

    @staticmethod
    def _check_shift(loss: str) -> None:
        if loss != "logistic":
            raise ValueError(f"target_prior moves the log-odds of the logistic loss; got loss={loss!r}.")

    def _told_prior(self, method: Method, data: Pairs, recipe: Recipe, labelled: Any) -> Any:
        """The prior that training is told: given, or estimated from the differences and labelled items."""
        if hasattr(self, "prior_estimate_"):
            del self.prior_estimate_
        if labelled is None and self.prior is None:
            return None
        if isinstance(self.prior, str) or self.prior is None:
            check_choice("prior", self.prior or "estimate", ["estimate"])
            if data.has_vectors or method.learns_from != "differences":
                raise ValueError("a prior is estimated from differences of two classes; pass the priors themselves.")
            self.prior_estimate_ = estimate_prior(data, labelled=labelled, model=self.model, recipe=recipe)
            return min(max(self.prior_estimate_.value, 0.001), 0.999)
        if data.has_vectors:
            return check_class_priors(self.prior, data.n_classes)
        return check_prior(self.prior)

    def _split(
        self, data: Pairs | StreamedPairs, seed: int, method: Method, prior: Any
    ) -> tuple[Pairs | StreamedPairs, Pairs | None]:
        """Pairs to train on, and those that are kept back: to stop by, to calibrate by, to see what tells the prior."""
        share = check_fraction("validation_fraction", self.validation_fraction)
        asked = self.early_stopping or self.calibrated
        unknown = prior is None and method.prior == "optional"
        if not asked and not (unknown and len(data) >= _FEWEST):
            return data, None
        return hold_out(data, share, seed)

    def _stopping(self, held_out: Pairs, epochs: int, n_classes: int | None) -> dict[str, Any]:
        """Keep the weights that agree best with the held-out pairs; stop when a third of the epochs brought nothing."""
        some, loss = held_out.compact(), self.loss

        def evaluate(model: torch.nn.Module) -> dict[str, float]:
            scores = predict_scores(model, some.items, n_classes=n_classes)
            return {"agreement": self._agreement(scores[some.left], scores[some.right], some, loss)}

        return {"evaluate": evaluate, "keep_best": "agreement", "patience": max(10, epochs // 3)}

    def _scale(self, held_out: Pairs | None, prior: float | None) -> None:
        """Temperature and offset of the scores, fitted to the differences of held-out pairs where that is asked for."""
        self.temperature_, self.offset_ = 1.0, 0.0
        if self.calibrated and held_out is not None and held_out.difference is not None:
            g, g_prime = self._pair_scores(held_out)
            found = fit_to_differences(g, g_prime, held_out.difference, prior=prior, weight=held_out.weight)
            self.temperature_, self.offset_ = found

    def _remember_prior(self, method: Method, data: Pairs, held_out: Pairs | None, prior: Any) -> None:
        """The prior that was told, or that the probabilities of the items come to; a warning where it was left open."""
        self.prior_ = prior
        if LOSSES[self.loss_].probability is None or prior is not None:
            return
        p = np.stack([self._probability(g) for g in self._pair_scores(data)])
        weight = None if data.weight is None else data.weight.numpy()
        implied = np.average(p.mean(axis=0, dtype=np.float64), axis=0, weights=weight)
        self.prior_ = implied if implied.ndim else float(implied)
        if method.learns_from == "differences":
            judged = data if held_out is None else held_out
            said = np.stack([self._probability(g) for g in self._pair_scores(judged)])
            assert judged.difference is not None
            flat = said.reshape(-1, *said.shape[2:])
            sure = None if judged.weight is None else judged.weight.numpy()
            warn_if_open(said[1] - said[0], judged.difference.numpy(), flat, sure)

    def _pair_scores(self, pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
        """The scores of the first and of the second items of pairs."""
        data = self._items_of(pairs)
        scores = self._rescaled(predict_scores(self.model_, data.items, n_classes=self.n_classes_))
        return scores[data.left], scores[data.right]

    def _rescaled(self, scores: torch.Tensor) -> torch.Tensor:
        return scores if (self.temperature_, self.offset_) == (1, 0) else (scores + self.offset_) / self.temperature_

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """The scores g(x): positive class where at least 0. X: (m, d). Returns: (m,), of K classes (m, K)."""
        return self._shifted_scores(X).numpy()

    @available_if(has_probabilities)
    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """The probabilities of the classes, at ``target_prior`` where one is given. X: (m, d). Returns: (m, K)."""
        p = self._probability(self._shifted_scores(X))
        return p if p.ndim == 2 else np.stack([1 - p, p], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each item. X: (m, d). Returns: (m,)."""
        scores = self.decision_function(X)
        return self._names(scores.argmax(axis=1) if scores.ndim == 2 else (scores >= 0).astype(int))

    def _recipe(self, n_pairs: int) -> Recipe:
        seed = self.random_state
        if seed is None or isinstance(seed, np.random.RandomState):
            seed = int(check_random_state(seed).randint(2**31))
        check_count("random_state", seed, least=0)
        rate = _LEARNING_RATES.get(self.model, _LEARNING_RATE) if isinstance(self.model, str) else _LEARNING_RATE
        return Recipe(
            epochs=epochs_for(n_pairs, check_count("batch_size", self.batch_size))
            if self.epochs is None
            else self.epochs,
            batch_size=self.batch_size,
            learning_rate=rate if self.learning_rate is None else self.learning_rate,
            weight_decay=self.weight_decay,
            optimizer=self.optimizer,
            schedule=self.default_schedule if self.schedule is None else self.schedule,
            device=self.device,
            seed=seed,
        )

    def _shifted_scores(self, X: Any) -> torch.Tensor:
        """The scores of items, moved from the prior of training to that of use."""
        features = as_float32("X", self._items(X))
        scores = self._rescaled(predict_scores(self.model_, as_tensor(features), n_classes=self.n_classes_))
        return scores if self.target_prior is None else scores + self._prior_shift()

    def _prior_shift(self) -> torch.Tensor | float:
        self._check_shift(self.loss_)
        if self.n_classes_ is None:
            return log_odds(check_prior(self.target_prior)) - log_odds(self.prior_)
        target = check_class_priors(self.target_prior, self.n_classes_)
        return as_tensor(as_float32("target_prior", np.log(target / self.prior_)))

    def _probability(self, scores: torch.Tensor, loss: str | None = None) -> NDArray[np.float32]:
        if scores.ndim == 2:
            return torch.softmax(scores, dim=1).numpy()
        probability = LOSSES[loss or self.loss_].probability
        assert probability is not None  # the callers are there only if it is
        return probability(scores).numpy()
