"""What a data set is: labelled items, or items that people have compared."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs
from confdiff.validation import check_choice


def list_names(names: Sequence[str], chosen: Sequence[int]) -> str:
    """Names of classes in words.

    >>> list_names("ABCDEFGHIJ", [0, 2]), list_names("ABCDEFGHIJ", range(9))
    ('A, C', 'A to I')
    """
    run = len(chosen) > 6 and list(chosen) == list(range(chosen[0], chosen[-1] + 1))
    return f"{names[chosen[0]]} to {names[chosen[-1]]}" if run else ", ".join(names[k] for k in chosen)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items with class labels, and the classes that count as positive.

    items: (N, d) features, in the type in which they are published (pixels are bytes).
    classes: (N,) the original classes, as numbers.
    class_names: what class 0, 1, ... is called.
    positive: the classes that are called positive.
    n_train: the first so many items are the published training part; None where there is none, and one is drawn.
    votes: (N, K) how many people gave each class, where people were asked.
    picture: makes a picture of one row of items, where it is one.
    """

    name: str
    items: NDArray[Any]
    classes: NDArray[np.uint8]
    class_names: tuple[str, ...]
    positive: tuple[int, ...]
    n_train: int | None = None
    votes: NDArray[np.int64] | None = None
    picture: Callable[[NDArray[Any]], NDArray[Any]] | None = None

    def __repr__(self) -> str:
        return f"Dataset({self.name}: {len(self.items)} items of {self.items.shape[1]} features, {self.partition})"

    @property
    def partition(self) -> str:
        """Which classes are positive, in words."""
        return f"{list_names(self.class_names, self.positive)} against the rest"

    @cached_property
    def labels(self) -> NDArray[np.float32]:
        """(N,) 1 where the class is a positive one, else 0."""
        return np.isin(self.classes, self.positive).astype(np.float32)

    @property
    def class_posteriors(self) -> NDArray[np.float64] | None:
        """(N, K) the share of the votes that each class got, where people were asked."""
        return None if self.votes is None else self.votes / self.votes.sum(axis=1, keepdims=True)

    @property
    def posteriors(self) -> NDArray[np.float32] | None:
        """(N,) the share of the votes for a positive class, where people were asked."""
        shares = self.class_posteriors
        return None if shares is None else shares[:, list(self.positive)].sum(axis=1).clip(0, 1).astype(np.float32)

    def with_positive(self, *names: str) -> "Dataset":
        """The same items with other classes called positive.

        >>> from confdiff.datasets import load
        >>> int(load("digits").with_positive("3", "8").labels.sum())
        357
        """
        known = {self.class_names.index(check_choice("class", name, self.class_names)) for name in names}
        if not 0 < len(known) < len(self.class_names):
            raise ValueError(
                f"some classes must be positive and some not; got {len(known)} of {len(self.class_names)}."
            )
        return replace(self, positive=tuple(sorted(known)))


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Items that people compared in pairs: no classes, only graded judgements.

    pairs: the pairs with their differences; groups are those inside which pairs were made.
    votes: (n, 3) how many people preferred the first item, the second, neither.
    texts, ids: what the items are, and what they are called.
    group_names: what group 0, 1, ... is called.
    gold: (n,) the verdict that the publishers estimated: "a1", "a2", "equal" or "" (none).
    """

    name: str
    pairs: Pairs
    votes: NDArray[np.int64]
    texts: tuple[str, ...]
    ids: tuple[str, ...]
    group_names: tuple[str, ...]
    gold: NDArray[np.str_]

    def __repr__(self) -> str:
        groups = f"{len(self.group_names)} groups"
        return f"Comparisons({self.name}: {len(self.pairs)} judged pairs of {len(self.ids)} items in {groups})"
