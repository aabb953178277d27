"""How much the assumed class prior matters: an estimator fitted with one prior after another."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.model_selection import KFold

from confdiff.estimators.inputs import probabilities_of
from confdiff.metrics import accuracy
from confdiff.pairs import Pairs
from confdiff.validation import check_labels, similar_warnings_once


@dataclass(frozen=True)
class AssumedPrior:
    """What became of assuming a prior.

    score: how much of the differences of held-out pairs is explained, mean over the folds.
    mean: the mean probability of the items of held-out pairs; far from the prior where the data contradict it.
    accuracy: on labelled items, where some are given.
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
    """Fit copies of an estimator of pairs with each of the priors, in ``cv`` folds of the pairs.

    Where scores hardly differ, the differences do not tell which prior is right. :func:`confdiff.estimate_prior`
    says within which interval; this says what it costs to be wrong.

    labelled: items (m, d) and labels (0/1 or -1/+1), not used for fitting.
    """
    with similar_warnings_once():
        return [_assumed(estimator, pairs, prior, labelled, cv) for prior in priors]


def _assumed(estimator: Any, pairs: Pairs, prior: float, labelled: Any, cv: int) -> AssumedPrior:
    rows = []
    for kept, held_out in KFold(cv, shuffle=True, random_state=0).split(np.arange(len(pairs))):
        model = clone(estimator).set_params(prior=prior).fit(pairs[kept])
        others = pairs[held_out].compact()
        mean = float(probabilities_of(model, others)[:, 1].mean())
        right = np.nan
        if labelled is not None:
            right = accuracy(model.decision_function(labelled[0]), check_labels(labelled[1], len(labelled[0])))
        rows.append((model.score(others), mean, right))
    score, mean, right = np.mean(rows, axis=0).tolist()
    return AssumedPrior(prior, score, mean, None if labelled is None else right)
