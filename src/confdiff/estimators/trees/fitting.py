"""Fit boosted trees: find the number of rounds by held-out pairs, and return the trees of all models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.estimators.trees.ends import Floats, RowNumbers
from confdiff.estimators.trees.rounds import (
    BinnedItems,
    Booster,
    Growth,
    HeldOut,
    Watch,
    grow_rounds,
    mean_of_models,
)
from confdiff.estimators.trees.settings import TreeSettings
from confdiff.estimators.trees.table import DistinctPairs, held_out_error_of, objective_of
from confdiff.estimators.trees.tree import Tree
from confdiff.methods import Method
from confdiff.pairs.splitting import hold_out_items, item_disjoint_folds

_FEWEST_PAIRS = 20
"""With fewer pairs, none are held out."""

_ROUNDS_OF_FEW = 50
"""The number of rounds if no pairs are held out."""


_Fold = tuple[RowNumbers, RowNumbers | None]
"""Rows of the training pairs, and of the held-out pairs if some are held out."""


@dataclass(frozen=True)
class Rounds:
    """How the number of rounds is found.

    Attributes
    ----------
    most : int
        The largest number of rounds.
    patience : int
        Stop after this number of rounds without improvement.
    n_folds : int
        The number of folds of items; 1 holds out a fraction of the pairs once, 0 nothing.
    fraction : float
        The fraction of pairs to hold out if there is one fold.
    """

    most: int
    patience: int
    n_folds: int
    fraction: float


@dataclass(frozen=True)
class HeldOutScores:
    """Scores of both items of held-out pairs, by models that were not trained on the pairs."""

    g: Floats
    g_prime: Floats
    pairs: tuple[DistinctPairs, ...]

    @property
    def c(self) -> Floats:
        """The differences of the pairs."""
        return np.concatenate([table.differences for table in self.pairs])

    @property
    def weight(self) -> Floats:
        """The weights of the pairs."""
        return np.concatenate([table.weight for table in self.pairs])

    @property
    def pair_weight(self) -> Floats:
        """The weights of the pairs without the precision of their differences."""
        weights = [(table.pairs.weight, len(table.pairs)) for table in self.pairs]
        return np.concatenate([np.ones(n) if weight is None else weight.double().numpy() for weight, n in weights])


@dataclass(frozen=True)
class FittedTrees:
    """Trees, the number of rounds of each model, the held-out error of every round, and held-out scores."""

    trees: list[Tree]
    n_rounds: int
    errors: list[float]
    held_out: HeldOutScores | None


@dataclass(frozen=True, eq=False)
class FoldSet:
    """The training and held-out pairs of a fold, and their items as LightGBM bins them.

    Attributes
    ----------
    training : DistinctPairs
        The training pairs.
    held_out : tuple of DistinctPairs
        Those of the fold, if it has any, and the validation pairs, if there are any.
    binned : BinnedItems
        The items of all of them.
    """

    training: DistinctPairs
    held_out: tuple[DistinctPairs, ...]
    binned: BinnedItems


@dataclass(frozen=True)
class TreeFit:
    """Everything but the pairs that a fit depends on."""

    method: Method
    prior: Any
    settings: TreeSettings
    rounds: Rounds
    watch: Watch

    def run(
        self, table: DistinctPairs, validation: DistinctPairs | None, folds: Sequence[FoldSet] | None = None
    ) -> FittedTrees:
        """Fit trees to pairs.

        With several folds, one model per fold is trained without the pairs of the fold, and the mean of their scores
        is returned. With one fold, the model is trained again on all pairs with the number of rounds that was found.
        Validation pairs are held out in addition.

        ``folds`` are those of :meth:`fold_sets`, if several fits share them.
        """
        folds = self.fold_sets(table, validation) if folds is None else folds
        if not folds:
            most = self.rounds.most if self.rounds.n_folds == 0 else min(_ROUNDS_OF_FEW, self.rounds.most)
            return self._fit_once(table, validation, most)
        return self.finish(self.growth(folds), table, validation, folds)

    def growth(self, folds: Sequence[FoldSet]) -> Growth:
        """Return a model for each fold, before the first round."""
        boosters = [self._booster(fold) for fold in folds]
        return Growth(boosters, self.rounds.patience, self.watch)

    def finish(
        self,
        growth: Growth,
        table: DistinctPairs,
        validation: DistinctPairs | None,
        folds: Sequence[FoldSet],
    ) -> FittedTrees:
        """Grow the models of folds to the end, and return the trees."""
        stopping = growth.grow(self.rounds.most)
        n_rounds = stopping.best
        scores = _scores_of_ends(growth.best_scores, [fold.held_out[0] for fold in folds])
        if self.rounds.n_folds == 1 and validation is None:
            trees = grow_rounds(self._booster(self._fold_set(table, ())), n_rounds, self.watch)
        else:
            trees = mean_of_models([booster.trees(n_rounds) for booster in growth.boosters])
        return FittedTrees(trees=trees, n_rounds=n_rounds, errors=stopping.errors, held_out=scores)

    def fold_sets(self, table: DistinctPairs, validation: DistinctPairs | None) -> list[FoldSet]:
        """Return the folds; none if no pairs are held out. They are the same for all priors."""
        folds = self.folds(table, validation)
        if not folds and validation is not None and self.rounds.n_folds > 0:
            folds = [(np.arange(len(table.pairs)), None)]
        others = () if validation is None else (validation,)
        return [
            self._fold_set(table[training], others if rows is None else (table[rows], *others), number)
            for number, (training, rows) in enumerate(folds)
        ]

    def folds(self, table: DistinctPairs, validation: DistinctPairs | None) -> Sequence[_Fold]:
        """Return the rows of training and held-out pairs of each fold; none if nothing is held out of the pairs."""
        n_folds = self.rounds.n_folds
        if n_folds == 0 or len(table.pairs) < _FEWEST_PAIRS or (n_folds == 1 and validation is not None):
            return []
        if n_folds == 1:
            training, held_out = hold_out_items(table.pairs, self.rounds.fraction, self.settings.seed)
            return [(training, held_out)] if len(training) > 1 and len(held_out) else []
        return item_disjoint_folds(table.pairs, n_folds, self.settings.seed)

    def _fold_set(self, training: DistinctPairs, held_out: tuple[DistinctPairs, ...], number: int = 0) -> FoldSet:
        binned = BinnedItems(training.items, [part.items for part in held_out], self.settings, number)
        return FoldSet(training=training, held_out=held_out, binned=binned)

    def _booster(self, fold: FoldSet) -> Booster:
        objective = objective_of(fold.training, self.method, self.prior)
        sets = [
            HeldOut(items=part.items, n_pairs=len(part.pairs), error=held_out_error_of(part, self.method))
            for part in fold.held_out
        ]
        return Booster(fold.binned, objective, self.settings, held_out=sets)

    def _fit_once(self, table: DistinctPairs, validation: DistinctPairs | None, n_rounds: int) -> FittedTrees:
        sets = () if validation is None else (validation,)
        booster = self._booster(self._fold_set(table, sets))
        trees = grow_rounds(booster, n_rounds, self.watch)
        if not sets:
            return FittedTrees(trees=trees, n_rounds=n_rounds, errors=[], held_out=None)
        booster.total_error()
        scores = _scores_of_ends([booster.held_out_scores], sets)
        return FittedTrees(trees=trees, n_rounds=n_rounds, errors=[], held_out=scores)


def _scores_of_ends(scores_of_items: Sequence[Floats], tables: Sequence[DistinctPairs]) -> HeldOutScores:
    """Return the scores of both items of held-out pairs, from those of the distinct items of each set."""
    g = []
    g_prime = []
    for scores, table in zip(scores_of_items, tables, strict=True):
        g.append(scores[table.pairs.left.numpy()])
        g_prime.append(scores[table.pairs.right.numpy()])
    return HeldOutScores(g=np.concatenate(g), g_prime=np.concatenate(g_prime), pairs=tuple(tables))
