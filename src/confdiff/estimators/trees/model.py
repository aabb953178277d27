"""Fitted trees that score items and explain the scores."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from confdiff.estimators.trees.ends import Floats
from confdiff.estimators.trees.library import load_lightgbm
from confdiff.estimators.trees.matrix import for_lightgbm
from confdiff.estimators.trees.text import text_of_trees, trees_of_own_text, trees_of_text
from confdiff.estimators.trees.tree import Tree
from confdiff.threads import pass_over, threads_for
from confdiff.validation import is_sparse


class TreeModel:
    """Trees of one or several models whose values are added up.

    Parameters
    ----------
    trees : sequence of Tree
        The trees, checked; with K classes those of one round follow each other.
    n_features : int
        The number of columns of the items.
    n_scores : int
        The number of scores of an item: 1, or K for K classes.
    """

    def __init__(self, trees: Sequence[Tree], n_features: int, n_scores: int = 1) -> None:
        self.n_features = n_features
        self.n_scores = n_scores
        self.n_trees = len(trees)
        self.text = text_of_trees(trees, n_features, n_scores)
        self.booster = load_lightgbm().Booster(model_str=self.text)

    @classmethod
    def from_text(cls, text: Any, n_features: int, n_scores: int = 1) -> "TreeModel":
        """Return the model of a text, which is checked before LightGBM reads it."""
        return cls(trees_of_text(text, n_features, n_scores), n_features, n_scores)

    def trees(self) -> list[Tree]:
        """Return the trees."""
        return trees_of_own_text(self.text)

    def scores(self, items: Any) -> Floats:
        """Return the sums of the values of the trees, (m,) or (m, K), for the rows of an array or sparse array."""
        matrix = for_lightgbm(items)
        scores = self.booster.predict(matrix, raw_score=True, num_threads=self._threads(matrix))
        return np.asarray(scores, dtype=np.float64)

    def contributions(self, items: Any) -> Floats:
        """Return the contribution of each feature to each score, and the mean score at the end.

        They are the Shapley values of the trees (Lundberg et al. 2020), which add up to the scores.

        Returns
        -------
        array of shape (m, d + 1) or (m, K, d + 1)
        """
        matrix = for_lightgbm(items)
        result: Any = self.booster.predict(matrix, pred_contrib=True, num_threads=self._threads(matrix))
        if is_sparse(matrix):
            result = np.hstack([part.toarray() for part in (result if isinstance(result, list) else [result])])
        values = np.asarray(result, dtype=np.float64)
        return values if self.n_scores == 1 else values.reshape(-1, self.n_scores, self.n_features + 1)

    def importances(self) -> Floats:
        """Return the gain of all splits on each feature, with sum 1 (all 0 if no tree has a split)."""
        gains: Floats = self.booster.feature_importance("gain")
        total = gains.sum()
        return gains / total if total > 0 else gains

    def _threads(self, items: Any) -> int:
        return threads_for(pass_over(items.shape[0] * self.n_trees))
