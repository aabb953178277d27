"""Judged pairs that fit their items: checked, on the scale from -1 to 1, and split so that no item leaks."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confdiff.randomness import derived_seed
from confdiff.tabular.scales import Scale, recognise_scale
from confdiff.tabular.tables import ItemTable, PairTable, is_missing
from confdiff.validation import check_fraction, check_weight

Rows = NDArray[np.int64]
Unit = Literal["item", "group", "pair"]
"""What is held out whole."""
_FEWEST = 20  # pairs in each part of a split


@dataclass(frozen=True, eq=False)
class Comparisons:
    """n pairs of rows of an item table. scale: the one that the differences were on before.

    left, right: (n,). difference: (n,) in [-1, 1]. weight: (n,) with mean 1. group: (n,) names.
    """

    left: Rows
    right: Rows
    difference: NDArray[np.float32]
    scale: Scale
    weight: NDArray[np.float32] | None = None
    group: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def items(self) -> Rows:
        """The rows of the items that stand in some pair, each once, in order."""
        return np.union1d(self.left, self.right)

    def units(self, by: Unit) -> Rows | None:
        """(n,) a number for each group, or for each pair, whichever item comes first; None for items, of which two."""
        if by == "item":
            return None
        if by == "pair":
            ends = np.sort(np.stack([self.left, self.right]), axis=0)
            return np.unique(ends, axis=1, return_inverse=True)[1].reshape(-1)
        if self.group is None:
            raise ValueError("groups can only be held out where pairs have one: name their column by --group.")
        return np.unique(self.group, return_inverse=True)[1]


def compare(items: ItemTable, judged: PairTable, scale: Scale | None = None) -> Comparisons:
    """The pairs as rows of the items, or an error that names the first row which cannot be used.

    scale: of the differences; if not given it is recognised.
    """
    left, right = judged.rows(items)
    for side, names, rows in (("left", judged.left, left), ("right", judged.right, right)):
        _refuse(judged, side, is_missing(names), "the id is missing", "Drop the row")
        _refuse(judged, side, rows < 0, "the id {} is not among the items", "Add the item or drop the row", names)
    own = "it compares {} with itself"
    _refuse(judged, "right", left == right, own, "Drop the row", judged.right)
    c = judged.difference
    _refuse(judged, "difference", ~np.isfinite(c), "the difference is missing", "Drop the row")
    scale = scale or recognise_scale(c) or no_scale(judged)
    beyond = (c < scale.low - 1e-6) | (c > scale.high + 1e-6)
    _refuse(judged, "difference", beyond, f"{{}} lies beyond {scale.name}", "Mend it or pass --scale LOW,HIGH", c)
    weight = None
    if judged.weight is not None:
        _refuse(
            judged,
            "weight",
            ~(judged.weight >= 0),
            "the weight {} is no weight",
            "Weights are 0 or above",
            judged.weight,
        )
        weight = check_weight(judged.weight, len(judged))
    differences = scale.differences(c).clip(-1, 1).astype(np.float32)
    return Comparisons(left, right, differences, scale, weight, judged.group)


def _refuse(
    judged: PairTable, role: str, bad: NDArray[np.bool_], fault: str, remedy: str, values: NDArray[Any] | None = None
) -> None:
    rows = np.flatnonzero(bad)
    if not len(rows):
        return
    row = int(rows[0])
    shown = "" if values is None else repr(values[row].item() if hasattr(values[row], "item") else values[row])
    more = f" ({len(rows):,} such rows)" if len(rows) > 1 else ""
    place = f"{judged.source}, column {judged.names[role]!r}, row {row}{more}"
    raise ValueError(f"{place}: {fault.format(shown)}. {remedy}; `confdiff check` lists all that is wrong.")


def no_scale(judged: PairTable) -> Scale:
    """Raise the error for differences whose scale cannot be told."""
    c = judged.difference
    row = int(np.abs(c).argmax())
    raise ValueError(
        f"{judged.source}, column {judged.names['difference']!r}: differences must lie in [-1, 1], or be on a scale "
        f"that can be recognised; they go from {c.min():g} to {c.max():g} (row {row}: {c[row]:g}). "
        "Pass --scale LOW,HIGH."
    )


@dataclass(frozen=True)
class Split:
    """Which pairs are trained on, which training is stopped and scaled by, and which are only judged by."""

    train: Rows
    stop: Rows
    judge: Rows


def split_pairs(comparisons: Comparisons, share: float, seed: int, *, by: Unit = "item") -> Split:
    """Hold out about ``share`` of the pairs, half to stop by and half to judge by, so that no item leaks.

    Some items are drawn, and a pair that touches one of them is not trained on; what touches items of the second half
    is judged by. By group, whole groups are drawn; by pair, pairs of items that other pairs are trained on.
    """
    check_fraction("valid", share)
    units = comparisons.units(by)
    if units is not None:
        part = _parts(units, share, seed)
    else:
        parts = items_held_out(1 + max(comparisons.left.max(), comparisons.right.max()), share, seed)
        part = np.maximum(parts[comparisons.left], parts[comparisons.right])
    split = Split(*(np.flatnonzero(part == number) for number in range(3)))
    if min(len(split.train), len(split.stop), len(split.judge)) < (1 if by == "group" else _FEWEST):
        raise ValueError(
            f"{len(comparisons)} pairs are too few to hold {share:g} of them out. Pass --valid 0 to hold out none."
        )
    return split


def items_held_out(count: int, share: float, seed: int) -> Rows:
    """For each item 0 (trained on), 1 (stopped by) or 2 (judged by), so that about ``share`` of the pairs are held out.

    If both items of a pair are drawn alike, a share 1 - (1 - f)^2 of the pairs touches a share f of the items.
    """
    return _parts(np.arange(count), 1 - math.sqrt(1 - check_fraction("valid", share)), seed)


def _parts(names: Rows, share: float, seed: int) -> Rows:
    """For each name 0 (kept), 1 or 2 (held out), the same for equal names."""
    count, chance = int(names.max()) + 1, np.random.default_rng(derived_seed(seed, "split"))
    each = max(1, round(share * count / 2))
    part = np.zeros(count, dtype=np.int64)
    part[chance.permutation(count)[: 2 * each]] = np.repeat([1, 2], each)[: min(2 * each, count)]
    return part[names]
