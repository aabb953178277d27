"""Define the class of data sets that people have compared, and make it of columns."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs import Pairs

_Rows = NDArray[np.int64]
_Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class ComparisonDataset:
    """N items that people compared in n pairs: no classes, only graded judgements.

    Fields that the publishers do not provide are None.

    Parameters
    ----------
    name : str
        Its name in :data:`~confdiff.datasets.DATASETS`.
    ids : tuple of str
        The id of each item.
    left, right : arrays of shape (n,)
        The rows of the two items of each pair.
    difference : array of shape (n,)
        How much more the second item has of what was judged, from -1 to 1. It is a strength of preference on the scale
        of the data set, not a difference of posteriors.
    texts : tuple of str or None
        The text of each item.
    features : array of shape (N, d) or None
        The features of each item, named ``feature_names``.
    feature_names : tuple of str or None
        The names of the features.
    annotator : array of shape (n,) or None
        Who judged each pair, as numbers from 0 in the order of ``annotator_names``.
    annotator_names : tuple of str
        The names of annotators 0, 1, ...
    side : array of shape (n,) or None
        1 if the left item was shown first (or had the advantage of the side), -1 if the right one, 0 if neither.
    group : array of shape (n,) or None
        The group of each pair, in the order of ``group_names``; pairs were made inside groups only.
    group_names : tuple of str
        The names of groups 0, 1, ...
    block : array of shape (n,) or None
        Pairs of one block are not independent: hold out whole blocks.
    votes : array of shape (n, 3) or None
        Number of people who preferred the left item, the right one, or neither.
    verdict : array of shape (n,) or None
        The publishers' verdict: -1 (left), 1 (right), 0 (neither) or NaN (none).
    part : array of shape (n,) or None
        The published split, such as "train" and "test".
    date : array of shape (n,) or None
        The day of each comparison.
    reference : array of shape (N,) or None
        An independent score of each item, on any scale, to compare a ranking with.
    licence, citation : str
        The licence, and the publication to cite.

    Examples
    --------
    >>> data = of_ids("tea", ["a", "b"], ["b", "c"], [0.5, -1.0], annotator=["Ann", "Bob"])
    >>> data
    ComparisonDataset(tea: 2 judged pairs of 3 items by 2 annotators)
    >>> data.left, data.annotator_names
    (array([0, 1]), ('Ann', 'Bob'))
    """

    name: str
    ids: tuple[str, ...]
    left: _Rows
    right: _Rows
    difference: _Numbers
    texts: tuple[str, ...] | None = None
    features: NDArray[np.float32] | None = None
    feature_names: tuple[str, ...] | None = None
    annotator: _Rows | None = None
    annotator_names: tuple[str, ...] = ()
    side: _Rows | None = None
    group: _Rows | None = None
    group_names: tuple[str, ...] = ()
    block: _Rows | None = None
    votes: _Rows | None = None
    verdict: _Numbers | None = None
    part: NDArray[np.str_] | None = None
    date: NDArray[np.datetime64] | None = None
    reference: _Numbers | None = None
    licence: str = ""
    citation: str = ""

    def __len__(self) -> int:
        return len(self.left)

    def __repr__(self) -> str:
        groups = f" in {len(self.group_names)} groups" if self.group is not None else ""
        people = f" by {len(self.annotator_names)} annotators" if self.annotator is not None else ""
        return f"ComparisonDataset({self.name}: {len(self)} judged pairs of {len(self.ids)} items{groups}{people})"

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs over the features of the items."""
        if self.features is None:
            raise ValueError(f"the items of {self.name} have no features; pass some to with_items().")
        return self.with_items(self.features, feature_names=self.feature_names)

    def with_items(self, items: Any, *, feature_names: Sequence[str] | None = None) -> Pairs:
        """Return the pairs over a matrix of features, with one row per item.

        Parameters
        ----------
        items : array of shape (N, d)
            The features of each item, in the order of ``ids``.
        feature_names : sequence of str, optional
            The names of the columns.

        Returns
        -------
        Pairs
        """
        if len(items) != len(self.ids):
            raise ValueError(f"items must have one row per item of {self.name}, {len(self.ids):,}; got {len(items):,}.")
        return Pairs(
            items,
            self.left,
            self.right,
            self.difference,
            group=self.group,
            annotator=None if self.annotator is None else np.array(self.annotator_names)[self.annotator],
            side=self.side,
            feature_names=None if feature_names is None else tuple(feature_names),
        )


def of_ids(
    name: str,
    left: Iterable[str],
    right: Iterable[str],
    difference: Any,
    *,
    annotator: Sequence[str] | None = None,
    group: Sequence[str] | None = None,
    block: Sequence[str] | None = None,
    texts: dict[str, str] | None = None,
    reference: dict[str, float] | None = None,
    **columns: Any,
) -> ComparisonDataset:
    """Make a data set of columns of ids; items, annotators and groups are sorted.

    Parameters
    ----------
    name : str
        Name of the data set.
    left, right : iterables of str
        The ids of the two items of each pair.
    difference : array-like of shape (n,)
        The differences.
    annotator, group, block : sequences of str, optional
        The annotator, group and block of each pair.
    texts, reference : dict, optional
        The text and the independent score of each id; a score may be missing.
    **columns
        Other fields of :class:`ComparisonDataset`.
    """
    first = list(left)
    second = list(right)
    ids, ends = np.unique(np.array(first + second), return_inverse=True)
    coded: dict[str, Any] = {}
    for field, values in (("annotator", annotator), ("group", group)):
        if values is not None:
            names, codes = np.unique(np.array(values), return_inverse=True)
            coded[field] = codes.astype(np.int64)
            coded[f"{field}_names"] = tuple(names.tolist())
    if block is not None:
        coded["block"] = np.unique(np.array(block), return_inverse=True)[1].astype(np.int64)
    names = ids.tolist()
    return ComparisonDataset(
        name=name,
        ids=tuple(names),
        left=ends[: len(first)].astype(np.int64),
        right=ends[len(first) :].astype(np.int64),
        difference=np.asarray(difference, dtype=np.float64),
        texts=None if texts is None else tuple(texts[item] for item in names),
        reference=None if reference is None else np.array([reference.get(item, np.nan) for item in names]),
        **coded,
        **columns,
    )
