"""Fit boosted trees: find the number of rounds by held-out pairs, and return the trees of all models."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from confdiff.estimators.trees.ends import Floats, RowNumbers
from confdiff.estimators.trees.rounds import Booster, HeldOut, Watch, find_rounds, grow_rounds, mean_of_models
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


@dataclass(frozen=True)
class FittedTrees:
    """Trees, the number of rounds of each model, the held-out error of every round, and held-out scores."""

    trees: list[Tree]
    n_rounds: int
    errors: list[float]
    held_out: HeldOutScores | None


@dataclass(frozen=True)
class TreeFit:
    """Everything but the pairs that a fit depends on."""

    method: Method
    prior: Any
    settings: TreeSettings
    rounds: Rounds
    watch: Watch

    def run(self, table: DistinctPairs, validation: DistinctPairs | None) -> FittedTrees:
        """Fit trees to pairs.

        With several folds, one model per fold is trained without the pairs of the fold, and the mean of their scores
        is returned. With one fold, the model is trained again on all pairs with the number of rounds that was found.
        Validation pairs are held out in addition.
        """
        folds = self._folds(table, validation)
        if not folds and (validation is None or self.rounds.n_folds == 0):
            most = self.rounds.most if self.rounds.n_folds == 0 else min(_ROUNDS_OF_FEW, self.rounds.most)
            return self._fit_once(table, validation, most)
        if not folds:
            folds = [(np.arange(len(table.pairs)), None)]
        boosters, held_out_tables = self._boosters(table, folds, validation)
        stopping = find_rounds(boosters, self.rounds.most, self.rounds.patience, self.watch)
        n_rounds = stopping.best
        scores = _scores_of(boosters, held_out_tables, n_rounds)
        if self.rounds.n_folds == 1 and validation is None:
            trees = grow_rounds(self._booster(table), n_rounds, self.watch)
        else:
            trees = mean_of_models([booster.trees(n_rounds) for booster in boosters])
        return FittedTrees(trees=trees, n_rounds=n_rounds, errors=stopping.errors, held_out=scores)

    def _folds(self, table: DistinctPairs, validation: DistinctPairs | None) -> Sequence[_Fold]:
        """Return the rows of training and held-out pairs of each fold; none if nothing is held out of the pairs."""
        n_folds = self.rounds.n_folds
        if n_folds == 0 or len(table.pairs) < _FEWEST_PAIRS or (n_folds == 1 and validation is not None):
            return []
        if n_folds == 1:
            training, held_out = hold_out_items(table.pairs, self.rounds.fraction, self.settings.seed)
            return [(training, held_out)] if len(training) > 1 and len(held_out) else []
        return item_disjoint_folds(table.pairs, n_folds, self.settings.seed)

    def _boosters(
        self,
        table: DistinctPairs,
        folds: Sequence[_Fold],
        validation: DistinctPairs | None,
    ) -> tuple[list[Booster], list[DistinctPairs]]:
        """Return a model for each fold, and the first held-out pairs of each."""
        boosters = []
        tables = []
        for number, (training, held_out) in enumerate(folds):
            sets = [] if held_out is None else [table[held_out]]
            sets += [] if validation is None else [validation]
            boosters.append(self._booster(table[training], sets, number))
            tables.append(sets[0])
        return boosters, tables

    def _booster(self, table: DistinctPairs, held_out: Sequence[DistinctPairs] = (), number: int = 0) -> Booster:
        objective = objective_of(table, self.method, self.prior)
        sets = [
            HeldOut(items=part.items, n_pairs=len(part.pairs), error=held_out_error_of(part, self.method))
            for part in held_out
        ]
        return Booster(table.items, objective, self.settings, model=number, held_out=sets)

    def _fit_once(self, table: DistinctPairs, validation: DistinctPairs | None, n_rounds: int) -> FittedTrees:
        sets = [] if validation is None else [validation]
        booster = self._booster(table, sets)
        trees = grow_rounds(booster, n_rounds, self.watch)
        scores = _scores_of([booster], sets, n_rounds) if sets else None
        return FittedTrees(trees=trees, n_rounds=n_rounds, errors=[], held_out=scores)


def _scores_of(boosters: Sequence[Booster], tables: Sequence[DistinctPairs], n_rounds: int) -> HeldOutScores:
    g = []
    g_prime = []
    for booster, table in zip(boosters, tables, strict=True):
        scores = booster.held_out_scores(n_rounds)
        g.append(scores[table.pairs.left.numpy()])
        g_prime.append(scores[table.pairs.right.numpy()])
    return HeldOutScores(g=np.concatenate(g), g_prime=np.concatenate(g_prime), pairs=tuple(tables))
