"""Pairs of items with what is known about them. Items are stored once; a pair is two row numbers.

Orientation: c is the confidence of the second item minus that of the first, c = p(+|x') - p(+|x).
"""

import copy
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from confdiff.io.lookup import rows_of_labels
from confdiff.randomness import generator
from confdiff.validation import (
    as_array,
    as_tensor,
    check_difference,
    check_difference_vectors,
    check_finite,
    check_groups,
    check_items,
    check_labels,
    check_posteriors,
    check_rows,
    check_weight,
    column_names,
    no_pairs,
)

Supervision = Literal["differences", "order", "labels", "posteriors"]
"""What a method can learn from. ``order``: the first item of each pair is said to be at least as positive."""

PAIR_FIELDS = ("left", "right", "difference", "weight", "group")
ITEM_FIELDS = ("posteriors", "labels")


class Pairs:
    """n pairs over N items. Not meant to be changed: methods that change something give a new object.

    items: (N, d) features, stored once. A tensor is kept as it is, of any type and shape (N, ...); anything else
        is read as a matrix of floats, in the precision in which it comes.
    left, right: (n,) row numbers of the first and second item of each pair.
    difference: (n,) confidence differences in [-1, 1], or (n, K), one for each of K classes, which add up to 0.
    weight: (n,) how much each pair counts; scaled to a mean of 1.
    group: (n,) which group each pair lies in, for pairs drawn inside groups (one user, one topic).
    posteriors, labels: (N,) what oracles know about each item; labels as 0/1 or -1/+1. With K classes posteriors
        are (N, K), and labels whole numbers from 0 to K - 1.
    feature_names: the columns of the items, where they have names (those of a data frame are found).

    >>> pairs = Pairs([[0.0], [1.0], [2.0]], left=[0, 1], right=[1, 2], difference=[0.3, 0.4])
    >>> pairs[1:]
    Pairs(1 pair over 3 items of shape (1,), with difference)
    """

    items: Tensor
    left: Tensor
    right: Tensor
    difference: Tensor | None
    weight: Tensor | None
    group: Tensor | None
    posteriors: Tensor | None
    labels: Tensor | None
    feature_names: tuple[str, ...] | None
    ordering: str | None = None
    """How the pairs were ordered by their labels, where they were: a name from STRATEGIES."""

    def __init__(
        self,
        items: Any,
        left: ArrayLike,
        right: ArrayLike,
        difference: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        posteriors: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        feature_names: tuple[str, ...] | None = None,
    ) -> None:
        self.items = _items(items)
        size = len(self.items)
        self.left = as_tensor(check_rows("left", left, size))
        n = len(self.left)
        if n == 0:
            raise no_pairs()
        self.right = as_tensor(check_rows("right", right, size, n))
        self.difference = None if difference is None else as_tensor(_differences(difference, n))
        self.weight = None if weight is None else as_tensor(check_weight(weight, n))
        self.group = None if group is None else as_tensor(check_groups(group, n))
        self.posteriors = None if posteriors is None else as_tensor(check_posteriors(posteriors, size))
        if self.difference is not None and self.posteriors is not None and self.difference.ndim != self.posteriors.ndim:
            raise _mixed()
        self.labels = None if labels is None else as_tensor(check_labels(labels, size, self.n_classes))
        self.feature_names = feature_names or column_names(items)

    @classmethod
    def from_array(cls, pairs: ArrayLike, difference: ArrayLike | None = None, **known: Any) -> "Pairs":
        """Pairs given by their features: an (n, 2, d) array."""
        array = as_array("pairs", pairs)
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(f"pairs must have shape (n, 2, d): two items of d features each; got {array.shape}.")
        n, _, d = array.shape
        if n == 0:
            raise no_pairs()
        rows = np.arange(2 * n)
        return cls(array.reshape(2 * n, d), rows[0::2], rows[1::2], difference, **known)

    @classmethod
    def from_rows(cls, rows: ArrayLike, items: Any, difference: ArrayLike | None = None, **known: Any) -> "Pairs":
        """Pairs given as an (n, 2) table of row numbers into ``items``.

        Where ``items`` is a pandas data frame, the table holds labels of its index (ids) instead.
        """
        if hasattr(items, "columns"):
            left, right = _rows_in_frame(rows, items)
        else:
            table = as_array("pairs", rows)
            if table.ndim != 2 or table.shape[1] != 2:
                raise _not_two_columns(table.shape)
            left, right = table.T
        return cls(items, left, right, difference, **known)

    @classmethod
    def from_two(cls, x: Any, x_prime: Any, difference: ArrayLike | None = None, **known: Any) -> "Pairs":
        """Pairs given as two aligned matrices: row i of ``x`` goes with row i of ``x_prime``."""
        if column_names(x) != column_names(x_prime):
            raise ValueError(f"x and x' must have the same columns; got {column_names(x)} and {column_names(x_prime)}.")
        first, second = check_items("x", x), check_items("x'", x_prime)
        if first.shape != second.shape:
            raise ValueError(f"x and x' must have the same shape; got {first.shape} and {second.shape}.")
        n = len(first)
        known = {"feature_names": column_names(x), **known}
        return cls(np.concatenate([first, second]), np.arange(n), np.arange(n, 2 * n), difference, **known)

    def __repr__(self) -> str:
        known = [name for name in ("difference", *ITEM_FIELDS, "weight", "group") if getattr(self, name) is not None]
        count = f"{len(self)} pair{'s' if len(self) != 1 else ''} over {len(self.items)} items"
        shape = tuple(self.items.shape[1:])
        return f"Pairs({count} of shape {shape}, with {', '.join(known) or 'nothing known'})"

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_classes(self) -> int:
        """2, or K where differences or posteriors are given for each of K classes."""
        known = {
            value.shape[1] for value in (self.difference, self.posteriors) if value is not None and value.ndim == 2
        }
        if len(known) > 1:
            raise ValueError(f"differences and posteriors must be of the same classes; got {sorted(known)} of them.")
        return known.pop() if known else 2

    @property
    def has_vectors(self) -> bool:
        """Whether what is known is a vector with an entry for each class, not one number for the positive class."""
        return any(value is not None and value.ndim == 2 for value in (self.difference, self.posteriors))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, 2), as scikit-learn asks for before it splits."""
        return len(self), 2

    def __getitem__(self, index: Any) -> "Pairs":
        """The pairs chosen by a slice, row numbers or a mask; the items are shared, not copied."""
        if isinstance(index, tuple):  # scikit-learn asks for pairs[index, ...]
            index, *rest = index
            if any(part is not ... and part != slice(None) for part in rest):
                raise ValueError("pairs are chosen by one index; their items are pairs.items[pairs.left] and so on.")
        chosen = torch.from_numpy(np.arange(len(self))[index].reshape(-1).copy())
        if len(chosen) == 0:
            raise no_pairs()
        return self._with(**{name: value[chosen] for name, value in self._per_pair().items()})

    def targets(self, supervision: Supervision) -> Tensor:
        """What a method learns from, a row for each argument of its risk.

        (1, n) differences, (2, n) labels or posteriors of both items, (0, n) for the order, which the pairs have.
        With K classes each of them has a last axis of K; labels are then 1 at their class and 0 elsewhere.
        """
        if supervision not in get_args(Supervision):
            raise ValueError(f"unknown supervision {supervision!r}.")
        if supervision == "order":
            return torch.empty(0, len(self))
        known = {"differences": self.difference, "labels": self.labels, "posteriors": self.posteriors}[supervision]
        if known is None:
            raise _missing(supervision)
        if supervision == "labels" and self.has_vectors:
            known = torch.nn.functional.one_hot(known.long(), self.n_classes).float()
        return known[None] if supervision == "differences" else known[torch.stack([self.left, self.right])]

    def shuffled_orientation(self, seed: int) -> "Pairs":
        """The same pairs, each with its two items in an order that a coin decides.

        Corrected risks need this: where the better item always stands second, two of their four terms are negative
        in expectation. The result does not depend on the order in which the items of a pair came (but for ties):
        every pair is first turned so that the better item stands second, then the coin is tossed.
        """
        if self.difference is None:
            raise _missing("differences")
        coin = torch.rand(len(self), generator=generator(seed, "orientation")) < 0.5
        return self.oriented(coin ^ (_leading(self.difference) < 0))

    def oriented(self, swap: Tensor) -> "Pairs":
        """The same pairs, with the two items of those marked in ``swap`` exchanged; (x, x', c) becomes (x', x, -c)."""
        difference = self.difference
        turned = swap if difference is None or difference.ndim == 1 else swap[:, None]
        return self._with(
            left=torch.where(swap, self.right, self.left),
            right=torch.where(swap, self.left, self.right),
            difference=None if difference is None else torch.where(turned, -difference, difference),
        )

    def compact(self) -> "Pairs":
        """The same pairs over those items alone that stand in one of them, in the order in which these were."""
        used, rows = torch.unique(torch.stack([self.left, self.right]), return_inverse=True)
        kept = {name: getattr(self, name)[used] for name in ITEM_FIELDS if getattr(self, name) is not None}
        return self._with(items=self.items[used], left=rows[0], right=rows[1], **kept)

    def graded_by(self, posteriors: ArrayLike) -> "Pairs":
        """The same pairs with the differences c = r(x') - r(x) of these posteriors, which are kept for oracles."""
        r = as_tensor(check_posteriors(posteriors, len(self.items)))
        return self._with(posteriors=r, difference=r[self.right] - r[self.left])

    def of_class(self, *classes: int) -> "Pairs":
        """The same pairs with one number each: whether an item is of this class or, of two, of the second of them.

        For one class k that is the binary problem "k or another". For two classes j, k it is the comparison of their
        posteriors: q = (1 + p_k - p_j) / 2 lies in [0, 1], is above 1/2 where k is the likelier of the two, and its
        differences are (c_k - c_j) / 2.
        """
        if not self.has_vectors:
            raise ValueError("these pairs know of two classes only; there is none to pick out.")
        picked = {
            name: None if value is None else _picked(value, classes, offset)
            for name, value, offset in (("difference", self.difference, 0.0), ("posteriors", self.posteriors, 0.5))
        }
        return self._with(**picked, labels=None if self.labels is None else (self.labels == classes[-1]).float())

    def with_truth(self, posteriors: ArrayLike, labels: ArrayLike) -> "Pairs":
        """The same pairs and differences, with what oracles know of the items."""
        r, size = as_tensor(check_posteriors(posteriors, len(self.items))), len(self.items)
        if self.difference is not None and self.difference.ndim != r.ndim:
            raise _mixed()
        known = self._with(posteriors=r, labels=None)
        return known._with(labels=as_tensor(check_labels(labels, size, known.n_classes)))

    def with_ordering(self, strategy: str) -> "Pairs":
        """The same pairs, known to be ordered by their labels in this way."""
        other = copy.copy(self)
        other.ordering = strategy
        return other

    def with_difference(self, difference: Tensor) -> "Pairs":
        """The same pairs, graded otherwise. The differences are taken as they are, also beyond [-1, 1]."""
        return self._with(difference=difference)

    def n_components(self) -> int:
        """Into how many parts the graph falls whose nodes are the compared items and whose edges are the pairs."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        nodes, edges = np.unique(torch.stack([self.left, self.right]).numpy(), return_inverse=True)
        left, right = edges.reshape(2, -1)
        graph = coo_array((np.ones(len(self), dtype=bool), (left, right)), shape=(len(nodes), len(nodes)))
        return int(connected_components(graph, directed=False)[0])

    def with_items(self, items: Any, feature_names: tuple[str, ...] | None = None) -> "Pairs":
        """The same pairs over other features of the same items (scaled, encoded, ...)."""
        if len(items) != len(self.items):
            raise ValueError(f"the new items must be as many as the old ones, {len(self.items)}; got {len(items)}.")
        other = self._with(items=_items(items))
        other.feature_names = feature_names or column_names(items)
        return other

    def _per_pair(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in PAIR_FIELDS if getattr(self, name) is not None}

    def _with(self, **changes: Tensor | None) -> "Pairs":
        """A copy with changes that are known to be valid, without checking everything again."""
        other = copy.copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other


def _missing(supervision: Supervision) -> ValueError:
    remedy = {
        "differences": "Pass c to fit, or difference= to Pairs",
        "labels": "Pass labels= to Pairs",
        "posteriors": "Pass posteriors= to Pairs",
    }[supervision]
    return ValueError(f"these pairs carry no {supervision}, and the method learns from them. {remedy}.")


def _differences(values: ArrayLike, n: int) -> NDArray[np.float32]:
    """Numbers for the positive class, or vectors with an entry for each class."""
    array = as_array("c", values)
    return check_difference_vectors(array, n) if array.ndim == 2 and array.shape[1] > 1 else check_difference(array, n)


def _leading(difference: Tensor) -> Tensor:
    """(n,) the differences, or of vectors the entries that are largest in size: by their signs pairs are turned."""
    if difference.ndim == 1:
        return difference
    return difference.gather(1, difference.abs().argmax(dim=1, keepdim=True))[:, 0]


def _picked(value: Tensor, classes: tuple[int, ...], offset: float) -> Tensor:
    """The column of one class; of two classes half the difference of their columns, moved by an offset."""
    return value[:, classes[0]] if len(classes) == 1 else (value[:, classes[1]] - value[:, classes[0]]) / 2 + offset


def _mixed() -> ValueError:
    return ValueError(
        "differences and posteriors must both be those of the positive class, or both have a column for each class; "
        "of predict_proba, pass [:, 1] for two classes."
    )


def _items(items: Any) -> Tensor:
    if not isinstance(items, Tensor):
        return as_tensor(check_items("items", items))
    if items.ndim < 2 or 0 in items.shape:
        raise ValueError(f"items must hold at least one item, shape (N, d) or (N, ...); got {tuple(items.shape)}.")
    if items.is_floating_point():
        check_finite("items", as_array("items", items))
    return items.detach()


def _not_two_columns(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"pairs must have shape (n, 2): two rows of the items each; got {shape}.")


def _rows_in_frame(ids: Any, frame: Any) -> list[NDArray[np.int64]]:
    """The row numbers of two columns of ids, looked up in the index of a data frame."""
    if not frame.index.is_unique:
        repeated = frame.index[frame.index.duplicated()][0]
        raise ValueError(f"the index of the items must hold each id once; {repeated!r} occurs more than once.")
    table = np.asarray(ids, dtype=object)  # ids keep their types, also where these are mixed
    if table.ndim != 2 or table.shape[1] != 2:
        raise _not_two_columns(table.shape)
    return [
        rows_of_labels(frame.index, column, name=f"pairs, {side} column")
        for side, column in zip(("first", "second"), table.T, strict=True)
    ]
