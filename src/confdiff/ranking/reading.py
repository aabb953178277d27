"""Read the judged pairs of a ranking from tables or from :class:`~confdiff.Pairs`."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.config import optional_config
from confdiff.io.lookup import distinct_ids
from confdiff.pairs import Pairs
from confdiff.ranking.design import ComparisonDesign
from confdiff.tabular.checks.data import encode_names
from confdiff.tabular.comparisons import compare, require_differences
from confdiff.tabular.roles import ROLES
from confdiff.tabular.scales import PLAIN_SCALE, Scale, parse_scale
from confdiff.tabular.tables import ItemTable, as_judged, table_columns
from confdiff.validation import check_choice

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_Named = tuple[list[str], _Rows]


@dataclass(frozen=True, eq=False)
class JudgedItems:
    """n judged pairs of items, which are known by their ids only.

    Attributes
    ----------
    ids : ndarray, shape (N,)
        The ids of the items.
    left, right : ndarray of int, shape (n,)
        Rows of the items.
    difference : ndarray, shape (n,)
        Differences in [-1, 1].
    scale : Scale
        The scale of the judgements.
    weight : ndarray, shape (n,)
        Weights.
    side : ndarray, shape (n,), or None
        +1 where the left item was shown first, -1 where the right one was, 0 if not known.
    group, annotator : tuple (names, codes), or None
        The distinct names, and the position of each pair's name among them, -1 where it is missing.
    """

    ids: NDArray[Any]
    left: _Rows
    right: _Rows
    difference: _Floats
    scale: Scale
    weight: _Floats
    side: _Floats | None = None
    group: _Named | None = None
    annotator: _Named | None = None

    def with_weight(self) -> "JudgedItems":
        """Return the pairs without those of weight 0."""
        rows = np.flatnonzero(self.weight > 0)
        if len(rows) == len(self.weight):
            return self
        return JudgedItems(
            ids=self.ids,
            left=self.left[rows],
            right=self.right[rows],
            difference=self.difference[rows],
            scale=self.scale,
            weight=self.weight[rows],
            side=None if self.side is None else self.side[rows],
            group=None if self.group is None else (self.group[0], self.group[1][rows]),
            annotator=None if self.annotator is None else (self.annotator[0], self.annotator[1][rows]),
        )

    def design(self, *, by_group: bool) -> tuple[ComparisonDesign, _Rows]:
        """Return the comparisons of nodes, and the nodes: items, or with ``by_group`` items in their groups.

        The node of item i in the group with code k has the number i + (k + 1) N.
        """
        offset = self._offset() if by_group else np.zeros(len(self.left), dtype=np.int64)
        nodes, ends = np.unique(np.concatenate([self.left + offset, self.right + offset]), return_inverse=True)
        first, second = ends.reshape(2, -1)
        design = ComparisonDesign(
            n_items=len(nodes), left=first, right=second, c=self.difference, weight=self.weight, side=self.side
        )
        return design, nodes

    def _offset(self) -> _Rows:
        if self.group is None:
            raise ValueError("the pairs have no column of groups: name it with group='...', or omit by_group=True.")
        return (self.group[1] + 1) * len(self.ids)  # code -1, a missing group, is a group of its own


def judged_items(pairs: Any, *, scale: Any = None, columns: dict[str, str | None], config: Any = None) -> JudgedItems:
    """Return the pairs of a table or of :class:`~confdiff.Pairs`; see :func:`~confdiff.rank_items`.

    Pairs with a same-class answer and no difference are left out, because they do not rank items.
    """
    if isinstance(pairs, Pairs):
        return _of_pairs(pairs, scale=scale, columns=columns)
    for name in columns:
        check_choice("column", name, list(ROLES))
    settings = optional_config(config)
    given = settings.fill(scale=scale, **{role: columns.get(role) for role in ROLES})
    given_scale = given.pop("scale")
    known_scale = None if given_scale is None else parse_scale(given_scale)
    source, table = table_columns(pairs, "pairs")
    judged = as_judged(source, table, given, scale=known_scale)
    ids = distinct_ids(judged.left, judged.right)
    items = ItemTable(source=source, ids=ids, columns={})
    compared = compare(items, judged, known_scale)
    require_differences(judged, compared)
    weight = compared.weight
    side = compared.side
    return JudgedItems(
        ids=ids,
        left=compared.left,
        right=compared.right,
        difference=compared.difference.astype(np.float64),
        scale=compared.scale,
        weight=np.ones(len(compared)) if weight is None else weight.astype(np.float64),
        side=None if side is None else side.astype(np.float64),
        group=None if compared.group is None else encode_names(compared.group),
        annotator=None if compared.annotator is None else encode_names(compared.annotator),
    )


def _of_pairs(pairs: Pairs, *, scale: Any, columns: dict[str, str | None]) -> JudgedItems:
    given = [f"{name}={value!r}" for name, value in {"scale": scale, **columns}.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} would not be used: it is for tables, and these are Pairs. Omit it.")
    if pairs.difference is None or pairs.difference.ndim != 1:
        raise ValueError("a ranking needs pairs with one difference each; these have none, or one for each class.")
    difference = pairs.difference.numpy().astype(np.float64)
    rows = np.flatnonzero(~np.isnan(difference))
    if not len(rows):
        raise ValueError("at least one pair must have a difference. Same-class answers alone do not rank items.")
    left = pairs.left.numpy().astype(np.int64)
    right = pairs.right.numpy().astype(np.int64)
    annotators = pairs.annotators
    same = np.flatnonzero(left == right)
    if len(same):
        raise ValueError(f"pair {same[0]} compares item {left[same[0]]} with itself. Drop it.")
    return JudgedItems(
        ids=np.arange(len(pairs.items)),
        left=left[rows],
        right=right[rows],
        difference=difference[rows],
        scale=PLAIN_SCALE,
        weight=np.ones(len(rows)) if pairs.weight is None else pairs.weight.numpy()[rows].astype(np.float64),
        side=None if pairs.side is None else pairs.side.numpy()[rows].astype(np.float64),
        group=None if pairs.group is None else encode_names(pairs.group.numpy()[rows]),
        annotator=None if annotators is None else encode_names(annotators[rows]),
    )
