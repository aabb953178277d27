"""Fit the estimator that the options of a fit describe: compared candidates, or one network."""

import os
import warnings
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from confdiff.estimators import ConfDiffAuto, ConfDiffClassifier
from confdiff.estimators.candidates import fit_candidate
from confdiff.estimators.folds import over_distinct_items
from confdiff.estimators.items import DifferenceScored
from confdiff.estimators.selection import Selection
from confdiff.estimators.settings import ANSWERS_ONLY
from confdiff.links import find_link
from confdiff.methods import find_method
from confdiff.pairs import Pairs
from confdiff.prior import SameAnswers, joined_answers
from confdiff.tabular.fit_options import COMPARED_MODELS, FitOptions
from confdiff.tabular.training_data import PairSets

_LINK_CANDIDATES = ["linear", "boosting"]
"""The candidates by which the link of a network is chosen: their fits take seconds."""
_LINK_PAIRS = 5_000
"""The number of pairs of a stream that the links are compared on."""
_DEFAULT_MODEL = "mlp"
_Labelled = tuple[Any, Any] | None


@dataclass(frozen=True)
class Learned:
    """The estimators of a fit.

    Attributes
    ----------
    tested
        Fitted to the training set, to be measured on the test set.
    final
        To be saved: the same one, or a chosen candidate that is fitted to all pairs.
    selection
        The comparison that chose the candidate, or the link of a network; None without a comparison.
    """

    tested: DifferenceScored
    final: DifferenceScored
    selection: Selection | None


def fit_estimator(
    sets: PairSets,
    options: FitOptions,
    *,
    labelled: _Labelled,
    answers: SameAnswers | None = None,
    checkpoint: str | os.PathLike[str] | None,
    verbose: int,
) -> Learned:
    """Fit the estimator of a fit to the training set, and a chosen candidate to all pairs as well.

    Parameters
    ----------
    sets : PairSets
        The pairs. Candidates are compared on folds of the training set; a network uses the validation set for early
        stopping and calibration.
    options : FitOptions
        The options.
    labelled : tuple (X, y) or None
        A few encoded items and their labels.
    answers : SameAnswers or None
        Answers whether two encoded items are of the same class.
    checkpoint : path or None
        A file to write while a network is trained, and to resume from.
    verbose : int
        1 shows progress.
    """
    has_differences = sets.train.has("differences")
    if options.is_compared and isinstance(sets.train, Pairs) and has_differences:
        return _fit_compared(sets, options, labelled, answers, checkpoint, verbose)
    if options.model == "boosting" and not has_differences:
        raise ValueError(
            "model='boosting' learns from differences, and these pairs have same-class answers only. Pass model='mlp' "
            "or model='linear', or omit it."
        )
    has_classes = labelled is not None or answers is not None or not has_differences
    link, selection = _link_of_network(sets, options, has_classes, verbose)
    network = _new_network(
        options,
        link,
        has_validation=sets.validation is not None,
        has_differences=has_differences,
        verbose=verbose,
    )
    training = joined_answers(sets.train, answers) if isinstance(sets.train, Pairs) else sets.train
    network.fit(training, validation=sets.validation, labelled=labelled, checkpoint=checkpoint)
    return Learned(tested=network, final=network, selection=selection)


def _fit_compared(
    sets: PairSets,
    options: FitOptions,
    labelled: _Labelled,
    answers: SameAnswers | None,
    checkpoint: str | os.PathLike[str] | None,
    verbose: int,
) -> Learned:
    """Compare candidates on the training set, and fit the chosen one to all pairs, if some were held out."""
    auto = _new_auto(options, COMPARED_MODELS[options.model or "auto"], verbose)
    assert isinstance(sets.train, Pairs)
    training = joined_answers(sets.train, answers)
    if sets.every is None:
        auto.fit(training, units=sets.units, labelled=labelled, checkpoint=checkpoint)
        return Learned(tested=auto.estimator_, final=auto.estimator_, selection=auto.selection_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all pairs repeats them
        auto.fit(training, units=sets.units, labelled=labelled)
    every = joined_answers(over_distinct_items(sets.every), answers)
    final = clone(auto.estimator_).set_params(annotator_model=options.annotator_model)
    final = fit_candidate(final, every, labelled, checkpoint)
    return Learned(tested=auto.estimator_, final=final, selection=auto.selection_)


def _new_auto(options: FitOptions, candidates: Any, verbose: int) -> ConfDiffAuto:
    """Return the comparison of candidates; the features have a common scale already."""
    return ConfDiffAuto(
        options.link,
        candidates=None if candidates is None else list(candidates),
        prior=options.prior,
        differences=options.differences,
        positives=options.positives,
        annotator_model=options.annotator_model,
        standardise=False,
        device=options.device,
        random_state=options.seed,
        verbose=verbose,
    )


def _link_of_network(
    sets: PairSets, options: FitOptions, has_classes: bool, verbose: int
) -> tuple[str, Selection | None]:
    """Return the link of a network: as declared, as the method or known classes imply it, or chosen by held-out pairs.

    The links are compared by linear models and trees on the training set, or on a sample of a stream.
    """
    if options.link != "auto":
        return options.link, None
    if options.method is not None:
        return find_method(options.method).link, None
    if options.prior is not None or has_classes or options.differences == "labels":
        return "probability", None
    pairs = sets.train if isinstance(sets.train, Pairs) else sets.train.sample(_LINK_PAIRS, options.seed)
    auto = _new_auto(options, _LINK_CANDIDATES, verbose)
    auto.fit(pairs, units=sets.units)
    return auto.link_, auto.selection_


def _new_network(
    options: FitOptions, link: str, *, has_validation: bool, has_differences: bool, verbose: int
) -> ConfDiffClassifier:
    given = {name: value for name, value in options.network_options.items() if name != "method"}
    has_classes = find_link(link).has_classes
    method = options.method or (ANSWERS_ONLY if has_classes and not has_differences else None)
    is_graded = method is None or find_method(method).learns_from != "same"
    return ConfDiffClassifier(
        method,
        link=link,
        prior=options.prior,
        differences=options.differences,
        positives=options.positives,
        model=_DEFAULT_MODEL if options.model in (None, "auto") else options.model,
        annotator_model=options.annotator_model,
        standardise=False,
        early_stopping=has_validation,
        calibrated=has_validation and is_graded and has_classes,
        device=options.device,
        random_state=options.seed,
        verbose=verbose,
        **given,
    )
