"""Find the class prior of boosted trees: scores of held-out pairs, and fits from several starts."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from confdiff.estimators.trees.ends import Floats
from confdiff.estimators.trees.fitting import FittedTrees, FoldSet, HeldOutScores, TreeFit
from confdiff.estimators.trees.model import TreeModel
from confdiff.estimators.trees.rounds import Growth
from confdiff.estimators.trees.table import DistinctPairs
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import Items, as_matrix
from confdiff.prior import (
    Evidence,
    Interval,
    ItemScorer,
    LabelMoment,
    OutOfFold,
    PriorEstimate,
    SameAnswers,
    cross_fit,
    is_narrow,
)

_STARTS = (0.05, 0.25, 0.5, 0.75, 0.95)  # positions in an open interval, on the scale of log-odds
_FEW_STARTS = (0.2, 0.5, 0.8)  # in a narrow interval
_SHORT = 0.06  # width of an interval in which starts hardly differ
_ROUNDS = 60  # to compare starts
_CLEARLY = 0.01  # part of the held-out error by which a start must be better after the first rounds
_MOST_FEATURES = 2_000  # with more, starts are not compared: each fit takes seconds
_FOLDS = 3  # if the fit itself holds out no pairs

MakeTask = Callable[[float | None], TreeFit]
"""The prior -> the fit with it."""


@dataclass(frozen=True, eq=False)
class Start:
    """Trees that grow from a prior."""

    prior: float
    task: TreeFit
    growth: Growth

    def least_error(self, n_rounds: int) -> float:
        """Return the least held-out error of the first rounds, growing them if needed."""
        return min(self.growth.grow(min(n_rounds, self.task.rounds.most)).errors[:n_rounds])


@dataclass(frozen=True, eq=False)
class PriorSearch:
    """Fits of the same pairs at several priors.

    Attributes
    ----------
    make_task : callable
        The prior, or None -> the fit.
    data : Pairs
        The pairs.
    table, validation : DistinctPairs
        The same pairs over distinct items, and other held-out pairs, if any.
    seed : int
        Seed of the folds, if the fit has none.
    """

    make_task: MakeTask
    data: Pairs
    table: DistinctPairs
    validation: DistinctPairs | None
    seed: int

    @cached_property
    def fold_sets(self) -> list[FoldSet]:
        """The folds, which all fits share."""
        return self.make_task(None).fold_sets(self.table, self.validation)

    def fit(self, task: TreeFit) -> FittedTrees:
        """Run a fit."""
        return task.run(self.table, self.validation, self.fold_sets)

    def run(self, prior: float | None, most: int | None = None) -> FittedTrees:
        """Fit at a prior, or without one, with at most some rounds."""
        task = self.make_task(prior)
        if most is not None:
            task = replace(task, rounds=replace(task.rounds, most=min(most, task.rounds.most)))
        return self.fit(task)

    def held_out(self, fitted: FittedTrees) -> OutOfFold | None:
        """Return the scores of held-out pairs without a prior; None if there are too few pairs."""
        if fitted.held_out is None:
            return self._cross_fit()
        scores = np.stack([fitted.held_out.g, fitted.held_out.g_prime])
        return OutOfFold(
            scores=scores,
            c=fitted.held_out.c,
            weight=fitted.held_out.weight,
            rows=self._rows(scores.shape[1]),
        )

    def estimate(
        self,
        *,
        moment: LabelMoment | None,
        positives: str | None,
        items: Items | None,
        labels: NDArray[np.float32] | None,
        answers: SameAnswers | None = None,
    ) -> PriorEstimate:
        """Estimate the prior; from graded differences alone, its value is the best of several starts."""
        if moment is not None and labels is None and answers is None and moment.suffices(positives):
            return Evidence(held_out=None, moment=moment, positives=positives).estimate()
        fitted = self.run(None)
        evidence = Evidence(
            held_out=self.held_out(fitted),
            moment=moment,
            positives=positives,
            label_scores=None if items is None else self.label_scores(fitted, items),
            labels=labels,
            answer_scores=None if answers is None else self.label_scores(fitted, answers.items),
            answers=answers,
        )
        estimate = evidence.estimate()
        if estimate.alternatives and labels is None:
            values = (estimate.value, 1 - estimate.value)
            return replace(
                estimate, value=min(values, key=lambda value: min(self.run(value, most=_ROUNDS).errors, default=0.0))
            )
        if moment is not None or labels is not None or answers is not None:
            return estimate
        start = self.best((estimate.confidence_low, estimate.confidence_high), fitted)
        return estimate if start is None else replace(estimate, value=start.prior)

    def label_scores(self, fitted: FittedTrees, items: Items) -> Floats:
        """Return the scores of other items by trees that were fitted without a prior."""
        return TreeModel(fitted.trees, items.shape[1], 1).scores(as_matrix(items))

    def best(self, interval: Interval, fitted: FittedTrees) -> Start | None:
        """Return the start in an interval with the least held-out error; None if that is the fit without a prior.

        Trees that start at a probability of 1/2 stay near it if the differences are noisy, so they are grown again
        from several starts. Some rounds suffice to compare them. If the trees without a prior are in the interval,
        only the starts that are clearly better after the first rounds are grown so far.
        """
        if not fitted.errors or fitted.held_out is None or self.data.items.shape[1] > _MOST_FEATURES:
            return None
        starts = [self._start(prior) for prior in self._starts(interval, fitted.held_out)]
        first = min(_ROUNDS, math.ceil(1 / self.make_task(None).settings.learning_rate))
        if interval[0] <= _mean_probability(fitted.held_out) <= interval[1]:
            limit = (1 - _CLEARLY) * min(fitted.errors[:first])
            starts = [start for start in starts if start.least_error(first) < limit]
        best = min(starts, key=lambda start: start.least_error(_ROUNDS), default=None)
        return best if best is not None and best.least_error(_ROUNDS) < min(fitted.errors[:_ROUNDS]) else None

    def finish(self, start: Start) -> FittedTrees:
        """Grow the trees of a start to the end."""
        return start.task.finish(start.growth, self.table, self.validation, self.fold_sets)

    def _start(self, prior: float) -> Start:
        task = self.make_task(prior)
        return Start(prior=prior, task=task, growth=task.growth(self.fold_sets))

    def _starts(self, interval: Interval, held_out: HeldOutScores) -> list[float]:
        """Return the priors to compare: none if the interval is short and the trees are in it."""
        low, high = interval
        mean = _mean_probability(held_out)
        if high - low < _SHORT:
            return [] if low <= mean <= high else [(low + high) / 2]
        ends = logit(np.clip(interval, 0.01, 0.99))
        positions = np.array(_FEW_STARTS if is_narrow(interval) else _STARTS)
        return [float(start) for start in expit(ends[0] + (ends[1] - ends[0]) * positions)]

    def _cross_fit(self) -> OutOfFold | None:
        return (
            cross_fit(self._learn, self.data, folds=_FOLDS, seed=self.seed)[0] if len(self.data) >= 2 * _FOLDS else None
        )

    def _rows(self, count: int) -> np.ndarray:
        """Return the items of the held-out pairs, as numbers."""
        folds = self.make_task(None).folds(self.table, self.validation)
        held_out = [rows for _, rows in folds if rows is not None]
        pairs = np.concatenate(held_out) if held_out else np.zeros(0, dtype=np.int64)
        if len(pairs) != count:  # the scores are of the validation pairs
            assert self.validation is not None
            return np.stack([self.validation.pairs.left.numpy(), self.validation.pairs.right.numpy()])
        return np.stack([self.table.pairs.left.numpy()[pairs], self.table.pairs.right.numpy()[pairs]])

    def _learn(self, training: Pairs, fold: int) -> ItemScorer:
        task = self.make_task(None)
        table = DistinctPairs.of(training, task.method, self.seed)
        model = TreeModel(task.run(table, None).trees, training.items.shape[1], 1)
        return lambda items: model.scores(as_matrix(items))


def _mean_probability(held_out: HeldOutScores) -> float:
    return float(expit(np.stack([held_out.g, held_out.g_prime])).mean())
