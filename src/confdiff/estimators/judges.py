"""Learn who judged: estimate the model of annotators, and return the differences of an average annotator.

The parameters of annotators are estimated from differences that models predict for answers that they were not fitted
to. These models only have to predict, so they are cheap: a linear model, and trees with few rounds, of the score link.
"""

import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.annotators import (
    AnnotatorEstimates,
    AnnotatorModel,
    ScaleEvidence,
    choose_model,
    determine_scale,
    fit_annotators,
)
from confdiff.estimators.probes import PROBES, Probe, suits
from confdiff.methods import METHODS, Method
from confdiff.pairs import Pairs, StreamedPairs
from confdiff.pairs.sparse import Items, as_matrix
from confdiff.prior import SameAnswers
from confdiff.randomness import derived_seed
from confdiff.validation import check_choice, warn_user

ANNOTATOR_MODELS = ("auto", *get_args(AnnotatorModel))
"""The values of the parameter ``annotator_model``."""

_Vector = NDArray[np.float64]
Labels = tuple[Items | None, NDArray[np.float32] | None]
"""Labelled items and their labels, or None and None."""

_FOLDS = ((3_000, 5), (10_000, 3))  # most answers, folds
_FOLDS_OF_MANY = 2
_MOST_TRAINING = 8_000  # answers that a model of a fold is fitted to
_ROUNDS = 2
_ONE_ROUND = 20_000  # with more answers, one round of updates
_FEWEST = 20  # with fewer answers, all annotators are the same


class AnnotatorsLearned:
    """Add the estimates of annotators to an estimator.

    Attributes
    ----------
    annotators_ : AnnotatorEstimates or None
        Scale, side bias and noise of each annotator; None without annotators, or if they are pooled by request.
    """

    annotator_model: str
    annotators_: AnnotatorEstimates | None = None

    def _learn_annotators(
        self,
        pairs: Pairs,
        *,
        method: Method | None,
        seed: int,
        probes: tuple[str, ...] = ("linear", "trees"),
        labelled: Labels = (None, None),
        answers: SameAnswers | None = None,
    ) -> Pairs:
        """Set ``annotators_``, and return pairs with the differences of an average annotator and their precision.

        Parameters
        ----------
        pairs : Pairs
            Pairs with or without annotators. Without, they are returned unchanged.
        method : Method or None
            The method that learns from the result; None if several do.
        seed : int
            Seed of the folds.
        probes : tuple of str
            The models that predict differences; the one with the least error is used.
        labelled : tuple of items and labels
            Labelled items, which determine the common scale; (None, None) without them.
        answers : SameAnswers or None
            Same-class answers, which also determine it.
        """
        self.annotators_ = None
        model = check_choice("annotator_model", self.annotator_model, ANNOTATOR_MODELS)
        if pairs.annotator is None:
            if model in ("scale", "full"):
                raise ValueError(f"annotator_model={model!r} needs the annotators of the pairs; pass annotators=...")
            return pairs
        if model == "pooled" or not _is_modelled(model, pairs, method):
            return pairs
        judged = _Judged.of(pairs)
        predicted = judged.out_of_fold(pairs, judged.c, None, seed, probes)
        if model == "auto":
            model = judged.choose(predicted.differences, seed)
        estimates = judged.estimate(predicted.differences, model)
        for _ in range(_rounds(len(pairs)) - 1):
            if estimates.model == "pooled":
                break
            target, precision = judged.adjusted(estimates, estimates.slope * predicted.differences)
            predicted = judged.out_of_fold(pairs, target, precision, seed, probes)
            estimates = judged.estimate(predicted.differences, model)
        factor = estimates.slope
        if estimates.model != "pooled":
            estimates = predicted.anchor(estimates, labelled, answers)
            factor = estimates.slope / estimates.mean_scale
        self.annotators_ = estimates.named(_names(pairs))
        _warn_of_reversed(self.annotators_)
        return judged.replaced(pairs, estimates, factor * predicted.differences)

    @property
    def _has_adjusted_answers(self) -> bool:
        """Whether annotators differ, so that the learner was fitted to rescaled answers."""
        return self.annotators_ is not None and self.annotators_.model != "pooled"

    def _adjust_stream(self, pairs: StreamedPairs) -> StreamedPairs:
        """Return streamed pairs whose differences are those of an average annotator, computed as they are read."""
        if not self._has_adjusted_answers:
            return pairs
        estimates = self.annotators_
        assert estimates is not None

        def adjust(part: Pairs) -> Pairs:
            return _Judged.of(part).replaced(part, estimates)

        return pairs.adjusted(adjust, json.dumps(estimates.to_dict()).encode())

    def _adjust_validation(self, validation: Pairs | None, pairs: Pairs) -> Pairs | None:
        """Return validation pairs with the differences of an average annotator, as far as their annotators are known.

        ``pairs`` are the training pairs with their annotators.
        """
        if validation is None or not self._has_adjusted_answers or validation.annotator is None:
            return validation
        names = {name: code for code, name in enumerate(pairs.annotator_names or ())}
        of_validation = validation.annotator_names
        codes = validation.annotator.numpy()
        if of_validation is not None:
            codes = np.array([names.get(name, -1) for name in of_validation], dtype=np.int64)[codes]
        assert self.annotators_ is not None
        return _Judged.of(validation, codes).replaced(validation, self.annotators_)


def annotators_state(estimator: Any) -> dict[str, Any] | None:
    """Return the estimates of annotators of an estimator as JSON values."""
    estimates = getattr(estimator, "annotators_", None)
    return None if estimates is None else estimates.to_dict()


def without_annotators(learned: dict[str, Any]) -> tuple[dict[str, Any], AnnotatorEstimates | None]:
    """Divide saved attributes into the others and the estimates of annotators, which older files do not have."""
    values = learned.get("annotators")
    others = {name: value for name, value in learned.items() if name != "annotators"}
    return others, None if values is None else AnnotatorEstimates.from_dict(values)


def _is_modelled(model: str, pairs: Pairs, method: Method | None) -> bool:
    """Return whether annotators are modelled; raise an error if a model was asked for and they cannot be."""
    problem = _problem(pairs, method)
    if problem and model != "auto":
        raise ValueError(f"annotator_model={model!r} {problem} Pass annotator_model='pooled'.")
    if problem and len(torch.unique(pairs.annotator)) > 1:
        warn_user(f"the annotators are pooled: a model of annotators {problem}")
    return not problem and len(pairs) >= _FEWEST and len(torch.unique(pairs.annotator)) > 1


def _problem(pairs: Pairs, method: Method | None) -> str:
    if pairs.has_vectors:
        return "is for differences of two classes; got several classes."
    if pairs.difference is None:
        return "needs differences; these pairs have none."
    if method is not None and method.precision is None:
        able = ", ".join(name for name, row in METHODS.items() if row.precision is not None)
        return f"rescales differences beyond [-1, 1], which method {method.name!r} cannot take ({able} can)."
    return ""


@dataclass(frozen=True, eq=False)
class _Judged:
    """The answers of pairs as arrays."""

    c: _Vector
    codes: NDArray[np.int64]
    side: _Vector | None
    weight: _Vector | None

    @classmethod
    def of(cls, pairs: Pairs, codes: NDArray[np.int64] | None = None) -> "_Judged":
        assert pairs.difference is not None
        assert pairs.annotator is not None
        return cls(
            c=pairs.difference.double().numpy(),
            codes=pairs.annotator.numpy().astype(np.int64) if codes is None else codes,
            side=None if pairs.side is None else pairs.side.double().numpy(),
            weight=None if pairs.weight is None else pairs.weight.double().numpy(),
        )

    def choose(self, d: _Vector, seed: int) -> str:
        return choose_model(d, self.c, self.codes, side=self.side, weight=self.weight, seed=seed).model

    def estimate(self, d: _Vector, model: str) -> AnnotatorEstimates:
        return fit_annotators(d, self.c, self.codes, side=self.side, weight=self.weight, model=model)

    def adjusted(self, estimates: AnnotatorEstimates, d: _Vector | None = None) -> tuple[_Vector, _Vector]:
        return estimates.adjusted(self.c, self.codes, self.side, d)

    def replaced(self, pairs: Pairs, estimates: AnnotatorEstimates, d: _Vector | None = None) -> Pairs:
        """Return pairs with adjusted differences and their precision; ``d`` are predicted differences."""
        if estimates.model == "pooled":
            return pairs
        target, precision = self.adjusted(estimates, d)
        return pairs.with_precision(torch.from_numpy(target).float(), torch.from_numpy(precision).float())

    def out_of_fold(
        self, pairs: Pairs, target: _Vector, precision: _Vector | None, seed: int, probes: tuple[str, ...]
    ) -> "_Predicted":
        """Return the predicted difference of each answer, of the probe with the least squared error."""
        weight = np.ones(len(target)) if precision is None else precision
        current = pairs.with_precision(
            torch.from_numpy(target).float(), torch.from_numpy(weight).float()
        ).with_precision_in_weights()
        predictions = [_predict_folds(current, PROBES[name], seed) for name in probes if suits(name, pairs)]
        errors = [float(weight @ (prediction.differences - target) ** 2) for prediction in predictions]
        return predictions[int(np.argmin(errors))]


@dataclass(frozen=True, eq=False)
class _Predicted:
    """Differences that were predicted by models that were not fitted to them, and these models."""

    differences: _Vector
    models: tuple[Any, ...]

    def anchor(
        self, estimates: AnnotatorEstimates, labelled: Labels, answers: SameAnswers | None
    ) -> AnnotatorEstimates:
        """Return the estimates on the scale that labelled items and same-class answers determine."""
        if labelled[1] is None and answers is None:
            return estimates
        evidence = [class_evidence(_scorer(model, estimates.slope), labelled, answers) for model in self.models]
        return estimates.anchored(evidence[0].source, *determine_scale(evidence))


def class_evidence(score: Callable[[Items], _Vector], labelled: Labels, answers: SameAnswers | None) -> ScaleEvidence:
    """Return labels and same-class answers with the scores of their items; there may be none of either.

    Parameters
    ----------
    score : callable
        Items -> their scores.
    labelled : tuple of items and labels
        Labelled items, or (None, None).
    answers : SameAnswers or None
        Same-class answers.
    """
    items, labels = labelled
    none = np.zeros(0)
    of_answers = none if answers is None else score(answers.items)
    first, second = of_answers.reshape(2, -1)
    return ScaleEvidence(
        scores=none if items is None else score(items),
        labels=none if labels is None else (labels > 0).astype(np.float64),
        first=first,
        second=second,
        same=none if answers is None else answers.same,
        weight=none if answers is None else answers.weight,
    )


def _scorer(model: Any, slope: float) -> Callable[[Items], _Vector]:
    """Return a function of items: their scores times a slope, whose mean over the training items of the model is 0."""

    def score(items: Items) -> _Vector:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return slope * np.asarray(model.decision_function(as_matrix(items)), dtype=np.float64)

    return score


def _predict_folds(pairs: Pairs, probe: Probe, seed: int) -> _Predicted:
    """Predict the difference of each answer by a model that was not fitted to this answer."""
    rng = np.random.default_rng(derived_seed(seed, "answers of annotators"))
    n_folds = next((folds for most, folds in _FOLDS if len(pairs) <= most), _FOLDS_OF_MANY)
    fold = rng.permutation(len(pairs)) % n_folds
    predicted = np.zeros(len(pairs))
    models = []
    for k in range(n_folds):
        test = np.flatnonzero(fold == k)
        training = np.flatnonzero(fold != k)
        if len(training) > _MOST_TRAINING:
            training = np.sort(rng.choice(training, _MOST_TRAINING, replace=False))
        part = pairs[training].compact()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = probe(part, seed).fit(part)
            predicted[test] = model._differences(pairs[test].compact())
        models.append(model)
    return _Predicted(differences=predicted, models=tuple(models))


def _rounds(n_answers: int) -> int:
    return 1 if n_answers > _ONE_ROUND else _ROUNDS


def _names(pairs: Pairs) -> dict[int, str] | None:
    names = pairs.annotator_names
    return None if names is None else {code: str(name) for code, name in enumerate(names)}


def _warn_of_reversed(estimates: AnnotatorEstimates) -> None:
    labels = [label for label, flag in zip(estimates.labels, estimates.is_reversed, strict=True) if flag]
    if not labels:
        return
    used = "They are used as they are" if estimates.model == "pooled" else "They are not used"
    shown = ", ".join(labels[:5]) + (", ..." if len(labels) > 5 else "")
    warn_user(
        f"the answers of {len(labels)} of {len(estimates)} annotators are opposed to those of the others ({shown}): "
        f"their scale may be reversed. {used}; check the direction of their scale."
    )
