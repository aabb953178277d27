"""Splits of pairs that leak no item: what cross-validation of pairs needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.pairs.forms import as_pairs
from confdiff.randomness import generator
from confdiff.validation import check_count


class ItemKFold:
    """Folds of items, for cross-validation: a fold is judged on the pairs that touch its items.

    None of these items is trained on. A pair of items of two folds is judged in both; folds of pairs would judge on
    items that other pairs made known, and say too much good.

    >>> from confdiff import Pairs
    >>> pairs = Pairs(np.eye(100), left=range(99), right=range(1, 100), difference=np.zeros(99))
    >>> kept, judged = next(ItemKFold(5).split(pairs))
    >>> len(kept) + len(judged)
    99
    """

    def __init__(self, n_splits: int = 5, *, seed: int = 0) -> None:
        self.n_splits = check_count("n_splits", n_splits, least=2)
        self.seed = check_count("seed", seed, least=0)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """How many folds there are."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """(pairs to train on, pairs to judge by) of each fold. X: :class:`~confdiff.Pairs`."""
        data = as_pairs(X)
        places = torch.stack([data.left, data.right])
        items = torch.unique(places)
        order = items[torch.randperm(len(items), generator=generator(self.seed, "folds of items"))]
        for fold in torch.tensor_split(order, self.n_splits):
            touched = torch.isin(places, fold).any(dim=0).numpy()
            if touched.all() or not touched.any():
                raise ValueError(f"{len(items)} items are too few, or too closely compared, for {self.n_splits} folds.")
            yield np.flatnonzero(~touched), np.flatnonzero(touched)
