"""Rounds of boosting: grow trees on an objective, and find the number of rounds by held-out pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from confdiff.estimators.trees.ends import Floats
from confdiff.estimators.trees.library import load_lightgbm
from confdiff.estimators.trees.objectives import Objective
from confdiff.estimators.trees.settings import TreeSettings
from confdiff.estimators.trees.text import trees_of_own_text
from confdiff.estimators.trees.tree import Tree

Watch = Callable[[int], None]
"""Called with the number of finished rounds."""


@dataclass(frozen=True)
class HeldOut:
    """Held-out pairs: their items, their number, and the error of the scores of their items."""

    items: Any
    n_pairs: int
    error: Callable[[Floats], float]


class BinnedItems:
    """Training and held-out items with binned features, which several boosters may share.

    Parameters
    ----------
    items : array or scipy.sparse.csr_matrix of shape (N, d)
        The training items.
    held_out : sequence of arrays or sparse matrices
        The items of each set of held-out pairs.
    settings : TreeSettings
        How trees are grown; the start does not matter.
    model : int
        The number of the model, which has random numbers of its own.
    """

    def __init__(self, items: Any, held_out: Sequence[Any], settings: TreeSettings, model: int) -> None:
        self.model = model
        parameters = settings.parameters(model)
        self.training = load_lightgbm().Dataset(
            items, np.zeros(items.shape[0]), params=parameters, categorical_feature=list(settings.categorical)
        )
        self.held_out = [
            self.training.create_valid(others, np.zeros(others.shape[0]), params=parameters) for others in held_out
        ]


class Booster:
    """Trees that grow round by round on the items of one set of pairs.

    Parameters
    ----------
    binned : BinnedItems
        The training items and those of the held-out pairs.
    objective : Objective
        The risk of the scores of the training items.
    settings : TreeSettings
        How trees are grown.
    held_out : sequence of HeldOut
        Sets of held-out pairs.

    Attributes
    ----------
    held_out_scores : array of shape (N,) or (N, K)
        The scores of the items of the first held-out set at the last call of :meth:`total_error`.
    """

    held_out_scores: Floats

    def __init__(
        self,
        binned: BinnedItems,
        objective: Objective,
        settings: TreeSettings,
        *,
        held_out: Sequence[HeldOut] = (),
    ) -> None:
        self.objective = objective
        self.settings = settings
        self.held_out = held_out
        self.booster = load_lightgbm().Booster(settings.parameters(binned.model), binned.training)
        for number, items in enumerate(binned.held_out):
            self.booster.add_valid(items, str(number))

    def grow(self) -> bool:
        """Add the trees of one round; return False if no tree can be split any more."""
        finished: bool = self.booster.update(fobj=self._derivatives)
        return not finished

    def total_error(self) -> float:
        """Return the sum of the errors of the held-out pairs, and remember the scores of their items."""
        scores_of_sets: list[Floats] = []

        def remember(scores: Floats, _: Any) -> tuple[str, float, bool]:
            scores_of_sets.append(scores + self.settings.start)
            return "", 0.0, False

        self.booster.eval_valid(remember)
        errors = [pairs.error(scores) for pairs, scores in zip(self.held_out, scores_of_sets, strict=True)]
        self.held_out_scores = scores_of_sets[0]
        return float(sum(errors))

    def n_held_out(self) -> int:
        """Return the number of held-out pairs."""
        return sum(pairs.n_pairs for pairs in self.held_out)

    def trees(self, n_rounds: int) -> list[Tree]:
        """Return the trees of the first rounds."""
        text: str = self.booster.model_to_string(num_iteration=n_rounds)
        return trees_of_own_text(text)

    def _derivatives(self, scores: Floats, _: Any) -> tuple[Floats, Floats]:
        return self.objective.derivatives(scores + self.settings.start)


@dataclass
class Stopping:
    """The errors of all rounds so far."""

    patience: int
    errors: list[float] = field(default_factory=list)

    def add(self, error: float) -> bool:
        """Add the error of a round; return whether one of the last rounds was the best."""
        self.errors.append(error)
        return len(self.errors) - self.best < self.patience

    @property
    def best(self) -> int:
        """The number of rounds with the least error, at least 1."""
        return int(np.argmin(self.errors)) + 1


class Growth:
    """Boosters of different folds that grow together until the mean error of their held-out pairs improves no more.

    Parameters
    ----------
    boosters : sequence of Booster
        Models of different folds.
    patience : int
        Stop after this number of rounds without a better error.
    watch : callable
        Called after every round.

    Attributes
    ----------
    best_scores : list of arrays
        The scores of the items of the first held-out set of each booster after the best round.
    """

    best_scores: list[Floats]

    def __init__(self, boosters: Sequence[Booster], patience: int, watch: Watch) -> None:
        self.boosters = boosters
        self.watch = watch
        self.stopping = Stopping(patience)
        self._n_pairs = sum(booster.n_held_out() for booster in boosters)
        self._has_stopped = False

    @property
    def errors(self) -> list[float]:
        """The held-out error of every round so far."""
        return self.stopping.errors

    def grow(self, most: int) -> Stopping:
        """Grow until there are ``most`` rounds in total, or until it stops; return the errors of all rounds."""
        while len(self.errors) < most and not self._has_stopped:
            is_growing = [booster.grow() for booster in self.boosters]
            self.watch(len(self.errors) + 1)
            total = sum(booster.total_error() for booster in self.boosters)
            is_improving = self.stopping.add(total / self._n_pairs)
            if self.stopping.best == len(self.errors):
                self.best_scores = [booster.held_out_scores for booster in self.boosters]
            self._has_stopped = not is_improving or not any(is_growing)
        return self.stopping


def grow_rounds(booster: Booster, n_rounds: int, watch: Watch) -> list[Tree]:
    """Grow a booster for a number of rounds, and return its trees."""
    for number in range(1, n_rounds + 1):
        is_growing = booster.grow()
        watch(number)
        if not is_growing:
            break
    return booster.trees(n_rounds)


def mean_of_models(models: Sequence[Sequence[Tree]]) -> list[Tree]:
    """Return trees whose scores are the mean of the scores of several models."""
    return [tree.scaled(1 / len(models)) for trees in models for tree in trees]
