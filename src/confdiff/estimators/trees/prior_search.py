"""Find the class prior of boosted trees: scores of held-out pairs, and fits from several starts."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from confdiff.estimators.trees.ends import Floats
from confdiff.estimators.trees.fitting import FittedTrees, HeldOutScores, TreeFit
from confdiff.estimators.trees.model import TreeModel
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
_MOST_FEATURES = 2_000  # with more, starts are not compared: each fit takes seconds
_FOLDS = 3  # if the fit itself holds out no pairs

MakeTask = Callable[[float | None], TreeFit]
"""The prior -> the fit with it."""


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

    def run(self, prior: float | None, most: int | None = None) -> FittedTrees:
        """Fit at a prior, or without one, with at most some rounds."""
        task = self.make_task(prior)
        if most is not None:
            task = replace(task, rounds=replace(task.rounds, most=min(most, task.rounds.most)))
        return task.run(self.table, self.validation)

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
        value = self.best((estimate.confidence_low, estimate.confidence_high), fitted)
        return estimate if value is None else replace(estimate, value=value)

    def label_scores(self, fitted: FittedTrees, items: Items) -> Floats:
        """Return the scores of other items by trees that were fitted without a prior."""
        return TreeModel(fitted.trees, items.shape[1], 1).scores(as_matrix(items))

    def best(self, interval: Interval, fitted: FittedTrees) -> float | None:
        """Return the prior in an interval with the least held-out error; None if that is the fit without a prior.

        Trees that start at a probability of 1/2 stay near it if the differences are noisy, so they are fitted again
        from several starts. Some rounds suffice to compare them.
        """
        if not fitted.errors or fitted.held_out is None or self.data.items.shape[1] > _MOST_FEATURES:
            return None
        least = min(fitted.errors[:_ROUNDS])
        best = None
        for start in self._starts(interval, fitted.held_out):
            errors = self.run(start, most=_ROUNDS).errors
            if errors and min(errors) < least:
                least = min(errors)
                best = start
        return best

    def _starts(self, interval: Interval, held_out: HeldOutScores) -> list[float]:
        """Return the priors to compare: none if the interval is short and the trees are in it."""
        low, high = interval
        mean = float(expit(np.stack([held_out.g, held_out.g_prime])).mean())
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
        folds = self.make_task(None)._folds(self.table, self.validation)
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
