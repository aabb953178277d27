"""Make the features of trees complete and scaled, for the networks that estimate a class prior."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.trees.categories import Categories
from confdiff.estimators.trees.ends import Floats
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import as_matrix
from confdiff.standardisation import Scaling, fit_scaling
from confdiff.validation import check_matrix, column_names, is_sparse

Labelled = tuple[Any, Any]
"""Items and their labels."""


@dataclass(frozen=True)
class Completion:
    """Fill missing numbers with the median, encode categories as one-hot columns, and standardise.

    Attributes
    ----------
    numbers : array of int
        The columns of numbers.
    fill : array
        The median of each.
    categories : dict
        Column of categories -> the numbers of the categories that occur.
    scaling : Scaling
        The scaling of the complete columns.
    """

    numbers: NDArray[np.int64]
    fill: Floats
    categories: dict[int, Floats]
    scaling: Scaling

    @classmethod
    def of(cls, items: NDArray[Any], categorical: tuple[int, ...]) -> "Completion":
        """Learn the medians, the categories and the scaling from items, which may have missing values."""
        numbers = np.setdiff1d(np.arange(items.shape[1]), categorical)
        columns = items[:, numbers].astype(np.float64)
        has_values = ~np.isnan(columns).all(axis=0)
        fill = np.zeros(len(numbers))
        fill[has_values] = np.nanmedian(columns[:, has_values], axis=0)
        categories = {number: _present(items[:, number]) for number in categorical}
        complete = _complete(items, numbers, fill, categories)
        return cls(numbers=numbers, fill=fill, categories=categories, scaling=fit_scaling(complete))

    def apply(self, items: NDArray[Any]) -> Any:
        """Return complete, scaled items."""
        return self.scaling.apply(_complete(items, self.numbers, self.fill, self.categories))


def complete_pairs(data: Pairs, labelled: Labelled | None, categories: Categories) -> tuple[Pairs, Labelled | None]:
    """Return pairs and labelled items with complete and scaled features; sparse items are returned as they are.

    Parameters
    ----------
    data : Pairs
        Pairs over a matrix of floats, with numbers for categories.
    labelled : tuple (items, labels) or None
        Items in the form of the training items.
    categories : Categories
        The columns of categories.
    """
    items = as_matrix(data.items)
    if is_sparse(items):
        return data, labelled
    completion = Completion.of(items, categories.columns)
    pairs = data.with_items(completion.apply(items))
    if labelled is None:
        return pairs, None
    names = column_names(labelled[0])
    if names is not None and data.feature_names is not None and names != data.feature_names:
        raise ValueError(f"labelled items must have the columns {list(data.feature_names)}; got {list(names)}.")
    rows = check_matrix("labelled items", categories.encoded(labelled[0]), allow_missing=True)
    if rows.shape[1] != items.shape[1]:
        raise ValueError(f"labelled items must have {items.shape[1]} features; got {rows.shape[1]}.")
    return pairs, (completion.apply(rows), labelled[1])


def _present(column: NDArray[Any]) -> Floats:
    """Return the distinct values of a column, without missing ones."""
    return np.unique(column[~np.isnan(column)]).astype(np.float64)


def _complete(items: NDArray[Any], numbers: NDArray[np.int64], fill: Floats, categories: dict[int, Floats]) -> Floats:
    """Return the numbers with missing ones filled, then one column for each category."""
    columns = items[:, numbers].astype(np.float64)
    parts = [np.where(np.isnan(columns), fill, columns)]
    parts += [(items[:, [number]] == values).astype(np.float64) for number, values in categories.items()]
    return np.concatenate(parts, axis=1)
