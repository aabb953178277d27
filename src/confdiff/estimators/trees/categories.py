"""Categories of data frames: whole numbers for the trees, learned at fit and applied at prediction."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.estimators.trees.settings import Names, column_numbers
from confdiff.validation import column_names

_Category = str | int | float | bool
"""A value of a column of categories."""

_MOST = 2**31


@dataclass(frozen=True)
class Categories:
    """The columns of categories.

    Attributes
    ----------
    columns : tuple of int
        Their numbers.
    values : dict
        The name of a column of a data frame -> its values, whose positions are the numbers that trees compare.
        Columns of numbers have no entry: their values are such numbers already.
    """

    columns: tuple[int, ...] = ()
    values: dict[str, tuple[_Category, ...]] = field(default_factory=dict)

    @classmethod
    def of_frame(cls, parameter: Any, frame: Any) -> "Categories":
        """Find the columns of categories of a data frame, and their values.

        Parameters
        ----------
        parameter : "auto", sequence or None
            ``"auto"`` takes the columns of the type ``category``; otherwise the names, numbers or a mask of columns.
        frame : pandas.DataFrame
            The training items.
        """
        names = column_names(frame)
        if parameter == "auto":
            columns = tuple(number for number, kind in enumerate(frame.dtypes) if str(kind) == "category")
        else:
            columns = _chosen(parameter, names, frame.shape[1])
        values = {}
        for number in columns:
            column = frame.iloc[:, number]
            if str(column.dtype) == "category" or column.dtype.kind not in "iuf":
                values[str(frame.columns[number])] = _distinct_values(column)
        return cls(columns=columns, values=values)

    @classmethod
    def of_matrix(cls, parameter: Any, names: Names, n_features: int) -> "Categories":
        """Return the columns of categories of a matrix of numbers."""
        return cls(columns=() if parameter == "auto" else _chosen(parameter, names, n_features))

    def encoded(self, items: Any) -> Any:
        """Return a data frame with numbers for its categories; unknown ones are missing values.

        Other forms of items are returned as they are.
        """
        if not self.values or not hasattr(items, "columns"):
            return items
        frame = items.copy()
        for name, values in self.values.items():
            if name in frame.columns:
                number_of = {value: number for number, value in enumerate(values)}
                numbers = [number_of.get(value, np.nan) for value in _as_category_list(frame[name])]
                frame[name] = np.array(numbers, dtype=np.float64)
        return frame

    def check(self, items: NDArray[Any], names: Names) -> None:
        """Check that columns of categories hold whole numbers from 0 on, or missing values."""
        for number in self.columns:
            column = items[:, number]
            present = column[~np.isnan(column)]
            is_category = (present >= 0) & (present < _MOST) & (present == np.floor(present))
            if not is_category.all():
                name = repr(names[number]) if names is not None else str(number)
                value = present[~is_category][0]
                raise ValueError(
                    f"categories must be whole numbers from 0 on, or columns of a data frame; got {value:g} in column "
                    f"{name}. Number the categories first, for example with OrdinalEncoder of scikit-learn."
                )


def _chosen(parameter: Any, names: Names, n_features: int) -> tuple[int, ...]:
    if parameter is None:
        return ()
    return column_numbers("categorical_features", parameter, names, n_features)


def _as_category_list(column: Any) -> list[Any]:
    """Return the values of a column as Python objects; missing ones are NaN or None."""
    return [value.item() if isinstance(value, np.generic) else value for value in column.tolist()]


def _distinct_values(column: Any) -> tuple[_Category, ...]:
    """Return the distinct values of a column of a data frame, sorted by their text."""
    present = set(_as_category_list(column.dropna()))
    unknown = [value for value in present if not isinstance(value, _Category)]
    if unknown:
        raise ValueError(
            f"categories must be texts, numbers or true/false; got {unknown[0]!r:.60} in column {column.name!r}."
        )
    return tuple(sorted(present, key=lambda value: (type(value).__name__, value)))
