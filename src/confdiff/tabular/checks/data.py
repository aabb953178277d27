"""The input of checks: both tables, and values that several checks derive from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.graph import Edges, Judgements, components_of, edges_of
from confdiff.tabular.faults import Fault
from confdiff.tabular.scales import Scale
from confdiff.tabular.sides import read_sides
from confdiff.tabular.tables import ItemTable, PairTable
from confdiff.tabular.values import is_missing

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CheckData:
    """Items and judged pairs, with derived values that are computed at their first use.

    Attributes
    ----------
    items : ItemTable
        N items.
    pairs : PairTable
        n judged pairs as read, which may contain errors.
    scale : Scale or None
        Scale of the differences; None if it was neither given nor recognised.
    scale_given : bool
        Whether the user gave the scale.
    faults : tuple of Fault
        Cells that could not be used when the tables were read.
    kinds : mapping or None
        Column of the items -> its kind, for the columns whose kind is given.
    link : str or None
        What was asked, if the user declared it.
    """

    items: ItemTable
    pairs: PairTable
    scale: Scale | None
    scale_given: bool
    faults: tuple[Fault, ...] = ()
    kinds: Mapping[str, str] | None = None
    link: str | None = None

    @cached_property
    def item_rows(self) -> tuple[_Rows, _Rows]:
        """Rows of the left and the right items, shape (n,) each; -1 where an id is missing or unknown."""
        return self.pairs.rows(self.items)

    def is_faulty(self, role: str) -> _Mask:
        """Return a mask of the pairs whose cell of a role could not be used, shape (n,)."""
        mask: _Mask = np.zeros(len(self.pairs), dtype=bool)
        for fault in self.faults:
            if fault.table == "pairs" and fault.column in self._columns_of(role):
                mask[fault.rows] = True
        return mask

    def _columns_of(self, role: str) -> set[str | None]:
        roles = ("difference", "winner", "tie") if role == "difference" else (role,)
        return {self.pairs.names.get(name) for name in roles}

    @cached_property
    def has_items(self) -> _Mask:
        """Mask of the pairs of two different items of the table, shape (n,)."""
        left, right = self.item_rows
        mask: _Mask = (left >= 0) & (right >= 0) & (left != right)
        return mask

    @cached_property
    def c(self) -> _Floats:
        """Differences of all pairs on the scale from -1 to 1, shape (n,); unscaled if the scale is unknown."""
        difference = self.pairs.difference
        return difference if self.scale is None else self.scale.differences(difference)

    @cached_property
    def is_outside_scale(self) -> _Mask:
        """Mask of the pairs with a finite difference outside the scale, shape (n,)."""
        difference = self.pairs.difference
        if self.scale is None:
            return np.zeros(len(difference), dtype=bool)
        return self.scale.is_outside(difference) & np.isfinite(difference)

    @cached_property
    def components(self) -> _Rows:
        """Connected component of each item, shape (N,); -1 for items that occur in no pair."""
        left, right = self.item_rows
        return components_of(left[self.has_items], right[self.has_items], len(self.items))

    @cached_property
    def is_usable(self) -> _Mask:
        """Mask of the pairs whose differences `fit` could learn from, shape (n,)."""
        known = self.has_items & np.isfinite(self.c) & ~self.is_outside_scale
        return known & (self.scale is not None) & _has_weight(self.pairs)

    @cached_property
    def is_answered(self) -> _Mask:
        """Mask of the pairs with a usable same-class answer, shape (n,)."""
        same = self.pairs.same
        if same is None:
            return np.zeros(len(self.pairs), dtype=bool)
        mask: _Mask = self.has_items & (same >= 0) & (same <= 1) & _has_weight(self.pairs)
        return mask

    @cached_property
    def judgements(self) -> Judgements:
        """The usable pairs."""
        left, right = self.item_rows
        rows = np.flatnonzero(self.is_usable)
        weight = np.ones(len(rows)) if self.pairs.weight is None else self.pairs.weight[rows]
        weight = weight / max(weight.max(), np.finfo(float).tiny)  # sums of very large weights would overflow
        return Judgements(
            n_items=len(self.items),
            rows=rows,
            left=left[rows],
            right=right[rows],
            c=self.c[rows].clip(-1, 1),
            weight=weight,
        )

    @cached_property
    def sides(self) -> tuple[NDArray[np.int8], _Mask] | None:
        """Side of all pairs, +1 if the left item was shown first, and a mask of unusable cells; None without them."""
        return read_sides(self.pairs)

    @cached_property
    def edges(self) -> Edges:
        """The distinct pairs among the usable ones."""
        return edges_of(self.judgements)


def _has_weight(pairs: PairTable) -> _Mask:
    weight = np.ones(len(pairs)) if pairs.weight is None else pairs.weight
    mask: _Mask = np.isfinite(weight) & (weight >= 0) & np.any(weight > 0)
    return mask


def encode_names(column: NDArray[Any]) -> tuple[list[str], _Rows]:
    """Return the distinct names in a column, and the position of each row's name among them.

    Parameters
    ----------
    column : ndarray, shape (n,)
        Names of groups or annotators: text or numbers.

    Returns
    -------
    names : list of str
        The distinct names, sorted.
    codes : ndarray of int, shape (n,)
        Position in ``names``; -1 where the name is missing.

    Examples
    --------
    >>> encode_names(np.array(["b", "", "a", "b"], dtype=object))
    (['a', 'b'], array([ 1, -1,  0,  1]))
    """
    missing = is_missing(column)
    present = column[~missing]
    if present.dtype.kind == "f" and not np.any(present % 1):
        present = present.astype(np.int64)  # integers become floats where some are missing
    names, positions = np.unique(present.astype(str), return_inverse=True)
    codes = np.full(len(column), -1, dtype=np.int64)
    codes[~missing] = positions
    return names.tolist(), codes
