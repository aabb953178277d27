"""Settings of classifiers with networks: choose the method and the recipe, and check their combination."""

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state

from confdiff.estimators.inputs import answers_of, has_answers_only
from confdiff.estimators.items import has_classes
from confdiff.estimators.networks import Architecture
from confdiff.estimators.offset import estimates_prior
from confdiff.links import find_link
from confdiff.losses import LOSSES
from confdiff.methods import Method, find_method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.training import Recipe, check_streamable, epochs_for, learning_rate_for
from confdiff.validation import check_choice, check_count, no_probabilities, prior_missing

if TYPE_CHECKING:
    from confdiff.estimators.pair_classifier import PairClassifier


ANSWERS_ONLY = "sconf-abs"
"""The default method for pairs without differences. Regression of similarities may end in the reflected solution."""


def has_probabilities(estimator: "PairClassifier") -> bool:
    """Return True if link and loss determine probabilities; otherwise raise AttributeError, as scikit-learn expects."""
    has_classes(estimator)
    loss = check_choice("loss", getattr(estimator, "loss_", estimator.loss), LOSSES)
    if LOSSES[loss].probability is None:
        raise AttributeError(str(no_probabilities(loss)))
    return True


def has_differences(estimator: "PairClassifier") -> bool:
    """Return True if differences can be predicted, which all links without classes determine."""
    link = find_link(getattr(estimator, "link_", estimator.link))
    return not link.has_classes or has_probabilities(estimator)


def choose_method(estimator: "PairClassifier", pairs: Pairs | StreamedPairs, labelled: Any) -> Method:
    """Return the method of an estimator, after checking that it has the link and can learn from these pairs."""
    link = find_link(estimator.link)
    method = find_method(_default_method(estimator, pairs) if estimator.method is None else estimator.method)
    if method.learns_from not in estimator.learns_from:
        expected = " or ".join(estimator.learns_from)
        raise ValueError(
            f"{type(estimator).__name__} takes a method that learns from {expected}; "
            f"got method={method.name!r}, which learns from {method.learns_from}."
        )
    if method.link != link.name:
        raise ValueError(
            f"method={method.name!r} is for link={method.link!r}; got link={link.name!r}. Pass one of the two."
        )
    if link.has_classes and not method.classifies:
        raise ValueError(f"method={method.name!r} ranks items but does not classify them; use confdiff.train with it.")
    if labelled is not None and not link.has_classes:
        raise ValueError(f"link={link.name!r} has no classes: labelled items would not be used. Pass none.")
    if method.needs_prior and estimator.prior is None and not estimates_prior(estimator, labelled, answers_of(pairs)):
        raise prior_missing(method.name)
    if labelled is not None and estimator.prior is not None and not isinstance(estimator.prior, str):
        raise ValueError("labelled items determine the prior, and a prior is given: pass one of the two.")
    if isinstance(pairs, StreamedPairs):
        check_streamable(method)
    return method


def _default_method(estimator: "PairClassifier", pairs: Pairs | StreamedPairs) -> str:
    """Return the default method of an estimator for pairs: another one for pairs that have only same-class answers."""
    is_similarity = "same" in estimator.learns_from and find_link(estimator.link).has_classes
    return ANSWERS_ONLY if is_similarity and has_answers_only(pairs) else estimator.default_method


def seed_of(random_state: Any) -> int:
    """Return the seed of an estimator whose ``random_state`` is a number, a generator or None."""
    if random_state is None or isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(2**31))
    return check_count("random_state", random_state, least=0)


def make_architecture(estimator: "PairClassifier", *, standardised: bool) -> Architecture:
    """Return the architecture of the network of an estimator, after checking that its model can have it."""
    architecture = Architecture(
        hidden=None if estimator.hidden is None else tuple(estimator.hidden),
        dropout=estimator.dropout,
        n_networks=estimator.n_networks,
        standardised=standardised,
    )
    architecture.factory(estimator.model)
    return architecture


def make_recipe(estimator: "PairClassifier", n_pairs: int) -> Recipe:
    """Return the training recipe of an estimator, with defaults that depend on the network and the pairs."""
    seed = seed_of(estimator.random_state)
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
    """Check options that only some links, losses, methods and numbers of classes support."""
    loss = estimator.loss
    if not find_link(method.link).has_classes:
        _check_without_classes(estimator, method, data)
        return
    if data.has_vectors and loss != "logistic":
        raise ValueError(f"several classes need loss='logistic'; got loss={loss!r}.")
    if estimator.calibrated and (data.has_vectors or loss != "logistic"):
        raise ValueError(f"calibrated=True needs two classes and the logistic loss; got loss={loss!r}.")
    if estimator.calibrated and not data.has("differences"):
        raise ValueError("calibrated=True needs differences, which these pairs do not have.")
    if estimator.target_prior is not None:
        check_shift(loss)
    if estimator.early_stopping and method.learns_from != "order":
        if not (data.has("differences") or data.has("same")):
            raise ValueError("early_stopping=True needs differences, which these pairs do not have.")
        if LOSSES[loss].probability is None:
            raise no_probabilities(loss)


def _check_without_classes(estimator: "PairClassifier", method: Method, data: Pairs) -> None:
    """Refuse options that need classes."""
    unused = {
        "prior": estimator.prior,
        "target_prior": estimator.target_prior,
        "classes": estimator.classes,
        "calibrated": estimator.calibrated or None,
    }
    for name, value in unused.items():
        if value is not None:
            raise ValueError(f"link={method.link!r} has no classes: {name}={value!r} would not be used. Pass none.")
    if estimator.loss != "logistic":
        raise ValueError(f"link={method.link!r} needs loss='logistic'; got loss={estimator.loss!r}.")
    if data.has_vectors:
        raise ValueError(f"differences of several classes need link='probability'; got link={method.link!r}.")


def check_shift(loss: str) -> None:
    """Check that scores are log-odds, which ``target_prior`` shifts."""
    if loss != "logistic":
        raise ValueError(f"target_prior shifts the log-odds of the logistic loss; got loss={loss!r}.")
