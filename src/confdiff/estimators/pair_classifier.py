"""The base class of classifiers that train a network on pairs and predict for single items."""

import os
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if

from confdiff.calibration import fit_to_differences, log_odds
from confdiff.estimators.inputs import (
    check_validation,
    class_names,
    pairs_and_sample,
    warn_of_unconnected_groups,
)
from confdiff.estimators.items import ItemClassifier, numbers_of_scores
from confdiff.estimators.settings import (
    check_combination,
    check_shift,
    choose_method,
    has_probabilities,
    make_recipe,
)
from confdiff.estimators.state import Restorable
from confdiff.losses import LOSSES
from confdiff.methods import Method
from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs, StreamedPairs, Supervision
from confdiff.pairs.splitting import hold_out_pairs
from confdiff.prior import PriorEstimate, estimate_prior, warn_if_open
from confdiff.threads import follow_policy
from confdiff.training import History, Recipe, predict_scores, train
from confdiff.validation import (
    as_float32,
    as_tensor,
    check_choice,
    check_class_priors,
    check_fraction,
    check_prior,
)

_FEWEST = 50  # with fewer pairs, none are held out to check an unknown prior


class PairClassifier(Restorable, ItemClassifier):
    """Base class with all but the form of the pairs and their score.

    The parameters are documented in :class:`~confdiff.ConfDiffClassifier`.
    """

    learns_from: ClassVar[tuple[Supervision, ...]]
    """The kinds of supervision that the methods of this classifier may learn from."""

    default_method: ClassVar[str]
    """The default of ``method``."""

    default_schedule: ClassVar[str]
    """The default of ``schedule``."""

    prior_estimate_: PriorEstimate

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
        tags.classifier_tags.multi_class = False  # of labels; differences may have several classes
        return tags

    @abstractmethod
    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        """Return the agreement of the scores of pairs with their supervision; higher is better."""

    def _fit(
        self,
        pairs: Pairs | StreamedPairs,
        checkpoint: str | os.PathLike[str] | None,
        labelled: tuple[Any, ArrayLike] | None = None,
        validation: Pairs | None = None,
    ) -> None:
        check_choice("loss", self.loss, LOSSES)
        method = choose_method(self, pairs, labelled)
        recipe = make_recipe(self, len(pairs))
        all_pairs, data = pairs_and_sample(pairs, recipe.seed)
        classes = class_names(self.classes, data)
        if checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError(
                "a checkpoint can only be resumed with the same seed; pass a number, such as random_state=0."
            )
        check_combination(self, method, data)
        held_out = None if validation is None else check_validation(validation, data)
        warn_of_unconnected_groups(data)
        prior = self._training_prior(method, data, recipe, labelled)
        training = all_pairs
        if held_out is None:
            training, held_out = self._split(all_pairs, recipe.seed, method, prior)
        self.model_, self.history_ = self._train(training, held_out, method, prior, recipe, checkpoint)
        self.n_iter_ = len(self.history_)
        self.classes_ = classes
        self.n_classes_ = data.n_classes if data.has_vectors else None
        self.loss_ = self.loss
        self._remember_features(data)
        self._calibrate(held_out, prior)
        self._remember_prior(method, data, held_out, prior)

    def _train(
        self,
        training: Pairs | StreamedPairs,
        held_out: Pairs | None,
        method: Method,
        prior: Any,
        recipe: Recipe,
        checkpoint: str | os.PathLike[str] | None,
    ) -> tuple[torch.nn.Module, History]:
        """Build and train the network; return it and the history."""
        n_classes = training.n_classes if training.has_vectors else None
        model = build_model(self.model, training.items.shape[1], n_classes or 1, seed=recipe.seed)
        stopping = self._stopping(held_out, recipe.epochs, n_classes) if self.early_stopping and held_out else {}
        history = train(
            model,
            training,
            method,
            prior=prior,
            loss=LOSSES[self.loss].function if n_classes is None else None,
            recipe=recipe,
            checkpoint=checkpoint,
            progress=bool(self.verbose),
            **stopping,
        )
        return model, history

    def _training_prior(self, method: Method, data: Pairs, recipe: Recipe, labelled: Any) -> Any:
        """Return the prior for training: the given one, or an estimate from the differences and labelled items."""
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
        """Return training pairs, and held-out pairs if early stopping, calibration or an unknown prior needs them."""
        fraction = check_fraction("validation_fraction", self.validation_fraction)
        prior_unknown = prior is None and method.prior == "optional"
        is_needed = self.early_stopping or self.calibrated
        if not is_needed and not (prior_unknown and len(data) >= _FEWEST):
            return data, None
        training, held_out = hold_out_pairs(data, fraction, seed)
        if _has_weight(training) and _has_weight(held_out):
            return training, held_out
        if is_needed:
            raise ValueError(
                "some pairs are held out, and all pairs of one of the two sets have a weight of 0: give more pairs a "
                "weight above 0, or pass early_stopping=False and calibrated=False."
            )
        return data, None

    def _stopping(self, held_out: Pairs, epochs: int, n_classes: int | None) -> dict[str, Any]:
        """Return arguments of ``train`` for early stopping after a third of the epochs without improvement."""
        pairs = held_out.compact()
        loss = self.loss

        def evaluate(model: torch.nn.Module) -> dict[str, float]:
            scores = predict_scores(model, pairs.items, n_classes=n_classes)
            return {"agreement": self._agreement(scores[pairs.left], scores[pairs.right], pairs, loss)}

        return {"evaluate": evaluate, "keep_best": "agreement", "patience": max(10, epochs // 3)}

    def _calibrate(self, held_out: Pairs | None, prior: float | None) -> None:
        """Fit temperature and offset of the scores to the differences of held-out pairs, if ``calibrated`` is set."""
        self.temperature_ = 1.0
        self.offset_ = 0.0
        if self.calibrated and held_out is not None and held_out.difference is not None:
            g, g_prime = self._pair_scores(held_out)
            self.temperature_, self.offset_ = fit_to_differences(
                g, g_prime, held_out.difference, prior=prior, weight=held_out.weight
            )

    def _remember_prior(self, method: Method, data: Pairs, held_out: Pairs | None, prior: Any) -> None:
        """Set ``prior_`` to the training prior or the mean probability; warn if differences do not determine it."""
        self.prior_ = prior
        if LOSSES[self.loss_].probability is None or prior is not None:
            return
        mean = self._pair_probabilities(data).mean(axis=0, dtype=np.float64)
        implied = np.average(mean, axis=0, weights=_weight_of(data))
        self.prior_ = implied if implied.ndim else float(implied)
        if method.learns_from == "differences":
            test_pairs = data if held_out is None else held_out
            assert test_pairs.difference is not None
            p = self._pair_probabilities(test_pairs)
            item_p = p.reshape(-1, *p.shape[2:])
            warn_if_open(p[1] - p[0], test_pairs.difference.numpy(), item_p, _weight_of(test_pairs))

    def _pair_probabilities(self, pairs: Pairs) -> NDArray[np.float32]:
        """Return the probabilities of the first and of the second items of pairs: (2, n), or (2, n, K)."""
        return np.stack([self._probability(g) for g in self._pair_scores(pairs)])

    def _pair_scores(self, pairs: Pairs) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the scores of the first and of the second items of pairs."""
        data = self._items_of(pairs)
        scores = self._rescaled(predict_scores(self.model_, data.items, n_classes=self.n_classes_))
        return scores[data.left], scores[data.right]

    def _rescaled(self, scores: torch.Tensor) -> torch.Tensor:
        return scores if (self.temperature_, self.offset_) == (1, 0) else (scores + self.offset_) / self.temperature_

    @follow_policy
    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Return the scores g(x) of items; a score of at least 0 means the positive class.

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
        features = as_float32("X", self._items(X))
        scores = self._rescaled(predict_scores(self.model_, as_tensor(features), n_classes=self.n_classes_))
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


def _has_weight(pairs: Pairs | StreamedPairs) -> bool:
    """Return whether a pair counts; a stream has checked that itself."""
    return isinstance(pairs, StreamedPairs) or pairs.weight is None or bool(pairs.weight.any())


def _weight_of(pairs: Pairs) -> NDArray[Any] | None:
    return None if pairs.weight is None else pairs.weight.numpy()
