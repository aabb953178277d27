"""The penalty on large weights, chosen by folds of the pairs that are trained on."""

import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from confdiff.estimators import ConfDiffClassifier
from confdiff.pairs import Pairs
from confdiff.pairs.splitting import ItemKFold
from confdiff.tabular.model.agreement import Agreement, agreement

WEIGHT_DECAYS = (1e-6, 1e-5, 1e-4, 2e-4, 4e-4, 8e-4, 1.6e-3, 3.2e-3)
"""What is tried."""
FOLDS = 4


class Criterion(NamedTuple):
    """What is to be highest, as a mean over folds: a field of :class:`Agreement`, and in words."""

    measure: str
    words: str


CRITERIA = {
    "auto": Criterion("explained", "the share of the differences of held-out pairs that is explained"),
    "auto-order": Criterion("order", "the share of held-out pairs whose order is right"),
}
"""How a weight decay may be chosen."""

Rows = NDArray[np.int64]


def try_weight_decays(
    classifier: ConfDiffClassifier,
    pairs: Pairs,
    units: NDArray[Any] | None,
    seed: int,
    *,
    by: str = "auto",
    labelled: tuple[Any, Any] | None = None,
) -> list[list[float]]:
    """Weight decays, each with the mean over folds of what is to be highest.

    by: a name from :data:`CRITERIA`. The order is what matters for a ranking; explaining the differences, for
    probabilities, which asks for less decay, since decay makes differences small before it makes them wrong.
    units: (n,) what a fold has whole, such as the group of each pair; None for items, of which none leaks.
    labelled: as in ``ConfDiffClassifier.fit``. With ``classifier.verbose`` a bar shows how far it is.
    """
    from rich.console import Console
    from rich.progress import track

    plain = clone(classifier).set_params(early_stopping=False, calibrated=False, verbose=0)
    fits = [(decay, *fold) for decay in WEIGHT_DECAYS for fold in folds_of(pairs, units, seed)]
    shown = track(fits, "weight decay", console=Console(stderr=True), transient=True, disable=not classifier.verbose)
    found = [
        _agreement(clone(plain).set_params(weight_decay=decay), pairs, kept, judged, labelled)
        for decay, kept, judged in shown
    ]
    values = np.reshape([getattr(each, CRITERIA[by].measure) for each in found], (len(WEIGHT_DECAYS), FOLDS))
    if np.isnan(values).any():
        raise ValueError(f"weight decay `{by}` needs pairs that are no ties, in each of {FOLDS} folds; take `auto`.")
    means = values.mean(axis=1)
    return [[decay, float(mean)] for decay, mean in zip(WEIGHT_DECAYS, means, strict=True)]


def best_weight_decay(tried: list[list[float]]) -> float:
    """The best of them; of equals the smallest.

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


def _agreement(
    classifier: ConfDiffClassifier, pairs: Pairs, kept: Rows, judged: Rows, labelled: tuple[Any, Any] | None
) -> Agreement:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit of all pairs gives them again
        classifier.fit(pairs[kept], validation=pairs[judged], labelled=labelled)
    held_out = pairs[judged].compact()
    p = classifier.predict_proba(held_out.items.numpy())[:, 1]
    (c,) = held_out.targets("differences").numpy()
    weight = None if held_out.weight is None else held_out.weight.numpy()
    return agreement(p[held_out.left], p[held_out.right], c, weight)
