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


class Booster:
    """Trees that grow round by round on the items of one set of pairs.

    Parameters
    ----------
    items : array or scipy.sparse.csr_matrix of shape (N, d)
        The training items.
    objective : Objective
        The risk of their scores.
    settings : TreeSettings
        How trees are grown.
    model : int
        The number of the model, which has random numbers of its own.
    held_out : sequence of HeldOut
        Sets of held-out pairs.
    """

    def __init__(
        self,
        items: Any,
        objective: Objective,
        settings: TreeSettings,
        *,
        model: int = 0,
        held_out: Sequence[HeldOut] = (),
    ) -> None:
        self.objective = objective
        self.settings = settings
        self.held_out = held_out
        parameters = settings.parameters(model)
        lightgbm = load_lightgbm()
        training = lightgbm.Dataset(
            items, np.zeros(items.shape[0]), params=parameters, categorical_feature=list(settings.categorical)
        )
        self.booster = lightgbm.Booster(parameters, training)
        for number, pairs in enumerate(held_out):
            validation = training.create_valid(pairs.items, np.zeros(pairs.items.shape[0]), params=parameters)
            self.booster.add_valid(validation, str(number))

    def grow(self) -> bool:
        """Add the trees of one round; return False if no tree can be split any more."""
        finished: bool = self.booster.update(fobj=self._derivatives)
        return not finished

    def total_error(self) -> float:
        """Return the sum of the errors of the held-out pairs."""
        scores_of_sets: list[Floats] = []

        def remember(scores: Floats, _: Any) -> tuple[str, float, bool]:
            scores_of_sets.append(scores + self.settings.start)
            return "", 0.0, False

        self.booster.eval_valid(remember)
        errors = [pairs.error(scores) for pairs, scores in zip(self.held_out, scores_of_sets, strict=True)]
        return float(sum(errors))

    def n_held_out(self) -> int:
        """Return the number of held-out pairs."""
        return sum(pairs.n_pairs for pairs in self.held_out)

    def held_out_scores(self, n_rounds: int) -> Floats:
        """Return the scores of the items of the first held-out set after some rounds."""
        items = self.held_out[0].items
        scores = self.booster.predict(items, raw_score=True, num_iteration=n_rounds)
        return np.asarray(scores, dtype=np.float64) + self.settings.start

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


def find_rounds(boosters: Sequence[Booster], max_rounds: int, patience: int, watch: Watch) -> Stopping:
    """Grow several boosters together until the mean error of their held-out pairs improves no more.

    Parameters
    ----------
    boosters : sequence of Booster
        Models of different folds.
    max_rounds : int
        The largest number of rounds.
    patience : int
        Stop after this number of rounds without a better error.
    watch : callable
        Called after every round.

    Returns
    -------
    Stopping
        The errors of all rounds, and the best number of rounds.
    """
    stopping = Stopping(patience)
    n_pairs = sum(booster.n_held_out() for booster in boosters)
    for number in range(1, max_rounds + 1):
        is_growing = [booster.grow() for booster in boosters]
        watch(number)
        total = sum(booster.total_error() for booster in boosters)
        if not stopping.add(total / n_pairs) or not any(is_growing):
            break
    return stopping


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
