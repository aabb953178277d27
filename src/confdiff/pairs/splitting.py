"""Split pairs so that no item of the held-out pairs is trained on: the one item-disjoint splitter.

Callers draw the order of the items from their own random streams; the split of that order is the same for all.
"""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.pairs.forms import as_pairs
from confdiff.randomness import generator
from confdiff.validation import check_count

_Rows = NDArray[np.int64]


def fraction_of_items(fraction: float) -> float:
    """Return the fraction of the items that a given fraction of the pairs touches.

    If the items of a pair are drawn independently, a fraction 1 - (1 - f)^2 of the pairs touches a fraction f of the
    items.

    >>> fraction_of_items(0.75)
    0.5
    """
    return 1 - math.sqrt(1 - fraction)


def assign_parts(order: NDArray[Any], sizes: Sequence[int], count: int) -> _Rows:
    """Return the part of each item: 1 for the first ``sizes[0]`` items of ``order``, 2 for the next, 0 for the rest.

    Parameters
    ----------
    order : array of shape (m,)
        Rows of items in random order, each once.
    sizes : sequence of int
        The number of items in each held-out part.
    count : int
        The number of items, including those that are not in ``order``.

    Returns
    -------
    array of int64, shape (count,)

    Examples
    --------
    >>> assign_parts(np.array([3, 0, 2, 1]), [1, 2], count=5)
    array([2, 0, 2, 1, 0])
    """
    part = np.zeros(count, dtype=np.int64)
    held_out = order[: sum(sizes)]
    part[held_out] = np.repeat(np.arange(1, len(sizes) + 1), sizes)[: len(held_out)]
    return part


def split_by_part(left: NDArray[Any], right: NDArray[Any], part: _Rows, n_parts: int = 2) -> tuple[_Rows, ...]:
    """Return the rows of the pairs of each part; a pair belongs to the higher part of its two items.

    Pairs of part 0, the training set, thus touch no item of another part. To split by another unit, such as the group,
    pass the unit of each pair as both ``left`` and ``right``.

    Parameters
    ----------
    left, right : arrays of shape (n,)
        The rows of the items of each pair.
    part : array of shape (N,)
        The part of each item, from 0 to ``n_parts - 1``, as :func:`assign_parts` returns it.
    n_parts : int
        The number of parts, including empty ones.

    Returns
    -------
    tuple of ``n_parts`` arrays of int64

    Examples
    --------
    >>> training, held_out = split_by_part(np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([0, 0, 0, 1]))
    >>> training, held_out
    (array([0, 1]), array([2]))
    """
    part_of_pair = np.maximum(part[left], part[right])
    return tuple(np.flatnonzero(part_of_pair == number) for number in range(n_parts))


class ItemKFold:
    """Cross-validate over folds of items: a fold is tested on the pairs that touch its items.

    No pair of the training set touches these items. A pair with items of two folds is tested in both. Folds of pairs
    would test on items that other pairs of the training set contain, and overestimate the model.

    Parameters
    ----------
    n_splits : int
        The number of folds, at least 2.
    seed : int
        Seed of the order of the items.

    Examples
    --------
    >>> from confdiff import Pairs
    >>> pairs = Pairs(np.eye(100), left=range(99), right=range(1, 100), difference=np.zeros(99))
    >>> training, test = next(ItemKFold(5).split(pairs))
    >>> len(training) + len(test)
    99
    """

    def __init__(self, n_splits: int = 5, *, seed: int = 0) -> None:
        self.n_splits = check_count("n_splits", n_splits, least=2)
        self.seed = check_count("seed", seed, least=0)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[_Rows, _Rows]]:
        """Yield the rows of the training and the test pairs of each fold.

        Parameters
        ----------
        X : Pairs
            The pairs, or anything that ``fit`` takes as pairs in memory.
        y, groups :
            Ignored; present for scikit-learn.
        """
        pairs = as_pairs(X)
        left = pairs.left.numpy()
        right = pairs.right.numpy()
        items = torch.unique(torch.stack([pairs.left, pairs.right]))
        order = items[torch.randperm(len(items), generator=generator(self.seed, "folds of items"))]
        for fold in torch.tensor_split(order, self.n_splits):
            part = assign_parts(fold.numpy(), [len(fold)], count=len(pairs.items))
            training, test = split_by_part(left, right, part)
            if not len(training) or not len(test):
                raise ValueError(
                    f"{len(items)} items are too few for {self.n_splits} folds: one has no training or test pairs."
                )
            yield training, test
