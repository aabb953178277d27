"""The folds in which candidates are compared: which pairs they are fitted on, and which they are tested on."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from confdiff.estimators.inputs import distinct_items
from confdiff.estimators.selection import Clustering, HeldOutPairs, variance_by_items, variance_by_units
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_matrix
from confdiff.pairs.splitting import FoldUnits, fold_units, item_disjoint_folds
from confdiff.randomness import derived_seed
from confdiff.validation import as_array, check_count

_Rows = NDArray[np.int64]
Fold = tuple[_Rows, _Rows]
"""The rows of the training pairs and of the test pairs."""

MOST_COMPARED = 5_000
"""With more pairs, the candidates are compared on a random sample of this size."""
FEWEST_COMPARED = 10
"""With fewer pairs, or pairs of a single unit, nothing is compared."""
_FOLDS = 5
_USED_FOLDS = ((1_000, 5, 3), (2_000, 3, 2), (MOST_COMPARED, 2, 1))  # most pairs, used folds, those of costly ones


@dataclass(frozen=True, eq=False)
class FoldPlan:
    """The folds in which candidates are compared.

    Attributes
    ----------
    pairs
        The pairs that the rows of the folds refer to.
    folds
        The folds.
    costly_folds
        The number of folds for candidates whose fits take long.
    held_out
        What the folds hold out, for the table.
    units
        The unit of each pair, or None for items.
    """

    pairs: Pairs
    folds: tuple[Fold, ...]
    costly_folds: int
    held_out: str
    units: NDArray[Any] | None = None

    def held_out_pairs(self, count: int) -> HeldOutPairs:
        """Return the judgements of the test pairs of the first ``count`` folds."""
        rows = np.concatenate([test for _, test in self.folds[:count]])
        assert self.pairs.difference is not None
        weight = self.pairs.with_precision_in_weights().weight
        return HeldOutPairs(
            differences=self.pairs.difference.double().numpy()[rows],
            weight=np.ones(len(rows)) if weight is None else weight.double().numpy()[rows],
            clustering=self._clustering(rows),
        )

    def _clustering(self, rows: _Rows) -> Clustering:
        if self.units is not None:
            return variance_by_units(self.units[rows])
        return variance_by_items(self.pairs.left.numpy()[rows], self.pairs.right.numpy()[rows])


def over_distinct_items(pairs: Pairs) -> Pairs:
    """Return the same pairs over their distinct items: a copy of a held-out item must not be trained on."""
    items, left, right = distinct_items(pairs)
    distinct = Pairs(
        items,
        left,
        right,
        weight=pairs.weight,
        group=pairs.group,
        annotator=pairs.annotators,
        side=pairs.side,
        feature_names=pairs.feature_names,
    )
    assert pairs.difference is not None
    if pairs.precision is not None:
        return distinct.with_precision(pairs.difference, pairs.precision)
    return distinct.with_difference(pairs.difference)  # noise may have moved some of them beyond [-1, 1]


def join_pairs(first: Pairs, second: Pairs) -> Pairs:
    """Return all pairs of two sets over the same features, those of the first set first.

    Parameters
    ----------
    first, second : Pairs
        With differences. If only one of them has weights, those of the other are 1; groups, annotators and sides are
        kept if both have them.
    """
    sets = (first, second)
    has_weights = any(pairs.weight is not None for pairs in sets)
    weights = [np.ones(len(pairs)) if pairs.weight is None else pairs.weight.numpy() for pairs in sets]
    offset = len(first.items)
    return Pairs(
        _stacked([as_matrix(pairs.items) for pairs in sets]),
        np.concatenate([first.left.numpy(), second.left.numpy() + offset]),
        np.concatenate([first.right.numpy(), second.right.numpy() + offset]),
        np.concatenate([pairs.targets("differences")[0].numpy() for pairs in sets]),
        weight=np.concatenate(weights) if has_weights else None,
        feature_names=first.feature_names,
        group=_concatenated([pairs.group for pairs in sets]),
        annotator=_concatenated([pairs.annotators for pairs in sets]),
        side=_concatenated([pairs.side for pairs in sets]),
    )


def _concatenated(parts: list[Any]) -> NDArray[Any] | None:
    """Return the entries of all parts, or None if one of them is missing."""
    return None if any(part is None for part in parts) else np.concatenate(parts)


def _stacked(matrices: list[Any]) -> Any:
    """Return the rows of matrices below each other; sparse if they all are."""
    if all(isinstance(matrix, np.ndarray) for matrix in matrices):
        return np.concatenate(matrices)
    from scipy.sparse import csr_array, vstack

    return csr_array(vstack(matrices))


def plan_folds(pairs: Pairs, count: int | str, seed: int, units: ArrayLike | None = None) -> FoldPlan:
    """Return folds of items, of connected components where these are small, or of units.

    Parameters
    ----------
    pairs : Pairs
        The pairs, over distinct items. Pairs with a weight of 0 are left out.
    count : int or "auto"
        The number of folds.
    seed : int
        Seed of the folds, and of the sample of many pairs.
    units : array of shape (n,), optional
        The unit of each pair that a fold contains as a whole.
    """
    rows = _compared_rows(pairs, seed)
    unit_of = None if units is None else _checked_units(units, len(pairs))[rows]
    compared = pairs[rows]
    n_folds = _fold_count(compared, unit_of, seed) if count == "auto" else check_count("folds", count, least=2)
    if n_folds < 2:
        return FoldPlan(pairs=compared, folds=(), costly_folds=0, held_out="nothing", units=unit_of)
    folds = _item_folds(compared, n_folds, seed) if unit_of is None else _unit_folds(unit_of, n_folds, seed)
    ends = fold_units(compared, n_folds)
    used, costly = _used_folds(len(compared)) if count == "auto" else (n_folds, n_folds)
    return FoldPlan(
        pairs=compared,
        folds=folds[:used],
        costly_folds=costly,
        held_out=_held_out(ends, unit_of),
        units=ends.left if unit_of is None and ends.are_components else unit_of,
    )


def _held_out(ends: FoldUnits, units: NDArray[Any] | None) -> str:
    """Return what folds hold out, for the table."""
    if units is not None:
        return "units"
    return "connected components" if ends.are_components else "items"


def plan_validation(pairs: Pairs, n_training: int) -> FoldPlan:
    """Return a single fold: the first pairs are fitted to, the others are predicted."""
    rows = np.arange(len(pairs))
    return FoldPlan(
        pairs=pairs,
        folds=((rows[:n_training], rows[n_training:]),),
        costly_folds=1,
        held_out="validation pairs",
    )


def _compared_rows(pairs: Pairs, seed: int) -> _Rows:
    """Return the rows of the pairs that have a weight, or of a random sample of them."""
    rows = np.arange(len(pairs)) if pairs.weight is None else np.flatnonzero(pairs.weight.numpy())
    if len(rows) <= MOST_COMPARED:
        return rows
    rng = np.random.default_rng(derived_seed(seed, "compared pairs"))
    return np.sort(rng.choice(rows, MOST_COMPARED, replace=False))


def _used_folds(n_pairs: int) -> tuple[int, int]:
    """Return how many of the folds are used, and how many of these by costly candidates."""
    return next((used, costly) for most, used, costly in _USED_FOLDS if n_pairs <= most)


def _fold_count(pairs: Pairs, units: NDArray[Any] | None, seed: int) -> int:
    """Return the number of folds: at most that of the units, fewer for few items, and 0 if nothing can be compared."""
    if len(pairs) < FEWEST_COMPARED:
        return 0
    if units is not None:
        return min(_FOLDS, len(np.unique(units)))
    return next((count for count in range(_FOLDS, 1, -1) if item_disjoint_folds(pairs, count, seed)), 0)


def _checked_units(units: ArrayLike, n_pairs: int) -> NDArray[Any]:
    array = as_array("units", units)
    if array.shape != (n_pairs,):
        raise ValueError(f"units must have one entry for each of {n_pairs} pairs; got shape {array.shape}.")
    return array


def _item_folds(pairs: Pairs, count: int, seed: int) -> tuple[Fold, ...]:
    folds = item_disjoint_folds(pairs, count, seed)
    if not folds:
        n_items = len(np.unique(np.concatenate([pairs.left.numpy(), pairs.right.numpy()])))
        raise ValueError(f"{n_items} items are too few for {count} folds: a fold has no training or test pairs.")
    return tuple(folds)


def _unit_folds(units: NDArray[Any], count: int, seed: int) -> tuple[Fold, ...]:
    """Return folds of units: all pairs of a unit are tested in the same fold."""
    from sklearn.model_selection import GroupKFold

    n_units = len(np.unique(units))
    if n_units < count:
        raise ValueError(f"units must have at least as many different values as folds, {count}; got {n_units}.")
    return tuple(GroupKFold(count, shuffle=True, random_state=seed).split(units, groups=units))
