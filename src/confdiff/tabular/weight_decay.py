"""Choose the weight decay by cross-validation on the pairs that are not in the test set."""

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from confdiff.display.progress import reporting_progress
from confdiff.estimators import ConfDiffClassifier
from confdiff.io.decoding import decode_fields
from confdiff.pairs import Pairs
from confdiff.pairs.splitting import ItemKFold
from confdiff.tabular.model.agreement import Agreement, agreement

WEIGHT_DECAYS = (1e-6, 1e-5, 1e-4, 2e-4, 4e-4, 8e-4, 1.6e-3, 3.2e-3)
"""The candidates."""
FOLDS = 4
_Rows = NDArray[np.int64]


class Criterion(NamedTuple):
    """The criterion of a search: a field of :class:`Agreement`, and its description."""

    measure: str
    words: str


CRITERIA = {
    "auto": Criterion("r2", "R² of the differences of held-out pairs"),
    "auto-order": Criterion("pairwise_accuracy", "pairwise accuracy on held-out pairs"),
}
"""The values of ``weight_decay`` that ask for a search, and what each maximises."""


@dataclass(frozen=True)
class WeightDecaySearch:
    """The result of a search for the weight decay.

    Attributes
    ----------
    criterion
        The criterion that was maximised, in words.
    tried
        (weight decay, mean of the criterion over the folds) of each candidate.

    Examples
    --------
    >>> WeightDecaySearch("R²", tried=((1e-5, 0.3), (1e-3, 0.4))).best
    0.001
    """

    criterion: str
    tried: tuple[tuple[float, float], ...]

    @property
    def best(self) -> float:
        """The weight decay with the highest mean; of equals the smallest."""
        return max(self.tried, key=lambda row: row[1])[0]

    def to_json(self) -> dict[str, Any]:
        """Return the search as JSON values."""
        return {"criterion": self.criterion, "tried": [list(row) for row in self.tried]}

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> "WeightDecaySearch":
        """Return the object from the JSON values of :meth:`to_json`."""
        return decode_fields(cls, values)


def search_weight_decay(
    classifier: ConfDiffClassifier,
    pairs: Pairs,
    units: NDArray[Any] | None,
    seed: int,
    *,
    by: str = "auto",
    labelled: tuple[Any, Any] | None = None,
) -> WeightDecaySearch:
    """Try each of :data:`WEIGHT_DECAYS` in each fold.

    For a ranking only the order matters. Probabilities need a high R², which asks for less decay: decay shrinks
    differences before it reverses them.

    Parameters
    ----------
    classifier : ConfDiffClassifier
        Gives all other parameters. With ``verbose`` a progress bar is shown.
    pairs : Pairs
        The pairs of the training and the validation set.
    units : array of shape (n,), optional
        Unit of each pair that a fold contains as a whole, such as its group; None for items.
    seed : int
        Of the folds.
    by : str
        A name from :data:`CRITERIA`.
    labelled : tuple, optional
        As in ``ConfDiffClassifier.fit``.

    Raises
    ------
    ValueError
        There are too few units, or a fold has only ties and ``by`` is ``"auto-order"``.
    """
    plain = clone(classifier).set_params(early_stopping=False, calibrated=False, verbose=0)
    folds = folds_of(pairs, units, seed)
    fits = [(decay, train, test) for decay in WEIGHT_DECAYS for train, test in folds]
    agreements: list[Agreement] = []
    with reporting_progress("weight decay", len(fits), shown=bool(classifier.verbose)) as update:
        for decay, train, test in fits:
            candidate = clone(plain).set_params(weight_decay=decay)
            agreements.append(_agreement(candidate, pairs, train, test, labelled))
            update(len(agreements))
    measured = [getattr(agreement, CRITERIA[by].measure) for agreement in agreements]
    values = np.reshape(measured, (len(WEIGHT_DECAYS), FOLDS))
    if np.isnan(values).any():
        raise ValueError(
            f"weight_decay={by!r} needs pairs without ties in each of {FOLDS} folds; pass weight_decay='auto'."
        )
    means = values.mean(axis=1).tolist()
    return WeightDecaySearch(criterion=CRITERIA[by].words, tried=tuple(zip(WEIGHT_DECAYS, means, strict=True)))


def folds_of(pairs: Pairs, units: NDArray[Any] | None, seed: int) -> list[tuple[_Rows, _Rows]]:
    """Return (rows of training pairs, rows of test pairs) of each fold, so that no item or unit is in both."""
    from sklearn.model_selection import GroupKFold

    if units is None:
        return list(ItemKFold(FOLDS, seed=seed).split(pairs))
    count = len(set(units.tolist()))
    if count < FOLDS:
        raise ValueError(
            f"a search for the weight decay needs at least {FOLDS} groups or pairs to divide into folds; got {count}. "
            "Pass a number, such as weight_decay=1e-4."
        )
    return list(GroupKFold(FOLDS, shuffle=True, random_state=seed).split(units, groups=units))


def _agreement(
    classifier: ConfDiffClassifier, pairs: Pairs, train: _Rows, test: _Rows, labelled: tuple[Any, Any] | None
) -> Agreement:
    """Fit a classifier on the training pairs of a fold and evaluate it on the test pairs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the fit to all pairs repeats them
        classifier.fit(pairs[train], validation=pairs[test], labelled=labelled)
    held_out = pairs[test].compact()
    (c,) = held_out.targets("differences").numpy()
    weight = None if held_out.weight is None else held_out.weight.numpy()
    return agreement(classifier.predict_difference(held_out), c, weight)
