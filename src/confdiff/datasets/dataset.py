"""Define the class of data sets of labelled items."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.validation import check_choice


def list_names(names: Sequence[str], chosen: Sequence[int]) -> str:
    """Return the names of classes as a phrase.

    >>> list_names("ABCDEFGHIJ", [0, 2]), list_names("ABCDEFGHIJ", range(9))
    ('A, C', 'A to I')
    """
    is_run = len(chosen) > 6 and list(chosen) == list(range(chosen[0], chosen[-1] + 1))
    return f"{names[chosen[0]]} to {names[chosen[-1]]}" if is_run else ", ".join(names[k] for k in chosen)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Items with class labels, and the classes that count as positive.

    Parameters
    ----------
    name : str
        Its name in :data:`~confdiff.datasets.DATASETS`.
    items : array of shape (N, d)
        The features, in the type in which they are published (pixels are bytes).
    classes : array of shape (N,)
        The original classes, as numbers.
    class_names : tuple of str
        The names of classes 0, 1, ...
    positive : tuple of int
        The classes that count as positive.
    n_train : int or None
        The number of items in the published training set, which come first; None if a split is drawn.
    votes : array of shape (N, K) or None
        Number of people who chose each class, if people were asked.
    picture : callable or None
        Converts one item to a picture; None if items are not pictures.
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
        """The positive classes, as a phrase."""
        return f"{list_names(self.class_names, self.positive)} against the rest"

    @cached_property
    def labels(self) -> NDArray[np.float32]:
        """The binary labels, (N,): 1 where the class is positive, otherwise 0."""
        return np.isin(self.classes, self.positive).astype(np.float32)

    @property
    def class_posteriors(self) -> NDArray[np.float64] | None:
        """The fraction of the votes that each class received, (N, K), if people were asked."""
        return None if self.votes is None else self.votes / self.votes.sum(axis=1, keepdims=True)

    @property
    def posteriors(self) -> NDArray[np.float32] | None:
        """The fraction of the votes for a positive class, (N,), if people were asked."""
        posteriors = self.class_posteriors
        if posteriors is None:
            return None
        positive: NDArray[np.float64] = posteriors[:, list(self.positive)].sum(axis=1)
        return positive.clip(0, 1).astype(np.float32)

    def with_positive(self, *names: str) -> "Dataset":
        """Return the same items with other positive classes.

        >>> from confdiff.datasets import load
        >>> int(load("digits").with_positive("3", "8").labels.sum())
        357
        """
        positive = {self.class_names.index(check_choice("class", name, self.class_names)) for name in names}
        if not 0 < len(positive) < len(self.class_names):
            count = f"{len(positive)} of {len(self.class_names)}"
            raise ValueError(f"some classes must be positive and some negative; got {count} as positive.")
        return replace(self, positive=tuple(sorted(positive)))
