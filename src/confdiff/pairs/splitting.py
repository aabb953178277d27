"""Split pairs so that no item of the held-out pairs is trained on: the one item-disjoint splitter.

Every draw is made here, each from its own random stream, so that splits do not depend on each other:

================================  =====================  ===========================================================
function                          stream                 callers
================================  =====================  ===========================================================
:class:`ItemKFold`                ``"folds of items"``   users
:func:`item_disjoint_folds`       ``"folds of units"``   ``estimators``: comparisons, rounds of trees, penalties
:func:`hold_out_pairs`            ``"held out"``         ``estimators/pair_classifier.py``: early stopping and others
:func:`draw_item_parts`           ``"split"``            ``tabular/comparisons.py`` (``split_pairs``),
                                                         ``tabular/streaming.py``
:func:`draw_parts`                ``"split"``            ``tabular/comparisons.py``: groups or pairs instead of items
================================  =====================  ===========================================================

What is done with a draw is the same for all: :func:`assign_parts` gives each item its part, and :func:`split_by_part`
gives each pair the higher part of its two items. Streamed pairs are never split by rows:
:meth:`StreamedPairs.without <confdiff.StreamedPairs.without>` skips the pairs that touch a held-out item.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.pairs.forms import SAMPLED, as_pairs
from confdiff.pairs.pairs import Pairs
from confdiff.pairs.streamed import StreamedPairs
from confdiff.randomness import derived_seed, generator
from confdiff.validation import check_count, check_fraction

_Rows = NDArray[np.int64]
_LEAST_TRAINING = 0.5  # fraction of the expected number of training pairs of a fold of items
_LARGE_COMPONENT = 0.5  # fraction of a fold; a larger component is not held out as a whole


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


def draw_parts(count: int, fraction: float, seed: int) -> _Rows:
    """Draw the units of the validation and the test set, half of ``fraction`` each.

    Parameters
    ----------
    count : int
        The number of units, such as groups.
    fraction : float
        The fraction of the units to hold out.
    seed : int
        Seed of the draw.

    Returns
    -------
    array of int64, shape (count,)
        0 for training, 1 for validation, 2 for testing.

    Examples
    --------
    >>> np.bincount(draw_parts(10, 0.4, seed=0))
    array([6, 2, 2])
    """
    rng = np.random.default_rng(derived_seed(seed, "split"))
    half = max(1, round(fraction * count / 2))
    return assign_parts(rng.permutation(count), [half, half], count)


def draw_item_parts(count: int, fraction: float, seed: int) -> _Rows:
    """Draw the items of the validation and the test set so that about ``fraction`` of the pairs are held out.

    Parameters
    ----------
    count : int
        The number of items.
    fraction : float
        About which fraction of the pairs to hold out, strictly between 0 and 1.
    seed : int
        Seed of the draw.

    Returns
    -------
    array of int64, shape (count,)
        0 for training, 1 for validation, 2 for testing.
    """
    check_fraction("validation_fraction", fraction)
    return draw_parts(count, fraction_of_items(fraction), seed)


def hold_out_items(data: Pairs, fraction: float, seed: int) -> tuple[_Rows, _Rows]:
    """Return the rows of training pairs and of held-out pairs, about ``fraction`` of all.

    Held-out pairs are all pairs that touch one of some randomly chosen items, so no training pair contains these
    items. Pairs held out at random would consist of items that other pairs contain, and overestimate the model.

    Parameters
    ----------
    data : Pairs
        n pairs.
    fraction : float
        About which fraction of the pairs to hold out.
    seed : int
        Seed of the draw.

    Returns
    -------
    tuple of two arrays of int64
        The rows of the training pairs, and of the held-out pairs.
    """
    items = torch.unique(torch.stack([data.left, data.right]))
    order = items[torch.randperm(len(items), generator=generator(seed, "held out"))]
    size = max(1, round(fraction_of_items(fraction) * len(items)))
    part = assign_parts(order.numpy(), [size], count=len(data.items))
    training, held_out = split_by_part(data.left.numpy(), data.right.numpy(), part)
    return training, held_out


def hold_out_pairs(data: Pairs | StreamedPairs, fraction: float, seed: int) -> tuple[Pairs | StreamedPairs, Pairs]:
    """Split pairs into training pairs and held-out pairs that share no item drawn to be held out.

    Parameters
    ----------
    data : Pairs or StreamedPairs
        The pairs.
    fraction : float
        About which fraction of the pairs to hold out.
    seed : int
        Seed of the draw.

    Returns
    -------
    training : Pairs or StreamedPairs
        In the form of ``data``.
    held_out : Pairs
        In memory; of a stream at most 100,000.

    Raises
    ------
    ValueError
        If there are too few pairs.
    """
    if isinstance(data, StreamedPairs):
        chosen = torch.rand(len(data.items), generator=generator(seed, "held out")) < fraction_of_items(fraction)
        return data.without(chosen), data.sample(SAMPLED, seed, touching=chosen)
    training, held_out = hold_out_items(data, fraction, seed)
    if len(training) < 2 or len(held_out) < 2:
        raise ValueError(f"{len(data)} pairs are too few to hold some of them out; add pairs.")
    return data[training], data[held_out]


def item_disjoint_folds(pairs: Pairs, n_folds: int, seed: int) -> list[tuple[_Rows, _Rows]]:
    """Return the rows of the training and the held-out pairs of each fold of items.

    If the graph of compared items has many small connected components, whole components are drawn: every pair is then
    held out once, and all others are training pairs. Otherwise items are drawn, and all pairs that touch them are held
    out. A fold that leaves less than half of the expected number of pairs for training, because it has an item of most
    pairs, is left out.

    Parameters
    ----------
    pairs : Pairs
        n pairs.
    n_folds : int
        The number of folds, at least 2.
    seed : int
        Seed of the draw.

    Returns
    -------
    list of tuples of two arrays of int64
        At most ``n_folds``; empty if there are too few items.

    Examples
    --------
    >>> pairs = Pairs(np.eye(100), left=range(0, 100, 2), right=range(1, 100, 2))
    >>> [(len(training), len(held_out)) for training, held_out in item_disjoint_folds(pairs, 5, seed=0)]
    [(40, 10), (40, 10), (40, 10), (40, 10), (40, 10)]
    """
    ends = fold_units(pairs, n_folds)
    order = torch.randperm(len(ends.units), generator=generator(seed, "folds of units")).numpy()
    least = _LEAST_TRAINING * (1 - 1 / n_folds) ** 2 * len(pairs)
    folds = []
    for fold in np.array_split(ends.units[order], n_folds):
        training, held_out = ends.split(fold)
        if len(held_out) and len(training) >= least:
            folds.append((training, held_out))
    return folds


@dataclass(frozen=True, eq=False)
class FoldUnits:
    """What folds of pairs hold out as a whole: items, or connected components of compared items.

    Attributes
    ----------
    left, right : arrays of shape (n,)
        The unit of the first and of the second item of each pair; the same for components.
    units : array of shape (u,)
        The different units, sorted.
    are_components : bool
        Whether the units are components.
    """

    left: _Rows
    right: _Rows
    units: _Rows
    are_components: bool

    def split(self, held_out: _Rows) -> tuple[_Rows, _Rows]:
        """Return the rows of the pairs that touch no held-out unit, and of those that touch one."""
        part = assign_parts(held_out, [len(held_out)], count=int(self.units[-1]) + 1)
        training, test = split_by_part(self.left, self.right, part)
        return training, test


def fold_units(pairs: Pairs, n_folds: int) -> FoldUnits:
    """Return connected components if the graph of compared items has many small ones, otherwise items.

    Items of one component often share more than their features describe, such as versions of one headline, or
    arguments on one topic. Held-out items of a component that is trained on are then easier to predict than items of a
    new one. Folds of components also leave more pairs for training.

    Parameters
    ----------
    pairs : Pairs
        n pairs.
    n_folds : int
        The number of folds. A component must have at most half of the pairs of a fold.

    Examples
    --------
    >>> fold_units(Pairs(np.eye(8), left=[0, 2, 4, 6], right=[1, 3, 5, 7]), 2).units
    array([0, 1, 2, 3])
    """
    component = pairs.components()
    sizes = np.bincount(component)
    left = pairs.left.numpy()
    right = pairs.right.numpy()
    if sizes.max() * n_folds > _LARGE_COMPONENT * len(pairs):
        return FoldUnits(left=left, right=right, units=np.unique([left, right]), are_components=False)
    return FoldUnits(left=component, right=component, units=np.arange(len(sizes)), are_components=True)


class ItemKFold:
    """Cross-validate over folds of items: a fold is tested on the pairs that touch its items.

    No pair of the training set touches these items. A pair with items of two folds is tested in both. Folds of pairs
    would test on items that other pairs of the training set contain, and overestimate the model. If the compared items
    form many small connected components, a fold consists of whole components, see :func:`fold_units`.

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
        ends = fold_units(pairs, self.n_splits)
        order = torch.randperm(len(ends.units), generator=generator(self.seed, "folds of items")).numpy()
        for fold in np.array_split(ends.units[order], self.n_splits):
            training, test = ends.split(fold)
            if not len(training) or not len(test):
                n_items = len(torch.unique(torch.stack([pairs.left, pairs.right])))
                raise ValueError(
                    f"{n_items} items are too few for {self.n_splits} folds: one has no training or test pairs."
                )
            yield training, test
