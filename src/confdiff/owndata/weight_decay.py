"""The penalty on large weights, chosen by folds of the pairs that are trained on."""

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from confdiff.estimators import ConfDiffClassifier, ItemKFold
from confdiff.pairs import Pairs

WEIGHT_DECAYS = (1e-6, 1e-5, 1e-4, 3e-4, 1e-3, 3e-3)
"""What is tried."""
FOLDS = 4

Rows = NDArray[np.int64]


def try_weight_decays(
    classifier: ConfDiffClassifier,
    pairs: Pairs,
    units: NDArray[Any] | None,
    seed: int,
    *,
    labelled: tuple[Any, Any] | None = None,
) -> list[list[float]]:
    """Weight decays, each with the share of the differences of held-out pairs that it explains: the mean over folds.

    units: (n,) what a fold has whole, such as the group of each pair; None for items, of which none leaks.
    labelled: as in ``ConfDiffClassifier.fit``. With ``classifier.verbose`` a bar shows how far it is.
    """
    from rich.console import Console
    from rich.progress import track

    plain = clone(classifier).set_params(early_stopping=False, calibrated=False, verbose=0)
    fits = [(decay, *fold) for decay in WEIGHT_DECAYS for fold in folds_of(pairs, units, seed)]
    shown = track(fits, "weight decay", console=Console(stderr=True), transient=True, disable=not classifier.verbose)
    explained = [
        _explained(clone(plain).set_params(weight_decay=decay), pairs, kept, judged, labelled)
        for decay, kept, judged in shown
    ]
    means = np.reshape(explained, (len(WEIGHT_DECAYS), FOLDS)).mean(axis=1)
    return [[decay, float(mean)] for decay, mean in zip(WEIGHT_DECAYS, means, strict=True)]


def best_weight_decay(tried: list[list[float]]) -> float:
    """The one that explains most.

    >>> best_weight_decay([[1e-5, 0.3], [1e-3, 0.4]])
    0.001
    """
    return max(tried, key=lambda row: row[1])[0]


def folds_of(pairs: Pairs, units: NDArray[Any] | None, seed: int) -> list[tuple[Rows, Rows]]:
    """(pairs to train on, pairs to judge by) of each fold."""
    from sklearn.model_selection import GroupKFold

    if units is None:
        return list(ItemKFold(FOLDS, seed=seed).split(pairs))
    count = len(set(units.tolist()))
    if count < FOLDS:
        raise ValueError(f"weight decay `auto` needs at least {FOLDS} groups or pairs to fold; there are {count}.")
    return list(GroupKFold(FOLDS, shuffle=True, random_state=seed).split(units, groups=units))


def _explained(
    classifier: ConfDiffClassifier, pairs: Pairs, kept: Rows, judged: Rows, labelled: tuple[Any, Any] | None
) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit of all pairs gives them again
        classifier.fit(pairs[kept], validation=pairs[judged], labelled=labelled)
        return float(classifier.score(pairs[judged]))
