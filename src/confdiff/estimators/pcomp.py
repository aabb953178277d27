"""A classifier of single items, learned from comparisons: which of two items is the more positive, not by how much."""

import os
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import ArrayLike

from confdiff.estimators.pair_classifier import PairClassifier
from confdiff.pairs import Pairs, Supervision
from confdiff.pairs.forms import as_pairs


class PcompClassifier(PairClassifier):
    """Learns a classifier of single items from pairs in order: the first is said to be at least as positive.

    Pairs come in the forms that :class:`~confdiff.ConfDiffClassifier` takes, without differences, and the parameters
    are the same. The methods are those that learn from the order; ``"pcomp-teacher"`` if none is given.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2, 3))
    >>> y = rng.random((300, 2)) < 1 / (1 + np.exp(-3 * X[..., 0]))   # who is positive is not told ...
    >>> X = np.where((y[:, 0] < y[:, 1])[:, None, None], X[:, ::-1], X)   # ... only that the first is no less so
    >>> model = PcompClassifier(prior=0.5, model="linear", epochs=100, learning_rate=0.05).fit(X)
    >>> model.score(X) > 0.6
    True
    """

    learns_from: ClassVar[tuple[Supervision, ...]] = ("order",)
    default_method: ClassVar[str] = "pcomp-teacher"
    default_schedule: ClassVar[str] = (
        "constant"  # its teacher, an average of all weights so far, must not be of an early time
    )

    def fit(
        self,
        pairs: Any,
        y: None = None,
        *,
        items: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> "PcompClassifier":
        """Learn from pairs in order. ``y`` is there for scikit-learn and must be None.

        The other arguments are those of ``ConfDiffClassifier.fit``.
        """
        if y is not None:
            raise ValueError("pairs in order carry no differences: pass none, or use ConfDiffClassifier.")
        self._fit(as_pairs(pairs, items=items, weight=sample_weight, group=groups), checkpoint)
        return self

    def score(self, pairs: Any, y: None = None, *, items: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """The share of held-out pairs whose first item scores higher; ties count half. Needs no labels.

        Pairs of one class are in no particular order, so that not even a perfect classifier reaches 1.
        """
        data = as_pairs(pairs, items=items, weight=sample_weight)
        return self._agreement(*self._pair_scores(data), data, self.loss_)

    def _agreement(self, g: torch.Tensor, g_prime: torch.Tensor, pairs: Pairs, loss: str) -> float:
        right = (g > g_prime).double() + 0.5 * (g == g_prime).double()
        return float(np.average(right.numpy(), weights=None if pairs.weight is None else pairs.weight.numpy()))
