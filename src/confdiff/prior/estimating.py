"""Estimate the class prior of pairs with any learner: train it in folds, and use the scores of held-out pairs."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from confdiff.models import ModelLike, build_model
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import Items, as_items, as_matrix
from confdiff.prior.estimate import DIFFERENCE_KINDS, Evidence, PriorEstimate
from confdiff.prior.label_differences import LabelMoment, check_label_differences, label_moment
from confdiff.prior.out_of_fold import OutOfFold
from confdiff.prior.same_class import SameAnswers, same_moment, separate_answers
from confdiff.prior.shape import offset_at
from confdiff.randomness import derived_seed, generator
from confdiff.standardisation import fit_scaling
from confdiff.threads import follow_policy
from confdiff.training import Recipe, epochs_for, learning_rate_for, predict_scores, train
from confdiff.validation import (
    as_tensor,
    check_choice,
    check_count,
    check_labels,
    check_matrix,
    column_names,
    is_sparse,
    warn_user,
)

_Vector = NDArray[np.float64]

ItemScorer = Callable[[Items], _Vector]
"""Items -> their log-odds."""

PairLearner = Callable[[Pairs, int], ItemScorer]
"""Training pairs, number of the fold -> the scorer that was trained on them without a prior."""

Labelled = tuple[Any, ArrayLike]
"""Items (m, d) and their labels, 0/1 or -1/+1."""


@follow_policy
def estimate_prior(
    pairs: Pairs,
    *,
    labelled: Labelled | None = None,
    model: Any = "mlp",
    recipe: Recipe | None = None,
    folds: int = 3,
    differences: str = "graded",
    positives: str | None = None,
) -> PriorEstimate:
    """Estimate the class prior from the differences of pairs and, optionally, a few labelled items.

    In each of ``folds`` folds, a learner is trained on the other pairs and scores the items of the held-out ones. The
    expected difference of these is a rising function of their scores; its range bounds the prior. The 95 % interval
    holds the priors under which the held-out error is not significantly above the least one. It is valid for any
    learner and for noise of mean 0: a poor learner makes it wider.

    With ``differences="labels"``, E[(y' - y)²] = 2 prior (1 - prior) determines the prior up to its reflection
    1 - prior. This holds only for pairs of independently drawn items. It does not if ties (pairs with equal labels)
    were excluded, or if the two items were chosen to be similar or to have different labels: use ``"graded"`` then.

    Same-class answers of the pairs (``Pairs(..., same=)``) determine the constant that the differences leave open.
    Without any differences, they determine the prior up to its reflection by E[same] = 1 - 2 prior (1 - prior), if the
    items of a pair were drawn independently.

    Parameters
    ----------
    pairs : Pairs
        Pairs with differences of two classes, same-class answers, or both.
    labelled : tuple of (array-like of shape (m, d), array-like of shape (m,)), or None
        Items and their labels, drawn from the same distribution as the items of the pairs.
    model : str, nn.Module, callable or estimator
        A network, as in :func:`confdiff.models.build_model`, or an unfitted estimator of pairs such as
        :class:`~confdiff.ConfDiffBoosting`. The items of a linear network are standardised.
    recipe : Recipe or None
        Training recipe of a network; ``None`` means 20 epochs and at least 500 steps with a one-cycle schedule, and
        the learning rate of the model (:func:`confdiff.training.learning_rate_for`).
    folds : int
        Number of folds, at least 2.
    differences : {"graded", "labels"}
        ``"labels"`` declares that the differences are y' - y for labels y of 0 and 1, so -1, 0 or 1.
    positives : {"rarer", "commoner"} or None
        Whether the positive class is the rarer or the commoner one, if that is known.

    Returns
    -------
    PriorEstimate

    Raises
    ------
    ValueError
        If the pairs are too few, have differences of more than two classes, or are no label differences as declared.

    Warns
    -----
    UserWarning
        If the data do not determine the prior.
    """
    if pairs.same is not None and not (pairs.difference is not None and bool(pairs.carries("differences").any())):
        return _estimate_from_answers(pairs, positives, differences, has_labels=labelled is not None)
    pairs, answers = separate_answers(pairs)
    _check_pairs(pairs, folds)
    labelled_items, labels = check_labelled(labelled, pairs)
    if hasattr(model, "fit"):
        learner = _learner_of_estimator(model)
        seed = recipe.seed if recipe is not None else 0
    else:
        recipe = _recipe_of(model, pairs, folds) if recipe is None else recipe
        seed = recipe.seed
        if model == "linear":
            pairs, labelled_items, answers = _standardised(pairs, labelled_items, answers)
        learner = _learner_of_network(model, recipe)
    moment = declared_moment(pairs, differences)
    estimate = estimate_with(
        learner,
        pairs,
        folds=folds,
        seed=seed,
        moment=moment,
        positives=positives,
        items=labelled_items,
        labels=labels,
        answers=answers,
    )
    if not estimate.is_identified:
        warn_user(estimate.problem)
    return estimate


def _estimate_from_answers(pairs: Pairs, positives: str | None, differences: str, *, has_labels: bool) -> PriorEstimate:
    """Return the prior from same-class answers of pairs of independent items, without differences."""
    if check_choice("differences", differences, DIFFERENCE_KINDS) != "graded":
        raise ValueError(f"differences={differences!r} would not be used: these pairs have same-class answers only.")
    if has_labels:
        raise ValueError("labelled items need pairs with differences; these have same-class answers only.")
    estimate = Evidence(held_out=None, moment=same_moment(pairs), positives=positives).estimate()
    n_answers = int(pairs.carries("same").sum())
    estimate = replace(estimate, source="same-class answers", n_answers=n_answers)
    if not estimate.is_identified:
        warn_user(estimate.problem)
    return estimate


def declared_moment(pairs: Pairs, differences: str) -> LabelMoment | None:
    """Return the moment of pairs whose differences are declared as label differences, after checking them."""
    if check_choice("differences", differences, DIFFERENCE_KINDS) == "graded":
        return None
    check_label_differences(pairs)
    return label_moment(pairs)


def estimate_with(
    learner: PairLearner,
    pairs: Pairs,
    *,
    folds: int = 3,
    seed: int = 0,
    moment: LabelMoment | None = None,
    positives: str | None = None,
    items: Items | None = None,
    labels: NDArray[np.float32] | None = None,
    answers: SameAnswers | None = None,
) -> PriorEstimate:
    """Estimate the prior from the scores that a learner gives held-out pairs; it does not warn.

    The learner is not used if label differences and ``positives`` determine the prior.
    """
    if moment is not None and labels is None and answers is None and moment.suffices(positives):
        return Evidence(held_out=None, moment=moment, positives=positives).estimate()
    parts = [part for part in (items, None if answers is None else answers.items) if part is not None]
    held_out, scores = cross_fit(learner, pairs, folds=folds, seed=seed, items=parts)
    return Evidence(
        held_out=held_out,
        moment=moment,
        positives=positives,
        label_scores=scores[0] if items is not None else None,
        labels=labels,
        answer_scores=scores[-1] if answers is not None else None,
        answers=answers,
    ).estimate()


def cross_fit(
    learner: PairLearner, pairs: Pairs, *, folds: int, seed: int, items: Sequence[Items] = ()
) -> tuple[OutOfFold, list[_Vector]]:
    """Train a learner in folds; return the scores of all pairs by models not trained on them.

    Each model determines scores up to a constant, so all are shifted to a mean probability of 1/2. The scores of other
    sets of items, if any are passed, are the mean over the models.
    """
    order = torch.randperm(len(pairs), generator=generator(seed, "prior")).numpy()
    rows = np.stack([pairs.left.numpy(), pairs.right.numpy()])
    item_weight = np.bincount(rows.reshape(-1), minlength=len(pairs.items)).astype(np.float64)
    scores = np.zeros((2, len(pairs)))
    others = [np.zeros(len(part)) for part in items]
    for fold, held_out in enumerate(np.array_split(order, folds)):
        scorer = learner(pairs[np.setdiff1d(order, held_out)], fold)
        of_items = scorer(pairs.items)
        shift = offset_at(of_items[item_weight > 0], 0.5, item_weight[item_weight > 0])
        scores[:, held_out] = of_items[rows[:, held_out]] + shift
        others = [total + (scorer(part) + shift) / folds for total, part in zip(others, items, strict=True)]
    return OutOfFold.of_pairs(scores, pairs), others


def check_labelled(
    labelled: Labelled | None, pairs: Pairs, *, allow_missing: bool = False
) -> tuple[Items | None, NDArray[np.float32] | None]:
    """Return the labelled items and the labels, after checking that they have the columns of the items of the pairs."""
    if labelled is None:
        return None, None
    names = column_names(labelled[0])
    if names is not None and pairs.feature_names is not None and names != pairs.feature_names:
        raise ValueError(f"labelled items must have the columns {list(pairs.feature_names)}; got {list(names)}.")
    matrix = check_matrix("labelled items", labelled[0], allow_missing=allow_missing)
    items = as_tensor(matrix) if allow_missing and not is_sparse(matrix) else as_items("labelled items", matrix)
    if items.shape[1] != pairs.items.shape[1]:
        raise ValueError(f"labelled items must have {pairs.items.shape[1]} features; got {items.shape[1]}.")
    return items, check_labels(labelled[1], len(items))


def _check_pairs(pairs: Pairs, folds: int) -> None:
    check_count("folds", folds, least=2)
    if pairs.has_vectors:
        raise ValueError("estimate_prior needs differences of two classes; got pairs with vectors of differences.")
    if len(pairs) < 2 * folds:
        raise ValueError(f"estimate_prior with folds={folds} needs at least {2 * folds} pairs; got {len(pairs)}.")


def _recipe_of(model: ModelLike, pairs: Pairs, folds: int) -> Recipe:
    n_training = len(pairs) * (folds - 1) // folds
    return Recipe(epochs=epochs_for(n_training, 256), learning_rate=learning_rate_for(model), schedule="one-cycle")


def _standardised(
    pairs: Pairs, labelled_items: Items | None, answers: SameAnswers | None
) -> tuple[Pairs, Items | None, SameAnswers | None]:
    """Return pairs and other items with standardised columns; a linear model converges only with such columns."""
    scaling = fit_scaling(as_matrix(pairs.items))
    scaled = pairs.with_items(scaling.apply(as_matrix(pairs.items)), pairs.feature_names)
    if labelled_items is not None:
        labelled_items = as_items("labelled items", scaling.apply(as_matrix(labelled_items)))
    if answers is not None:
        answers = replace(answers, items=as_items("items", scaling.apply(as_matrix(answers.items))))
    return scaled, labelled_items, answers


def _learner_of_network(model: ModelLike, recipe: Recipe) -> PairLearner:
    """Return the learner that trains a network by difference regression."""

    def learn(training: Pairs, fold: int) -> ItemScorer:
        network = build_model(model, training.items.shape[1], seed=derived_seed(recipe.seed, "prior", fold))
        train(network, training, "confdiff-regression", recipe=replace(recipe, seed=recipe.seed + fold))
        return lambda items: predict_scores(network, items).double().numpy()

    return learn


def _learner_of_estimator(estimator: Any) -> PairLearner:
    """Return the learner that fits copies of an estimator of pairs, without a prior."""
    from sklearn.base import clone

    def learn(training: Pairs, fold: int) -> ItemScorer:
        copy = clone(estimator)
        if "prior" in copy.get_params(deep=False):
            copy.set_params(prior=None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the estimate says what the differences leave open
            copy.fit(training)
        return lambda items: np.asarray(copy.decision_function(as_matrix(items)), dtype=np.float64)

    return learn
