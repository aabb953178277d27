"""Match judged pairs with their items, check them, and split them so that no item leaks."""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confdiff.pairs.splitting import draw_item_parts, draw_parts, split_by_part
from confdiff.tabular.answering import annotators_of
from confdiff.tabular.answers import ANSWER
from confdiff.tabular.scales import PLAIN_SCALE, Scale, possible_scales, recognise_scale
from confdiff.tabular.sides import shown_sides
from confdiff.tabular.tables import ItemTable, PairTable
from confdiff.tabular.values import is_missing
from confdiff.validation import check_fraction, check_weight, warn_user

_Rows = NDArray[np.int64]
Unit = Literal["item", "group", "pair"]
"""Units that a split holds out as a whole."""
_MIN_PAIRS = 20  # in each set of a split


@dataclass(frozen=True, eq=False)
class AnsweredPairs:
    """Pairs with an answer whether both items are of the same class.

    Attributes
    ----------
    left, right
        (m,) rows of the items.
    same
        (m,) in [0, 1].
    weight
        (m,) or None.
    """

    left: _Rows
    right: _Rows
    same: NDArray[np.float64]
    weight: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.left)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """n judged pairs of the items of a table, on the scale from -1 to 1.

    Attributes
    ----------
    left, right
        (n,) rows of the items.
    difference
        (n,) in [-1, 1]; NaN for all if the pairs have same-class answers only.
    scale
        The scale of the judgements before they were mapped to [-1, 1].
    weight
        (n,) with mean 1, or None.
    group
        (n,) names of groups, or None.
    annotator
        (n,) names of annotators, or None.
    side
        (n,) 1 where the left item was shown first, -1 where the right one was, 0 if not known; or None.
    answers
        The pairs with a same-class answer, with or without a difference; None without such a column.
    """

    left: _Rows
    right: _Rows
    difference: NDArray[np.float32]
    scale: Scale
    weight: NDArray[np.float32] | None = None
    group: NDArray[Any] | None = None
    annotator: NDArray[Any] | None = None
    side: NDArray[np.int8] | None = None
    answers: AnsweredPairs | None = None

    def __len__(self) -> int:
        return len(self.left)

    @property
    def has_differences(self) -> bool:
        """Whether the pairs have differences; otherwise they are those of ``answers``."""
        return not np.isnan(self.difference).all()

    @property
    def items(self) -> _Rows:
        """The sorted rows of the items that occur in a pair."""
        rows = [self.left, self.right]
        if self.answers is not None:
            rows += [self.answers.left, self.answers.right]
        return np.unique(np.concatenate(rows))

    def units(self, by: Unit) -> _Rows | None:
        """Return a number for each group, or for each unordered pair of items.

        The result has shape (n,), and is None for ``by="item"``, because a comparison has two items.
        """
        if by == "item":
            return None
        if by == "pair":
            ends = np.sort(np.stack([self.left, self.right]), axis=0)
            return np.unique(ends, axis=1, return_inverse=True)[1].reshape(-1)
        if self.group is None:
            raise ValueError(
                "the pairs have no column of groups: name it with group='...', or omit hold_out_groups=True."
            )
        return np.unique(self.group, return_inverse=True)[1]


def compare(items: ItemTable, judged: PairTable, scale: Scale | None = None, *, is_part: bool = False) -> Comparisons:
    """Match judged pairs with their items.

    Parameters
    ----------
    items
        The items.
    judged
        The pairs, which name items by their ids.
    scale
        Scale of the judgements; recognised if not given.
    is_part
        Whether these are not all pairs, so that all their weights may be 0.

    Raises
    ------
    ValueError
        A row cannot be used, or the scale is not recognised. The message names the first such row.
    """
    left, right = judged.rows(items)
    for role, names, rows in (("left", judged.left, left), ("right", judged.right, right)):
        _refuse(judged, role, is_missing(names), "the id is missing", "Drop the row")
        _refuse(judged, role, rows < 0, "the id {} is not among the items", "Add the item or drop the row", names)
    _refuse(judged, "right", left == right, "{} is compared with itself", "Drop the row", judged.right)
    c = judged.difference
    answered = np.zeros(len(c), dtype=bool) if judged.same is None else ~np.isnan(judged.same)
    neither = "the difference is missing" if judged.same is None else "there is neither a difference nor an answer"
    _refuse(judged, "difference", np.isnan(c) & ~answered, neither, "Drop the row")
    _refuse(judged, "difference", np.isinf(c), "the difference {} is infinite", "Correct it or drop the row", c)
    has_difference = ~np.isnan(c)
    if has_difference.any():
        scale = scale or known_scale(judged, c[has_difference])
    scale = scale or PLAIN_SCALE
    outside = has_difference & scale.is_outside(np.where(has_difference, c, 0.0))
    _refuse(judged, "difference", outside, f"{{}} is outside {scale.name}", "Correct it or pass scale=(low, high)", c)
    weight = _weight(judged, is_part)
    rows = has_difference if has_difference.any() else answered
    annotator = annotators_of(judged)
    side = shown_sides(judged)
    return Comparisons(
        left=left[rows],
        right=right[rows],
        difference=scale.differences(c[rows]).clip(-1, 1).astype(np.float32),
        scale=scale,
        weight=None if weight is None else weight[rows],
        group=None if judged.group is None else judged.group[rows],
        annotator=None if annotator is None else annotator[rows],
        side=None if side is None else side[rows],
        answers=_answers(judged, left, right, weight),
    )


def require_differences(judged: PairTable, compared: Comparisons) -> None:
    """Refuse pairs that have same-class answers only, where predicted differences are compared with judged ones."""
    if not compared.has_differences:
        raise ValueError(
            f"{judged.source}: at least one pair must have a difference. Same-class answers alone do not rank items."
        )


def _answers(judged: PairTable, left: _Rows, right: _Rows, weight: NDArray[np.float32] | None) -> AnsweredPairs | None:
    """Return the pairs with a same-class answer."""
    if judged.same is None:
        return None
    invalid = (judged.same < 0) | (judged.same > 1)
    remedy = f"Write {ANSWER}"
    _refuse(judged, "same", invalid, "the answer {} is not valid", remedy, judged.same)
    rows = np.flatnonzero(~np.isnan(judged.same))
    if not len(rows):
        return None
    return AnsweredPairs(
        left=left[rows], right=right[rows], same=judged.same[rows], weight=None if weight is None else weight[rows]
    )


def _weight(judged: PairTable, is_part: bool) -> NDArray[np.float32] | None:
    if judged.weight is None:
        return None
    invalid = ~(judged.weight >= 0) | np.isinf(judged.weight)
    remedy = "Weights must be finite and at least 0"
    _refuse(judged, "weight", invalid, "the weight {} is not valid", remedy, judged.weight)
    if is_part and not judged.weight.any():
        return None
    try:
        return check_weight(judged.weight, len(judged))
    except ValueError as error:
        raise ValueError(f"{judged.source}, column {judged.names['weight']!r}: {error}") from error


def _refuse(
    judged: PairTable,
    role: str,
    invalid: NDArray[np.bool_],
    fault: str,
    remedy: str,
    values: NDArray[Any] | None = None,
) -> None:
    """Raise an error that names the first invalid row, if there is one; ``{}`` in the fault is its value."""
    rows = np.flatnonzero(invalid)
    if not len(rows):
        return
    first = int(rows[0])
    value = "" if values is None else repr(values[first].item() if hasattr(values[first], "item") else values[first])
    more = f" ({len(rows):,} such rows)" if len(rows) > 1 else ""
    place = f"{judged.source}, column {judged.column(role)!r}, {judged.source.at(first)}{more}"
    raise ValueError(f"{place}: {fault.format(value)}. {remedy}; `confdiff check` lists all problems.")


def known_scale(judged: PairTable, values: NDArray[np.float64]) -> Scale:
    """Return the scale of finite judgements.

    Parameters
    ----------
    judged
        The pairs, or the part of a stream with the largest judgement, for messages.
    values
        All judgements.

    Raises
    ------
    ValueError
        The scale is not recognised.

    Warns
    -----
    UserWarning
        The judgements are ratios, whose direction is not known, or none of them is negative.
    """
    scale = recognised_scale(judged, values)
    if scale is None:
        raise _unknown_scale(judged, values)
    if scale.is_ratio:
        warn_user(
            f"the differences were recognised as {scale.name}, and ratios above 1 favour the second item. "
            "Confirm it with scale='saaty', or pass scale='saaty,reversed' if they favour the first item."
        )
    if judged.names_winners:
        return scale
    if scale.low == -1 and 0 <= values.min() < values.max() <= 1 and len(values) >= _MIN_PAIRS:
        warn_user(
            "no difference is negative, so no pair favours the first item. If 0.5 means equal, as for probabilities, "
            f"pass scale=(0, 1). Otherwise confirm the scale with scale=(-1, 1).{judged.winner_hint}"
        )
    return scale


def recognised_scale(judged: PairTable, values: NDArray[np.float64]) -> Scale | None:
    """Return the scale of judgements, or None; if a column names the winners, it is the same for both signs."""
    both = np.concatenate([values, -values]) if judged.names_winners else values
    return recognise_scale(both, judged.notation)


def _unknown_scale(judged: PairTable, values: NDArray[np.float64]) -> ValueError:
    c = judged.difference
    farthest = int(np.nanargmax(np.where(np.isfinite(c), np.abs(c), np.nan)))
    return ValueError(
        f"{judged.source}, column {judged.column('difference')!r}: differences must lie in [-1, 1] or on a scale that "
        f"is recognised; got {values.min():g} to {values.max():g} ({c[farthest]:g} in {judged.source.at(farthest)}). "
        f"Pass {possible_scales(values, judged.notation)}."
    )


@dataclass(frozen=True)
class Split:
    """Rows of the pairs of the training, validation and test sets.

    The validation set is for early stopping and calibration, the test set for evaluation only.
    """

    train: _Rows
    validation: _Rows
    test: _Rows


def split_pairs(comparisons: Comparisons, fraction: float, seed: int, *, by: Unit = "item") -> Split:
    """Hold out pairs, half for validation and half for testing, so that no item leaks.

    Items are drawn, and a pair that touches one of them leaves the training set. Pairs that touch an item of the second
    half form the test set. ``by="group"`` draws whole groups; ``by="pair"`` draws pairs, whose items may also occur in
    training pairs.

    Parameters
    ----------
    comparisons
        The pairs.
    fraction
        Approximate fraction of the pairs to hold out, strictly between 0 and 1.
    seed
        Of the draw.
    by
        Unit that is held out as a whole.

    Raises
    ------
    ValueError
        There are too few pairs, or no groups.
    """
    check_fraction("validation_fraction", fraction)
    units = comparisons.units(by)
    if units is None:
        count = 1 + max(comparisons.left.max(), comparisons.right.max())
        part = draw_item_parts(count, fraction, seed)
        rows = split_by_part(comparisons.left, comparisons.right, part, n_parts=3)
    else:
        part = draw_parts(int(units.max()) + 1, fraction, seed)
        rows = split_by_part(units, units, part, n_parts=3)
    split = Split(*rows)
    least = 1 if by == "group" else _MIN_PAIRS
    if min(len(split.train), len(split.validation), len(split.test)) < least:
        raise ValueError(
            f"{len(comparisons)} pairs are too few to hold out a fraction of {fraction:g}. "
            "Pass validation_fraction=0 to hold out none."
        )
    return split
