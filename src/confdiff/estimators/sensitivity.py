"""Sensitivity to the assumed class prior: fit an estimator with several priors and compare the results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold

from confdiff.estimators.inputs import predict_item_proba
from confdiff.metrics import accuracy
from confdiff.pairs import Pairs
from confdiff.validation import check_labels, similar_warnings_once


@dataclass(frozen=True)
class AssumedPrior:
    """Results of fitting with an assumed prior.

    Attributes
    ----------
    prior : float
        The assumed prior.
    score : float
        R² of the differences of held-out pairs, mean over the folds.
    mean : float
        The mean probability of the items of held-out pairs; far from the prior if the data contradict it.
    accuracy : float or None
        The accuracy on labelled items, if any were given.
    """

    prior: float
    score: float
    mean: float
    accuracy: float | None


def prior_sensitivity(
    estimator: Any,
    pairs: Pairs,
    priors: Sequence[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    *,
    labelled: tuple[Any, ArrayLike] | None = None,
    cv: int = 3,
) -> list[AssumedPrior]:
    """Fit copies of an estimator of pairs with each of several priors, in cross-validation.

    If the scores hardly differ, the differences do not determine the prior. In that case,
    :func:`confdiff.estimate_prior` estimates the interval of possible priors; this function shows the cost of a wrong
    one.

    Parameters
    ----------
    estimator : estimator
        Any estimator of pairs with a parameter ``prior``; it is cloned.
    pairs : Pairs
        Pairs with differences.
    priors : sequence of float, default=(0.1, ..., 0.9)
        The priors to assume.
    labelled : tuple (X, y), default=None
        Items (m, d) and labels (0/1 or -1/+1) for the accuracy; not used for fitting.
    cv : int, default=3
        The number of folds of the pairs.

    Returns
    -------
    list of AssumedPrior
        One entry per prior.
    """
    with similar_warnings_once():
        return [_assumed(estimator, pairs, prior, labelled, cv) for prior in priors]


def _assumed(estimator: Any, pairs: Pairs, prior: float, labelled: Any, cv: int) -> AssumedPrior:
    results = []
    for training, test in KFold(cv, shuffle=True, random_state=0).split(np.arange(len(pairs))):
        model = clone(estimator).set_params(prior=prior).fit(pairs[training])
        test_pairs = pairs[test].compact()
        mean = float(predict_item_proba(model, test_pairs)[:, 1].mean())
        fold_accuracy = np.nan
        if labelled is not None:
            fold_accuracy = accuracy(model.decision_function(labelled[0]), check_labels(labelled[1], len(labelled[0])))
        results.append((model.score(test_pairs), mean, fold_accuracy))
    score, mean, mean_accuracy = np.mean(results, axis=0).tolist()
    return AssumedPrior(prior=prior, score=score, mean=mean, accuracy=None if labelled is None else mean_accuracy)
