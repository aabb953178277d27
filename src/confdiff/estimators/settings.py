"""Settings of classifiers with networks: choose the method and the recipe, and check their combination."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from confdiff.losses import LOSSES
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.training import Recipe, check_streamable, epochs_for, learning_rate_for
from confdiff.validation import check_choice, check_count, no_probabilities, prior_missing

if TYPE_CHECKING:
    from confdiff.estimators.pair_classifier import PairClassifier


def has_probabilities(estimator: "PairClassifier") -> bool:
    """Return True if the loss determines probabilities; otherwise raise AttributeError, as scikit-learn expects."""
    loss = check_choice("loss", getattr(estimator, "loss_", estimator.loss), LOSSES)
    if LOSSES[loss].probability is None:
        raise AttributeError(str(no_probabilities(loss)))
    return True


def choose_method(estimator: "PairClassifier", pairs: Pairs | StreamedPairs, labelled: Any) -> Method:
    """Return the method of an estimator, after checking that it can learn a classifier from these pairs."""
    method = find_method(estimator.default_method if estimator.method is None else estimator.method)
    if method.learns_from not in estimator.learns_from:
        expected = " or ".join(estimator.learns_from)
        raise ValueError(
            f"{type(estimator).__name__} takes a method that learns from {expected}; "
            f"got method={method.name!r}, which learns from {method.learns_from}."
        )
    if not method.classifies:
        raise ValueError(f"method={method.name!r} ranks items but does not classify them; use confdiff.train with it.")
    if method.needs_prior and estimator.prior is None and labelled is None:
        raise prior_missing(method.name)
    if labelled is not None and estimator.prior is not None and not isinstance(estimator.prior, str):
        raise ValueError("labelled items determine the prior, and a prior is given: pass one of the two.")
    if isinstance(pairs, StreamedPairs):
        check_streamable(method)
    return method


def make_recipe(estimator: "PairClassifier", n_pairs: int) -> Recipe:
    """Return the training recipe of an estimator, with defaults that depend on the network and the pairs."""
    seed = estimator.random_state
    if seed is None or isinstance(seed, np.random.RandomState):
        seed = int(check_random_state(seed).randint(2**31))
    check_count("random_state", seed, least=0)
    batch_size = estimator.batch_size
    epochs = estimator.epochs
    if epochs is None:
        epochs = epochs_for(n_pairs, check_count("batch_size", batch_size))
    learning_rate = estimator.learning_rate
    if learning_rate is None:
        learning_rate = learning_rate_for(estimator.model)
    return Recipe(
        epochs=epochs,
        batch_size=batch_size,
        learning_rate=learning_rate,
        weight_decay=estimator.weight_decay,
        optimizer=estimator.optimizer,
        schedule=estimator.default_schedule if estimator.schedule is None else estimator.schedule,
        device=estimator.device,
        seed=seed,
    )


def check_combination(estimator: "PairClassifier", method: Method, data: Pairs) -> None:
    """Check options that only some losses, methods and numbers of classes support."""
    loss = estimator.loss
    if data.has_vectors and loss != "logistic":
        raise ValueError(f"several classes need loss='logistic'; got loss={loss!r}.")
    if estimator.calibrated and (data.has_vectors or loss != "logistic"):
        raise ValueError(f"calibrated=True needs two classes and the logistic loss; got loss={loss!r}.")
    if estimator.calibrated and data.difference is None:
        raise ValueError("calibrated=True needs differences, which these pairs do not have.")
    if estimator.target_prior is not None:
        check_shift(loss)
    if estimator.early_stopping and method.learns_from != "order":
        if data.difference is None:
            raise ValueError("early_stopping=True needs differences, which these pairs do not have.")
        if LOSSES[loss].probability is None:
            raise no_probabilities(loss)


def check_shift(loss: str) -> None:
    """Check that scores are log-odds, which ``target_prior`` shifts."""
    if loss != "logistic":
        raise ValueError(f"target_prior shifts the log-odds of the logistic loss; got loss={loss!r}.")
