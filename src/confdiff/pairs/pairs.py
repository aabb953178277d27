"""Define pairs of items. Items are stored once; a pair is two row numbers.

Orientation: c is the confidence of the second item minus that of the first, c = p(+|x') - p(+|x).
"""

import copy
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from confdiff.io.lookup import rows_of_labels
from confdiff.pairs.sparse import Items, SparseItems
from confdiff.randomness import generator
from confdiff.validation import (
    as_array,
    as_tensor,
    check_annotators,
    check_difference,
    check_difference_beside,
    check_difference_vectors,
    check_finite,
    check_groups,
    check_items,
    check_labels,
    check_matrix,
    check_posteriors,
    check_rows,
    check_same,
    check_side,
    check_sparse_items,
    check_weight,
    column_names,
    is_sparse,
    no_pairs,
)

Supervision = Literal["differences", "order", "labels", "posteriors", "same", "differences and same", "order and same"]
"""Kinds of supervision. ``order``: the first item of each pair is at least as positive as the second. ``same``: answers
whether both items are of the same class. In ``order and same``, pairs without an answer are the ordered ones."""

PAIR_FIELDS = ("left", "right", "difference", "same", "weight", "group", "annotator", "side", "precision")
ITEM_FIELDS = ("posteriors", "labels")


class Pairs:
    """n pairs over N items. The object is immutable: methods that change something return a new one.

    Parameters
    ----------
    items : array-like or sparse matrix of shape (N, d)
        The features, stored once. A tensor of any type and shape (N, ...) is stored as it is. A SciPy sparse matrix
        becomes :class:`~confdiff.pairs.sparse.SparseItems`, 32-bit floats that are made dense batch by batch. Other
        values are read as a matrix of floats and keep their precision.
    left, right : array-like of shape (n,)
        The row numbers of the first and the second item of each pair.
    difference : array-like of shape (n,) or (n, K), optional
        Confidence differences in [-1, 1]; with K classes one for each class, and each row sums to 0. An entry may be
        NaN where ``same`` has an answer.
    weight : array-like of shape (n,), optional
        The weight of each pair; scaled to a mean of 1.
    group : array-like of shape (n,), optional
        The group of each pair, for pairs drawn inside groups (one user, one topic).
    annotator : array-like of shape (n,), optional
        The name of the annotator of each pair, of any type. Stored as indices into ``annotator_names``.
    side : array-like of shape (n,), optional
        Which item was shown first: 1 for the first item of the pair, -1 for the second, 0 where that is not known.
    same : array-like of shape (n,), optional
        Answers whether both items are of the same class: probabilities, or 0 and 1; NaN where this was not asked.
    posteriors : array-like of shape (N,) or (N, K), optional
        The posterior of each item, for oracles.
    labels : array-like of shape (N,), optional
        The label of each item, for oracles: 0/1 or -1/+1, or with K classes whole numbers from 0 to K - 1.
    feature_names : tuple of str, optional
        The names of the features; by default the columns of a data frame.
    allow_missing : bool, default=False
        Whether features may be NaN. Boosted trees take missing values, and so does an imputer in a pipeline.

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0], [2.0]], left=[0, 1], right=[1, 2], difference=[0.3, 0.4])
    >>> pairs[1:]
    Pairs(1 pair over 3 items of shape (1,), with difference)
    """

    items: Items
    left: Tensor
    right: Tensor
    difference: Tensor | None
    same: Tensor | None
    weight: Tensor | None
    group: Tensor | None
    annotator: Tensor | None
    side: Tensor | None
    annotator_names: tuple[Any, ...] | None
    posteriors: Tensor | None
    labels: Tensor | None
    feature_names: tuple[str, ...] | None
    allow_missing: bool
    precision: Tensor | None = None
    """Relative precision of each difference, see :meth:`with_precision`; None if all are equally precise."""
    ordering: str | None = None
    """Strategy by which the pairs were ordered by their labels, a name from STRATEGIES; None if they were not."""

    def __init__(
        self,
        items: Any,
        left: ArrayLike,
        right: ArrayLike,
        difference: ArrayLike | None = None,
        *,
        weight: ArrayLike | None = None,
        group: ArrayLike | None = None,
        annotator: ArrayLike | None = None,
        side: ArrayLike | None = None,
        same: ArrayLike | None = None,
        posteriors: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        feature_names: tuple[str, ...] | None = None,
        allow_missing: bool = False,
    ) -> None:
        self.allow_missing = allow_missing
        self.items = _items(items, allow_missing)
        size = len(self.items)
        self.left = as_tensor(check_rows("left", left, size))
        n = len(self.left)
        if n == 0:
            raise no_pairs()
        self.right = as_tensor(check_rows("right", right, size, n))
        self.same = None if same is None else as_tensor(check_same(same, n))
        self.difference = None if difference is None else as_tensor(_differences(difference, n, self.same))
        self.weight = None if weight is None else as_tensor(check_weight(weight, n))
        self.group = None if group is None else as_tensor(check_groups(group, n))
        self.annotator, self.annotator_names = None, None
        if annotator is not None:
            codes, self.annotator_names = check_annotators(annotator, n)
            self.annotator = as_tensor(codes)
        self.side = None if side is None else as_tensor(check_side(side, n))
        self.posteriors = None if posteriors is None else as_tensor(check_posteriors(posteriors, size))
        if self.difference is not None and self.posteriors is not None and self.difference.ndim != self.posteriors.ndim:
            raise _mixed()
        self.labels = None if labels is None else as_tensor(check_labels(labels, size, self.n_classes))
        self.feature_names = feature_names or column_names(items)

    @classmethod
    def from_array(cls, pairs: ArrayLike, difference: ArrayLike | None = None, **fields: Any) -> "Pairs":
        """Make pairs from their features, an (n, 2, d) array."""
        array = as_array("pairs", pairs)
        if array.ndim != 3 or array.shape[1] != 2:
            raise ValueError(f"pairs must have shape (n, 2, d): two items of d features each; got {array.shape}.")
        n, _, d = array.shape
        if n == 0:
            raise no_pairs()
        rows = np.arange(2 * n)
        return cls(array.reshape(2 * n, d), rows[0::2], rows[1::2], difference, **fields)

    @classmethod
    def from_rows(cls, rows: ArrayLike, items: Any, difference: ArrayLike | None = None, **fields: Any) -> "Pairs":
        """Make pairs from an (n, 2) table of row numbers into ``items``.

        If ``items`` is a pandas data frame, the table holds labels of its index (ids) instead.
        """
        if hasattr(items, "columns"):
            left, right = _rows_in_frame(rows, items)
        else:
            table = as_array("pairs", rows)
            if table.ndim != 2 or table.shape[1] != 2:
                raise _not_two_columns(table.shape)
            left, right = table.T
        return cls(items, left, right, difference, **fields)

    @classmethod
    def from_two(cls, x: Any, x_prime: Any, difference: ArrayLike | None = None, **fields: Any) -> "Pairs":
        """Make pairs from two aligned matrices: row i of ``x`` is paired with row i of ``x_prime``."""
        if column_names(x) != column_names(x_prime):
            raise ValueError(f"x and x' must have the same columns; got {column_names(x)} and {column_names(x_prime)}.")
        allow_missing = fields.get("allow_missing", False)
        first = check_matrix("x", x, allow_missing=allow_missing)
        second = check_matrix("x'", x_prime, allow_missing=allow_missing)
        if first.shape != second.shape:
            raise ValueError(f"x and x' must have the same shape; got {first.shape} and {second.shape}.")
        n = first.shape[0]
        fields = {"feature_names": column_names(x), **fields}
        return cls(_stacked(first, second), np.arange(n), np.arange(n, 2 * n), difference, **fields)

    def __repr__(self) -> str:
        names = ("difference", "same", *ITEM_FIELDS, "weight", "group", "annotator", "side")
        present = [name for name in names if getattr(self, name) is not None]
        count = f"{len(self)} pair{'s' if len(self) != 1 else ''} over {len(self.items)} items"
        shape = tuple(self.items.shape[1:])
        return f"Pairs({count} of shape {shape}, with {', '.join(present) or 'nothing known'})"

    def __len__(self) -> int:
        return len(self.left)

    @property
    def n_classes(self) -> int:
        """The number of classes: 2, or K if differences or posteriors have an entry for each of K classes."""
        fields = (self.difference, self.posteriors)
        counts = {value.shape[1] for value in fields if value is not None and value.ndim == 2}
        if len(counts) > 1:
            raise ValueError(f"differences and posteriors must be of the same classes; got {sorted(counts)} of them.")
        return counts.pop() if counts else 2

    @property
    def has_vectors(self) -> bool:
        """Whether differences or posteriors are vectors with an entry for each class."""
        return any(value is not None and value.ndim == 2 for value in (self.difference, self.posteriors))

    @property
    def shape(self) -> tuple[int, int]:
        """The shape (n, 2), which scikit-learn needs for splitting."""
        return len(self), 2

    def __getitem__(self, index: Any) -> "Pairs":
        """Return the pairs that a slice, row numbers or a mask select; the items are shared, not copied."""
        if isinstance(index, tuple):  # scikit-learn uses pairs[index, ...]
            index, *rest = index
            if any(part is not ... and part != slice(None) for part in rest):
                raise ValueError("pairs take one index; their first items are pairs.items[pairs.left].")
        rows = torch.from_numpy(np.arange(len(self))[index].reshape(-1).copy())
        if len(rows) == 0:
            raise no_pairs()
        return self._with(**{name: value[rows] for name, value in self._per_pair().items()})

    def targets(self, supervision: Supervision, *, is_part: bool = False) -> Tensor:
        """Return the supervision of a method, one row for each argument of its risk.

        Parameters
        ----------
        supervision : {"differences", "order", "labels", "posteriors", "same", ...}
            The kind of supervision, see :data:`Supervision`.
        is_part : bool
            Whether these are not all pairs, so that all their differences or all their answers may be missing.

        Returns
        -------
        Tensor
            (1, n) differences or same-class answers, (2, n) differences and answers, (2, n) labels or posteriors of
            both items, or (0, n) for the order, which the pairs have. With K classes each has a last axis of K; labels
            are then one-hot. Answers that were not given are NaN.
        """
        if supervision not in get_args(Supervision):
            raise ValueError(f"unknown supervision {supervision!r}.")
        if supervision == "order":
            return torch.empty(0, len(self))
        if supervision in ("same", "order and same", "differences and same"):
            kinds: tuple[Supervision, ...] = ("same",)
            if supervision == "differences and same":
                kinds = ("differences", "same")
            return torch.stack([self._answers(kind, is_part) for kind in kinds])
        values = {"differences": self.difference, "labels": self.labels, "posteriors": self.posteriors}[supervision]
        if values is None:
            raise missing_supervision(supervision)
        if supervision == "labels" and self.has_vectors:
            values = torch.nn.functional.one_hot(values.long(), self.n_classes).float()
        return values[None] if supervision == "differences" else values[torch.stack([self.left, self.right])]

    def _answers(self, supervision: Supervision, is_part: bool) -> Tensor:
        """Return differences of two classes or same-class answers, (n,), at least one of which must be given."""
        values = self.same if supervision == "same" else self.difference
        if values is None or (values.ndim == 1 and bool(values.isnan().all()) and not is_part):
            raise missing_supervision(supervision)
        if values.ndim == 2:
            raise _same_of_vectors()
        return values

    def carries(self, supervision: Supervision) -> Tensor:
        """Return for each pair, (n,), whether it has the supervision; a difference or an answer may be missing."""
        values = {"differences": self.difference, "same": self.same}.get(supervision)
        if values is None:
            return torch.ones(len(self), dtype=torch.bool)
        return ~_leading(values).isnan()

    def has(self, supervision: Supervision) -> bool:
        """Return whether any pair has a difference or an answer.

        >>> Pairs([[0.0], [1.0]], left=[0], right=[1], difference=[np.nan], same=[1]).has("differences")
        False
        """
        values = self.same if supervision == "same" else self.difference
        return values is not None and bool(self.carries(supervision).any())

    def carrying(self, supervision: Supervision) -> "Pairs":
        """Return the pairs that have the supervision: all, if no difference or answer is missing.

        Examples
        --------
        >>> pairs = Pairs([[0.0], [1.0]], left=[0, 1], right=[1, 0], difference=[0.3, np.nan], same=[np.nan, 1])
        >>> len(pairs.carrying("differences")), len(pairs.carrying("same")), len(pairs.carrying("differences and same"))
        (1, 1, 2)
        """
        mask = self.carries(supervision)
        if bool(mask.all()):
            return self
        if not bool(mask.any()):
            raise missing_supervision(supervision)
        return self[mask.numpy()]

    def shuffled_orientation(self, seed: int) -> "Pairs":
        """Return the same pairs, each with its two items in random order.

        Corrected risks need this: if the better item is always second, two of their four terms are negative in
        expectation. First the better item of every pair is put second, then pairs are swapped at random. The result
        therefore does not depend on the original order of the items, except for ties.
        """
        if self.difference is None:
            raise missing_supervision("differences")
        coin = torch.rand(len(self), generator=generator(seed, "orientation")) < 0.5
        return self.oriented(coin ^ (_leading(self.difference) < 0))

    def oriented(self, swap: Tensor) -> "Pairs":
        """Return the same pairs, with those marked in ``swap`` (n,) swapped: (x, x', c) becomes (x', x, -c).

        The side on which the items were shown changes its sign, too. Answers about the same class do not change.
        """
        difference = self.difference
        mask = swap if difference is None or difference.ndim == 1 else swap[:, None]
        return self._with(
            left=torch.where(swap, self.right, self.left),
            right=torch.where(swap, self.left, self.right),
            difference=None if difference is None else torch.where(mask, -difference, difference),
            side=None if self.side is None else torch.where(swap, -self.side, self.side),
        )

    def compact(self) -> "Pairs":
        """Return the same pairs without the items that occur in none of them; the others keep their order."""
        used, rows = torch.unique(torch.stack([self.left, self.right]), return_inverse=True)
        fields = {name: getattr(self, name)[used] for name in ITEM_FIELDS if getattr(self, name) is not None}
        return self._with(items=self.items[used], left=rows[0], right=rows[1], **fields)

    def graded_by(self, posteriors: ArrayLike) -> "Pairs":
        """Return the same pairs with these posteriors and their differences c = r(x') - r(x)."""
        r = as_tensor(check_posteriors(posteriors, len(self.items)))
        return self._with(posteriors=r, difference=r[self.right] - r[self.left])

    def of_class(self, *classes: int) -> "Pairs":
        """Return the same pairs as a binary problem: one class against the rest, or the second of two classes.

        For one class k the problem is "k or another". For two classes j, k it compares their posteriors by q = (1 + p_k
        - p_j) / 2, which is above 1/2 if k is likelier. q lies in [0, 1], and its differences are (c_k - c_j) / 2.
        """
        if not self.has_vectors:
            raise ValueError("of_class needs pairs of several classes; these have two, without an entry for each.")
        picked = {
            name: None if value is None else _picked(value, classes, offset)
            for name, value, offset in (("difference", self.difference, 0.0), ("posteriors", self.posteriors, 0.5))
        }
        return self._with(**picked, labels=None if self.labels is None else (self.labels == classes[-1]).float())

    def with_truth(self, posteriors: ArrayLike, labels: ArrayLike) -> "Pairs":
        """Return the same pairs and differences, with posteriors and labels of the items for oracles."""
        size = len(self.items)
        r = as_tensor(check_posteriors(posteriors, size))
        if self.difference is not None and self.difference.ndim != r.ndim:
            raise _mixed()
        graded = self._with(posteriors=r, labels=None)
        return graded._with(labels=as_tensor(check_labels(labels, size, graded.n_classes)))

    def with_ordering(self, strategy: str) -> "Pairs":
        """Return the same pairs, marked as ordered by their labels with this strategy."""
        other = copy.copy(self)
        other.ordering = strategy
        return other

    def with_same(self, same: ArrayLike | None) -> "Pairs":
        """Return the same pairs with other answers whether both items are of the same class, or with none."""
        return self._with(same=None if same is None else as_tensor(check_same(same, len(self))))

    def without_differences(self) -> "Pairs":
        """Return the same pairs without differences, for methods that learn from other supervision."""
        return self._with(difference=None)

    def with_difference(self, difference: Tensor) -> "Pairs":
        """Return the same pairs with other differences, which are not checked and may exceed [-1, 1]."""
        return self._with(difference=difference)

    @property
    def annotators(self) -> NDArray[Any] | None:
        """The annotators of the pairs, (n,), by their names; for pairs of a stream by their numbers."""
        if self.annotator is None or self.annotator_names is None:
            return None if self.annotator is None else self.annotator.numpy()
        names = np.empty(len(self.annotator_names), dtype=object)
        names[:] = self.annotator_names
        of_pairs: NDArray[Any] = names[self.annotator.numpy()]
        return of_pairs

    def with_precision(self, difference: Tensor, precision: Tensor) -> "Pairs":
        """Return the same pairs with other differences, and with the relative precision of each of them.

        A precision is a factor of the weight of a pair in squared errors, but not in means over items: these depend on
        ``weight`` alone. Annotators and sides are dropped, because the differences already account for them.
        """
        return self._with(difference=difference, precision=precision, annotator=None, side=None)

    def with_precision_in_weights(self) -> "Pairs":
        """Return the same pairs with the precision of differences as a factor of their weights."""
        if self.precision is None:
            return self
        weight = self.precision if self.weight is None else self.weight * self.precision
        return self._with(weight=weight, precision=None)

    def with_precision_in_differences(self) -> "Pairs":
        """Return the same pairs with differences times a factor of mean 1, for risks that are linear in differences.

        The expectation of such a risk does not change. Its variance has a part that precise differences have, too, so
        the factor varies less than the precision: it is proportional to 1 / (mean square of exact differences + error
        variance), and both are estimated from the mean squares of the differences with and without weights.
        """
        if self.precision is None or self.difference is None:
            return self
        factor = _least_variance_factor(self.difference.double(), self.precision.double())
        return self._with(difference=self.difference * factor.to(self.difference.dtype), precision=None)

    def n_components(self) -> int:
        """Return the number of connected components of the graph of compared items, whose edges are the pairs."""
        return len(np.unique(self.components()))

    def components(self) -> NDArray[np.int64]:
        """Return the number of the connected component of each pair, (n,), in the graph of compared items."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        nodes, edges = np.unique(torch.stack([self.left, self.right]).numpy(), return_inverse=True)
        left, right = edges.reshape(2, -1)
        graph = coo_array((np.ones(len(self), dtype=bool), (left, right)), shape=(len(nodes), len(nodes)))
        component: NDArray[np.int64] = connected_components(graph, directed=False)[1].astype(np.int64)[left]
        return component

    def with_items(self, items: Any, feature_names: tuple[str, ...] | None = None) -> "Pairs":
        """Return the same pairs over other features of the same items (scaled, encoded, ...)."""
        features = _items(items, self.allow_missing)
        if len(features) != len(self.items):
            count = len(features)
            raise ValueError(f"the new items must be as many as the old ones, {len(self.items)}; got {count}.")
        other = self._with(items=features)
        other.feature_names = feature_names or column_names(items)
        return other

    def require_complete(self) -> None:
        """Raise ValueError if a feature is missing (NaN)."""
        if self.allow_missing and isinstance(self.items, Tensor) and self.items.is_floating_point():
            check_finite("items", as_array("items", self.items), self.feature_names)

    def _per_pair(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in PAIR_FIELDS if getattr(self, name) is not None}

    def _with(self, **changes: Items | None) -> "Pairs":
        """Return a copy with changes that are valid, without checking everything again."""
        other = copy.copy(self)
        for name, value in changes.items():
            setattr(other, name, value)
        return other


def _least_variance_factor(c: Tensor, precision: Tensor) -> Tensor:
    """Return factors of mean 1, inversely proportional to the mean square of differences with this precision.

    The mean square at precision q is D + k/q. Means over all pairs, and with the weights q, determine D and k.
    """
    is_used = precision > 0
    q = torch.where(is_used, precision, 1.0)
    q = q / q[is_used].mean()
    plain = c.square()[is_used].mean()
    weighted = (q * c.square())[is_used].mean()
    excess = (1 / q)[is_used].mean() - 1
    k = ((plain - weighted) / excess).clamp(min=0).minimum(weighted) if excess > 1e-9 else torch.zeros(())
    factor = torch.where(is_used, 1 / (weighted - k + k / q).clamp(min=1e-12), 0.0)
    return factor / factor.mean()


def missing_supervision(supervision: Supervision) -> ValueError:
    """Return the error for pairs without the supervision that a method learns from."""
    remedy = {
        "differences": "Pass c to fit, or difference= to Pairs",
        "same": "Pass same= to Pairs",
        "labels": "Pass labels= to Pairs",
        "posteriors": "Pass posteriors= to Pairs",
    }[supervision]
    what = "same-class answers" if supervision == "same" else supervision
    return ValueError(f"these pairs have no {what}, which the method learns from. {remedy}.")


def _differences(values: ArrayLike, n: int, same: Tensor | None = None) -> NDArray[np.float32]:
    """Check numbers for the positive class, or vectors with an entry for each class."""
    array = as_array("c", values)
    if array.ndim == 2 and array.shape[1] > 1:
        if same is not None:
            raise _same_of_vectors()
        return check_difference_vectors(array, n)
    return check_difference(array, n) if same is None else check_difference_beside(array, same.numpy())


def _same_of_vectors() -> ValueError:
    return ValueError("same-class answers are for two classes; got differences of several. Pass them without same=.")


def _leading(difference: Tensor) -> Tensor:
    """Return the differences, (n,), or of vectors the entries that are largest in absolute value."""
    if difference.ndim == 1:
        return difference
    return difference.gather(1, difference.abs().argmax(dim=1, keepdim=True))[:, 0]


def _picked(value: Tensor, classes: tuple[int, ...], offset: float) -> Tensor:
    """Return the column of one class, or half the difference of the columns of two classes plus an offset."""
    return value[:, classes[0]] if len(classes) == 1 else (value[:, classes[1]] - value[:, classes[0]]) / 2 + offset


def _mixed() -> ValueError:
    return ValueError(
        "differences and posteriors must both be those of the positive class, or both have a column for each class. "
        "For two classes pass predict_proba(X)[:, 1]."
    )


def _items(items: Any, allow_missing: bool) -> Items:
    if isinstance(items, SparseItems):
        return items
    if is_sparse(items):
        return SparseItems(check_sparse_items("items", items))
    if not isinstance(items, Tensor):
        return as_tensor(check_items("items", items, allow_missing=allow_missing))
    if items.ndim < 2 or 0 in items.shape:
        raise ValueError(f"items must hold at least one item, shape (N, d) or (N, ...); got {tuple(items.shape)}.")
    if items.is_floating_point():
        check_finite("items", as_array("items", items), allow_missing=allow_missing)
    return items.detach()


def _stacked(first: Any, second: Any) -> Any:
    """Return the rows of two matrices below each other; one sparse matrix makes the result sparse."""
    if not is_sparse(first) and not is_sparse(second):
        return np.concatenate([first, second])
    from scipy.sparse import vstack

    return vstack([first, second], format="csr")


def _not_two_columns(shape: tuple[int, ...]) -> ValueError:
    return ValueError(f"pairs must have shape (n, 2): two rows of the items each; got {shape}.")


def _rows_in_frame(ids: Any, frame: Any) -> list[NDArray[np.int64]]:
    """Look up two columns of ids in the index of a data frame, and return their row numbers."""
    if not frame.index.is_unique:
        repeated = frame.index[frame.index.duplicated()][0]
        raise ValueError(f"the index of the items must hold each id once; {repeated!r} occurs more than once.")
    table = np.asarray(ids, dtype=object)  # ids keep their types, even if these are mixed
    if table.ndim != 2 or table.shape[1] != 2:
        raise _not_two_columns(table.shape)
    return [
        rows_of_labels(frame.index, column, name=f"pairs, {side} column")
        for side, column in zip(("first", "second"), table.T, strict=True)
    ]
