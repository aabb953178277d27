"""The base class of classifiers that train a network on pairs and predict for single items."""

import os
from abc import abstractmethod
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.special import logit

from confdiff.calibration import fit_to_differences
from confdiff.estimators.inputs import (
    answers_of,
    check_validation,
    class_names,
    graded_or,
    has_answers_only,
    pairs_and_sample,
    warn_of_unconnected_groups,
)
from confdiff.estimators.judges import AnnotatorsLearned
from confdiff.estimators.network_scores import NetworkScored
from confdiff.estimators.networks import Architecture, NetworkTraining, scaling_of, takes_standardised
from confdiff.estimators.offset import (
    check_answers_are_used,
    check_offset_options,
    check_side_is_known,
    estimates_prior,
)
from confdiff.estimators.settings import (
    check_combination,
    choose_method,
    make_architecture,
    make_recipe,
)
from confdiff.estimators.state import Restorable
from confdiff.links import LinkName, find_link, reference_scores
from confdiff.losses import LOSSES
from confdiff.methods import Method
from confdiff.models import ModelLike
from confdiff.pairs import Pairs, StreamedPairs, Supervision
from confdiff.pairs.pairs import missing_supervision
from confdiff.pairs.splitting import hold_out_pairs
from confdiff.prior import (
    Evidence,
    OutOfFold,
    PriorEstimate,
    SameAnswers,
    check_labelled,
    declared_moment,
    joined_answers,
    separate_answers,
)
from confdiff.training import History, Recipe, check_workers, predict_scores
from confdiff.validation import (
    check_choice,
    check_class_priors,
    check_fraction,
    check_prior,
)

_FEWEST = 50  # with fewer pairs, none are held out to check an unknown prior


class PairClassifier(AnnotatorsLearned, Restorable, NetworkScored):
    """Base class with all but the form of the pairs and their score.

    The parameters are documented in :class:`~confdiff.ConfDiffClassifier`.
    """

    learns_from: ClassVar[tuple[Supervision, ...]]
    """The kinds of supervision that the methods of this classifier may learn from."""

    default_methods: ClassVar[dict[str, str]]
    """Link -> the default of ``method``."""

    default_schedule: ClassVar[str]
    """The default of ``schedule``."""

    prior_estimate_: PriorEstimate
    link_: LinkName
    architecture_: Architecture
    reference_scores_: NDArray[np.float64]

    def __init__(
        self,
        method: str | None = None,
        *,
        link: str = "probability",
        prior: float | str | ArrayLike | None = None,
        differences: str = "graded",
        positives: str | None = None,
        model: ModelLike = "mlp",
        hidden: tuple[int, ...] | None = None,
        dropout: float = 0.0,
        n_networks: int = 1,
        standardise: bool = True,
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
        annotator_model: str = "auto",
        target_prior: float | ArrayLike | None = None,
        device: str = "auto",
        workers: int = 1,
        engine: str = "local",
        address: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.link = link
        self.prior = prior
        self.differences = differences
        self.positives = positives
        self.model = model
        self.hidden = hidden
        self.dropout = dropout
        self.n_networks = n_networks
        self.standardise = standardise
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
        self.annotator_model = annotator_model
        self.target_prior = target_prior
        self.device = device
        self.workers = workers
        self.engine = engine
        self.address = address
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False  # of labels; differences may have several classes
        return tags

    @property
    def default_method(self) -> str:
        """The default of ``method``, which depends on the link; a link that no method has is refused in ``fit``."""
        return self.default_methods.get(self.link, next(iter(self.default_methods.values())))

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
        check_workers(self.workers, self.engine, self.address)
        method = choose_method(self, pairs, labelled)
        answers = answers_of(pairs)
        check_answers_are_used(self, answers)
        if method.learns_from.startswith("differences") and not pairs.has("differences"):
            raise missing_supervision("differences")
        every = pairs
        pairs = pairs.carrying(method.learns_from)
        if isinstance(pairs, Pairs) and has_answers_only(pairs):
            pairs = pairs.without_differences()
        recipe = make_recipe(self, len(pairs))
        all_pairs, data = pairs_and_sample(pairs, recipe.seed)
        if isinstance(pairs, StreamedPairs) and has_answers_only(data):
            data = data.without_differences()
        if checkpoint is not None and not isinstance(self.random_state, Integral):
            raise ValueError(
                "a checkpoint can only be resumed with the same seed; pass a number, such as random_state=0."
            )
        check_combination(self, method, data)
        classes = class_names(self.classes, data)
        held_out = None if validation is None else check_validation(validation, data)
        warn_of_unconnected_groups(data)
        judged = data
        evidence = check_labelled(labelled, data)
        data = self._learn_annotators(judged, method=method, seed=recipe.seed, labelled=evidence, answers=answers)
        all_pairs = self._adjust_stream(all_pairs) if isinstance(all_pairs, StreamedPairs) else data
        held_out = self._adjust_validation(held_out, judged)
        plan = self._training_plan(pairs, data, recipe, checkpoint)
        self._forget_offset()
        judged = graded_or(data, every, recipe.seed) if method.learns_from == "same" else data
        prior = self._training_prior(method, judged, plan, labelled, answers)
        training = all_pairs
        if held_out is None:
            training, held_out = self._split(all_pairs, recipe.seed, method, prior)
        self.model_, self.history_ = self._train(training, held_out, method, prior, plan)
        self.n_iter_ = int(max(record["epoch"] for record in self.history_))
        self.n_classes_ = data.n_classes if data.has_vectors else None
        self.loss_ = self.loss
        self.link_ = method.link
        self.architecture_ = plan.architecture
        self._remember_features(data)
        self._calibrate(held_out, prior)
        for name in ("classes_", "prior_", "reference_scores_"):  # of an earlier fit with another link
            self.__dict__.pop(name, None)
        if find_link(self.link_).has_classes:
            self.classes_ = classes
            self._remember_prior(method, data, held_out, prior)
        else:
            self._centre(data)

    def _training_plan(
        self, pairs: Pairs | StreamedPairs, data: Pairs, recipe: Recipe, checkpoint: str | os.PathLike[str] | None
    ) -> NetworkTraining:
        """Return the network to be trained, with the scaling of its features."""
        standardised = bool(self.standardise) and takes_standardised(self.model, pairs)
        return NetworkTraining(
            architecture=make_architecture(self, standardised=standardised),
            model=self.model,
            n_scores=data.n_classes if data.has_vectors else 1,
            scaling=scaling_of(data) if standardised else None,
            recipe=recipe,
            checkpoint=checkpoint,
            verbose=bool(self.verbose),
        )

    def _train(
        self,
        training: Pairs | StreamedPairs,
        held_out: Pairs | None,
        method: Method,
        prior: Any,
        plan: NetworkTraining,
    ) -> tuple[torch.nn.Module, History]:
        """Train the network; return it and the history."""
        n_classes = training.n_classes if training.has_vectors else None
        options: dict[str, Any] = {
            "prior": prior,
            "loss": LOSSES[self.loss].function if n_classes is None else None,
            "workers": self.workers,
            "engine": self.engine,
            "address": self.address,
        }
        if self.early_stopping and held_out is not None:
            options |= self._stopping(held_out, plan.recipe.epochs, n_classes)
        return plan.run(training, method, options)

    def _training_prior(
        self, method: Method, data: Pairs, plan: NetworkTraining, labelled: Any, answers: SameAnswers | None
    ) -> Any:
        """Return the prior for training: the given one, or an estimate from differences, labelled items and answers."""
        check_offset_options(self, has_classes=find_link(method.link).has_classes, has_vectors=data.has_vectors)
        learns_answers = method.learns_from == "differences and same" and not method.needs_prior
        if estimates_prior(self, labelled, None if learns_answers else answers):
            check_choice("prior", self.prior or "estimate", ["estimate"])
            if data.has_vectors or method.learns_from not in ("differences", "differences and same", "same"):
                raise ValueError("a prior is estimated from differences of two classes; pass the priors themselves.")
            has_differences = data.has("differences")
            judged = joined_answers(separate_answers(data)[0], answers) if has_differences else data
            estimate = plan.estimate_prior(judged, labelled, differences=self.differences, positives=self.positives)
            if not has_differences:
                check_side_is_known(estimate, self.positives)
            self._report_estimate(estimate)
            return min(max(estimate.value, 0.001), 0.999)
        declared_moment(data, self.differences)
        if self.prior is None:
            return None
        self.prior_source_ = "given"
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
            return training, held_out.with_precision_in_weights()
        if is_needed:
            raise ValueError(
                "some pairs are held out, and all pairs of one of the two sets have a weight of 0: give more pairs a "
                "weight above 0, or pass early_stopping=False and calibrated=False."
            )
        return data, None

    def _stopping(self, held_out: Pairs, epochs: int, n_classes: int | None) -> dict[str, Any]:
        """Return arguments of ``train`` for early stopping after a third of the epochs without improvement."""
        pairs = held_out.carrying("differences" if held_out.difference is not None else "same").compact()
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
            held_out = held_out.carrying("differences")
            assert held_out.difference is not None
            g, g_prime = self._pair_scores(held_out)
            self.temperature_, self.offset_ = fit_to_differences(
                g, g_prime, held_out.difference, prior=prior, weight=held_out.weight
            )

    def _centre(self, data: Pairs) -> None:
        """Set the offset so that the scores of the training items have mean 0; links without classes leave it open."""
        scores = predict_scores(self.model_, data.compact().items).double().numpy()
        self.offset_ = -float(scores.mean())
        self.reference_scores_ = reference_scores(scores + self.offset_)

    def _remember_prior(self, method: Method, data: Pairs, held_out: Pairs | None, prior: Any) -> None:
        """Set ``prior_`` to the training prior or the mean probability; warn if differences do not determine it."""
        self.prior_ = prior
        if LOSSES[self.loss_].probability is None or prior is not None:
            return
        if method.learns_from == "differences":
            self._report_held_out(data, data.with_precision_in_weights() if held_out is None else held_out)
        elif method.learns_from == "differences and same":
            self._report_answers(data)
        mean = self._pair_probabilities(data).mean(axis=0, dtype=np.float64)
        implied = np.average(mean, axis=0, weights=_weight_of(data))
        self.prior_ = implied if implied.ndim else float(implied)

    def _report_answers(self, data: Pairs) -> None:
        """Report the priors that the differences and the same-class answers of pairs leave open."""
        graded, answers = separate_answers(data)
        if answers is None:
            return
        evidence = Evidence(
            held_out=OutOfFold.of_pairs(_log_odds(self._pair_probabilities(graded)), graded),
            positives=self.positives,
            answer_scores=_log_odds(self._pair_probabilities(data.carrying("same"))).reshape(-1),
            answers=answers,
        )
        self._report_estimate(evidence.estimate())

    def _report_held_out(self, data: Pairs, held_out: Pairs) -> None:
        """Report the priors that held-out pairs leave open; move the offset if they exclude or improve it."""
        assert held_out.difference is not None
        p = self._pair_probabilities(held_out).astype(np.float64)
        if p.ndim == 3:
            differences = held_out.difference.numpy()
            self._report_open_classes(p[1] - p[0], differences, p.reshape(-1, p.shape[2]), _weight_of(held_out))
            return
        test_scores = OutOfFold.of_pairs(_log_odds(p), held_out)
        sample = OutOfFold.of_pairs(_log_odds(self._pair_probabilities(data)), data)
        interval = self._report_offset(test_scores, sample)
        if self.loss_ == "logistic":
            scale, shift = self._needed_rescaling(test_scores, interval)
            self.temperature_ /= scale
            self.offset_ += shift * self.temperature_


def _log_odds(p: NDArray[Any]) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = logit(p.astype(np.float64).clip(1e-9, 1 - 1e-9))
    return scores


def _has_weight(pairs: Pairs | StreamedPairs) -> bool:
    """Return whether a pair counts; a stream has checked that itself."""
    return isinstance(pairs, StreamedPairs) or pairs.weight is None or bool(pairs.weight.any())


def _weight_of(pairs: Pairs) -> NDArray[Any] | None:
    return None if pairs.weight is None else pairs.weight.numpy()
