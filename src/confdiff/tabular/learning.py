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
from confdiff.links import find_link
from confdiff.methods import find_method
from confdiff.pairs import Pairs
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
    checkpoint : path or None
        A file to write while a network is trained, and to resume from.
    verbose : int
        1 shows progress.
    """
    if options.is_compared and isinstance(sets.train, Pairs):
        return _fit_compared(sets, options, labelled, checkpoint, verbose)
    link, selection = _link_of_network(sets, options, labelled, verbose)
    network = _new_network(options, link, has_validation=sets.validation is not None, verbose=verbose)
    network.fit(sets.train, validation=sets.validation, labelled=labelled, checkpoint=checkpoint)
    return Learned(tested=network, final=network, selection=selection)


def _fit_compared(
    sets: PairSets,
    options: FitOptions,
    labelled: _Labelled,
    checkpoint: str | os.PathLike[str] | None,
    verbose: int,
) -> Learned:
    """Compare candidates on the training set, and fit the chosen one to all pairs, if some were held out."""
    auto = _new_auto(options, COMPARED_MODELS[options.model or "auto"], verbose)
    if sets.every is None:
        auto.fit(sets.train, units=sets.units, labelled=labelled, checkpoint=checkpoint)
        return Learned(tested=auto.estimator_, final=auto.estimator_, selection=auto.selection_)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all pairs repeats them
        auto.fit(sets.train, units=sets.units, labelled=labelled)
    final = fit_candidate(clone(auto.estimator_), over_distinct_items(sets.every), labelled, checkpoint)
    return Learned(tested=auto.estimator_, final=final, selection=auto.selection_)


def _new_auto(options: FitOptions, candidates: Any, verbose: int) -> ConfDiffAuto:
    """Return the comparison of candidates; the features have a common scale already."""
    return ConfDiffAuto(
        options.link,
        candidates=None if candidates is None else list(candidates),
        prior=options.prior,
        differences=options.differences,
        positives=options.positives,
        standardise=False,
        device=options.device,
        random_state=options.seed,
        verbose=verbose,
    )


def _link_of_network(
    sets: PairSets, options: FitOptions, labelled: _Labelled, verbose: int
) -> tuple[str, Selection | None]:
    """Return the link of a network: as declared, as the method or known classes imply it, or chosen by held-out pairs.

    The links are compared by linear models and trees on the training set, or on a sample of a stream.
    """
    if options.link != "auto":
        return options.link, None
    if options.method is not None:
        return find_method(options.method).link, None
    if options.prior is not None or labelled is not None or options.differences == "labels":
        return "probability", None
    pairs = sets.train if isinstance(sets.train, Pairs) else sets.train.sample(_LINK_PAIRS, options.seed)
    auto = _new_auto(options, _LINK_CANDIDATES, verbose)
    auto.fit(pairs, units=sets.units)
    return auto.link_, auto.selection_


def _new_network(options: FitOptions, link: str, *, has_validation: bool, verbose: int) -> ConfDiffClassifier:
    given = {name: value for name, value in options.network_options.items() if name != "method"}
    return ConfDiffClassifier(
        options.method,
        link=link,
        prior=options.prior,
        differences=options.differences,
        positives=options.positives,
        model=options.model or _DEFAULT_MODEL,
        standardise=False,
        early_stopping=has_validation,
        calibrated=has_validation and find_link(link).has_classes,
        device=options.device,
        random_state=options.seed,
        verbose=verbose,
        **given,
    )
