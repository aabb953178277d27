"""The answers of a study as the tables that checks and rankings read."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.checks.data import CheckData
from confdiff.tabular.checks.graph import Judgements
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.scales import PLAIN_SCALE
from confdiff.tabular.tables import ItemTable, PairTable

if TYPE_CHECKING:
    from confdiff.labelling.study import Study

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]

RESERVE = "random"
"""The kind of the questions that are reserved for reporting quality: purely random pairs."""


@dataclass(frozen=True, eq=False)
class AnswerTable:
    """n answers of a study that are not superseded.

    Attributes
    ----------
    ids : ndarray, shape (N,)
        Ids of all items of the study.
    left, right, shown_first : ndarray, shape (n,)
        Ids of the items of each pair as stored, and of the item on the left of the screen.
    difference, same, seconds : ndarray, shape (n,)
        Right minus left, the same-class answer, and the time that the answer took; NaN where missing.
    annotator, kind : ndarray of str, shape (n,)
        Who answered, and the kind of the question.
    """

    ids: NDArray[Any]
    left: NDArray[Any]
    right: NDArray[Any]
    shown_first: NDArray[Any]
    difference: _Floats
    same: _Floats
    seconds: _Floats
    annotator: NDArray[Any]
    kind: NDArray[Any]

    @classmethod
    def of(cls, study: "Study") -> "AnswerTable":
        """Read the answers of a study."""
        answers = study.answers()
        texts = {name: _texts(answers[name]) for name in ("left", "right", "shown_first", "annotator", "kind")}
        numbers = {name: np.asarray(answers[name], dtype=np.float64) for name in ("difference", "same", "seconds")}
        return cls(ids=_texts(study.item_ids()), **texts, **numbers)

    def __len__(self) -> int:
        return len(self.left)

    def __getitem__(self, mask: _Mask) -> "AnswerTable":
        columns = {name: column[mask] for name, column in vars(self).items() if name in _COLUMNS}
        return AnswerTable(ids=self.ids, **columns)

    @property
    def is_graded(self) -> _Mask:
        """Mask of the answers with a difference, shape (n,)."""
        return np.isfinite(self.difference)

    def answered(self) -> "AnswerTable":
        """Return the answers without those that could not say, as ``confdiff check`` reads them."""
        return self[self.is_graded | np.isfinite(self.same)]

    @property
    def is_reserve(self) -> _Mask:
        """Mask of the answers to the questions that are reserved for reporting, shape (n,)."""
        mask: _Mask = self.kind == RESERVE
        return mask

    @property
    def grade(self) -> _Floats:
        """Grades as given on the screen, shape (n,): -1 for the item on the left, +1 for the one on the right."""
        return np.where(self.shown_first == self.left, self.difference, -self.difference)

    def columns(self) -> Mapping[str, NDArray[Any]]:
        """Return the graded answers as a table of pairs, as rankings read them."""
        graded = self[self.is_graded]
        names = ("left", "right", "difference", "annotator", "shown_first")
        return {name: getattr(graded, name) for name in names}

    @cached_property
    def check_data(self) -> CheckData:
        """The tables as the checks of ``confdiff check`` read them."""
        items = ItemTable(source=TableSource("the items"), ids=self.ids, columns={})
        pairs = PairTable(
            source=TableSource("the answers"),
            names={name: name for name in _ROLES},
            **{name: getattr(self, name) for name in _ROLES},
        )
        return CheckData(items=items, pairs=pairs, scale=PLAIN_SCALE, scale_given=True)

    def pair_numbers(self) -> NDArray[np.int64]:
        """Return a number per unordered pair of items, shape (n,)."""
        left, right = self.check_data.item_rows
        return np.minimum(left, right) * len(self.ids) + np.maximum(left, right)

    def judgements_on_screen(self) -> Judgements:
        """Return the graded answers as judgements from the item on the left of the screen to that on the right."""
        if not self.check_data.is_usable.any():
            return _no_judgements(len(self.ids))
        judgements = self.check_data.judgements
        swapped = (self.shown_first != self.left)[judgements.rows]
        return Judgements(
            n_items=judgements.n_items,
            rows=judgements.rows,
            left=np.where(swapped, judgements.right, judgements.left),
            right=np.where(swapped, judgements.left, judgements.right),
            c=np.where(swapped, -judgements.c, judgements.c),
            weight=judgements.weight,
        )


_COLUMNS = ("left", "right", "shown_first", "difference", "same", "seconds", "annotator", "kind")
_ROLES = ("left", "right", "difference", "same", "annotator", "shown_first")


def _no_judgements(n_items: int) -> Judgements:
    no_rows = np.zeros(0, dtype=np.int64)
    no_values = np.zeros(0)
    return Judgements(n_items=n_items, rows=no_rows, left=no_rows, right=no_rows, c=no_values, weight=no_values)


def _texts(values: Any) -> NDArray[Any]:
    return np.asarray([str(value) for value in values], dtype=np.str_)
