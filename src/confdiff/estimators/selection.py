r"""Compare candidates on held-out pairs, and choose among them.

Symbols: :math:`c` the judged and :math:`d` the predicted difference of a held-out pair, :math:`w` its weight.

All candidates predict the same pairs, so that they are compared pair by pair: the standard error of the difference of
two R² is much smaller than that of either. Pairs with a common item are not independent, and the standard errors
account for that (Aronow, Samii and Assenova 2015).
"""

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.decoding import check_object, decode_fields
from confdiff.links import LinkName

_Vector = NDArray[np.float64]
_Rows = NDArray[np.int64]
NEGLIGIBLE = 0.005
"""A difference of two R² that does not matter."""
Clustering = Callable[[_Vector], float]
"""Returns the variance of a sum from the centred contributions of the pairs, shape (n,)."""


@dataclass(frozen=True)
class Estimate:
    """A value with its standard error; both are NaN where no pair determines them.

    >>> print(Estimate(value=0.5127, error=0.0123))
    0.513 ± 0.012
    """

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


@dataclass(frozen=True, eq=False)
class HeldOutPairs:
    """The judgements that candidates are compared on, one row for each test of a pair.

    Attributes
    ----------
    differences
        (n,) or (n, K) judged differences.
    weight
        (n,) weights.
    clustering
        The variance of sums over pairs, see :func:`variance_by_items` and :func:`variance_by_units`.
    """

    differences: _Vector
    weight: _Vector
    clustering: Clustering

    def squared_errors(self, predicted: _Vector) -> _Vector:
        """Return the weighted squared error of each pair, (n,)."""
        return self.weight * _row_sums((predicted - self.differences) ** 2)

    def r2(self, predicted: _Vector) -> Estimate:
        """Return the R² of predicted differences, ``1 - sum(w (d - c)^2) / sum(w c^2)``."""
        size = self.weight * _row_sums(self.differences**2)
        return self._ratio(size - self.squared_errors(predicted), size)

    def r2_gain(self, predicted: _Vector, reference: _Vector) -> Estimate:
        """Return by how much the R² of predicted differences is above that of a reference, pair by pair."""
        size = self.weight * _row_sums(self.differences**2)
        return self._ratio(self.squared_errors(reference) - self.squared_errors(predicted), size)

    def pairwise_accuracy(self, predicted: _Vector) -> Estimate:
        """Return the fraction of the pairs without ties that are in the right order; only of two classes."""
        if self.differences.ndim == 2:
            return Estimate(value=math.nan, error=math.nan)
        ordered = (self.differences != 0).astype(np.float64)
        correct = np.where(predicted == 0, 0.5, np.sign(predicted) == np.sign(self.differences))
        return self._ratio(ordered * correct, ordered)

    def _ratio(self, numerators: _Vector, denominators: _Vector) -> Estimate:
        """Return the ratio of two sums over pairs, with its standard error by linearisation."""
        total = denominators.sum()
        if total <= 0:
            return Estimate(value=math.nan, error=math.nan)
        value = numerators.sum() / total
        variance = self.clustering(numerators - value * denominators)
        return Estimate(value=float(value), error=math.sqrt(variance) / float(total))


def variance_by_items(left: _Rows, right: _Rows) -> Clustering:
    """Return the variance of sums over pairs where pairs with a common item are dependent.

    It is the sum of the products of the contributions of all two pairs that share an item, and at least the sum of
    squares. Pairs of the same two items count as one pair.

    Parameters
    ----------
    left, right : arrays of shape (n,)
        The rows of the items of each pair.

    Examples
    --------
    >>> variance_by_items(np.array([0, 2]), np.array([1, 3]))(np.array([1.0, 2.0]))
    5.0
    >>> variance_by_items(np.array([0, 0]), np.array([1, 3]))(np.array([1.0, 2.0]))
    9.0
    """
    size = int(max(left.max(), right.max())) + 1
    keys = np.minimum(left, right) * size + np.maximum(left, right)
    same_items = np.unique(keys, return_inverse=True)[1].reshape(-1)

    def variance(contributions: _Vector) -> float:
        item_sums = np.bincount(left, contributions, size) + np.bincount(right, contributions, size)
        pair_sums = np.bincount(same_items, contributions)
        squares = pair_sums @ pair_sums
        return float(max(item_sums @ item_sums - squares, squares))  # each pair counts at both of its items

    return variance


def variance_by_units(units: NDArray[Any]) -> Clustering:
    """Return the variance of sums over pairs where pairs of one unit are dependent, such as those of a group.

    >>> variance_by_units(np.array(["a", "a", "b"]))(np.array([1.0, 1.0, -2.0]))
    8.0
    """
    numbers = np.unique(units, return_inverse=True)[1].reshape(-1)

    def variance(contributions: _Vector) -> float:
        sums = np.bincount(numbers, contributions)
        return float(sums @ sums)

    return variance


def _row_sums(values: _Vector) -> _Vector:
    sums: _Vector = values.reshape(len(values), -1).sum(axis=1)
    return sums


@dataclass(frozen=True)
class ComparedCandidate:
    """A row of the table of compared candidates: the results of one candidate with one link.

    Attributes
    ----------
    candidate, link
        The names of the candidate and of the link.
    r2
        R² of the differences of held-out pairs; None if the candidate was not tried.
    gain
        R² minus that of the best row, on the same pairs: the standard error is that of the difference.
    pairwise_accuracy
        Fraction of held-out pairs in the right order; None with ties only or K classes.
    folds
        The number of folds that the candidate was fitted in.
    seconds
        The time for these fits; None in a table that was read, so that the same fit writes the same files.
    chosen
        Whether this candidate was chosen.
    note
        Why the candidate was dropped or not tried; empty otherwise.
    """

    candidate: str
    link: LinkName
    folds: int
    chosen: bool
    seconds: float | None = field(default=None, compare=False)
    r2: Estimate | None = None
    gain: Estimate | None = None
    pairwise_accuracy: Estimate | None = None
    note: str = ""

    @property
    def is_near_best(self) -> bool:
        """Whether the R² is at most one standard error, or too little to matter, below that of the best row."""
        return self.gain is not None and -self.gain.value <= max(self.gain.error, NEGLIGIBLE)


@dataclass(frozen=True)
class Selection:
    """The table of compared candidates, and how they were compared.

    Attributes
    ----------
    rows
        One row for each candidate and link.
    held_out
        What the folds hold out: ``"items"``, ``"connected components"``, ``"units"`` or ``"validation pairs"``;
        ``"nothing"`` without comparison.
    folds
        The number of folds.
    pairs
        The number of pairs that were compared.
    """

    rows: tuple[ComparedCandidate, ...]
    held_out: str
    folds: int
    pairs: int

    @property
    def chosen(self) -> ComparedCandidate:
        """The chosen row."""
        return next(row for row in self.rows if row.chosen)

    @property
    def equal_links(self) -> tuple[LinkName, ...]:
        """The links other than the chosen one that have a row near the best one, see :class:`ComparedCandidate`."""
        return tuple(
            link
            for link in dict.fromkeys(row.link for row in self.rows)
            if link != self.chosen.link and any(row.is_near_best for row in self.rows if row.link == link)
        )

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON values, without the times."""
        return asdict(self) | {"rows": [asdict(replace(row, seconds=None)) for row in self.rows]}

    @classmethod
    def from_json(cls, values: Any) -> "Selection":
        """Return the table from the JSON values of :meth:`to_json`."""
        selection = decode_fields(cls, check_object("selection", values))
        if sum(row.chosen for row in selection.rows) != 1:
            raise ValueError("the table of candidates must have one chosen row")
        return selection

    def to_text(self) -> str:
        """Return the table as aligned lines of text, the chosen row marked by a star."""
        header = ("", "candidate", "link", "R²", "gain", "pairwise accuracy", "seconds", "")
        lines = [header, *(_cells(row) for row in self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
        texts = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join(text.rstrip() for text in texts)


def _cells(row: ComparedCandidate) -> tuple[str, ...]:
    return (
        "*" if row.chosen else "",
        row.candidate,
        row.link,
        *("" if value is None else str(value) for value in (row.r2, row.gain, row.pairwise_accuracy)),
        "" if row.seconds is None else f"{row.seconds:.1f}",
        row.note,
    )
