"""Read the values of single columns: missing values, ids and numbers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import exact_ids, first_repeated
from confdiff.tabular.row_numbers import TableSource

_NOT_NUMERIC = {
    "time": "times",
    "duration": "durations",
    "flag": "true/false values: they give the order of two items, not how far apart they are",
}


def is_missing(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the empty entries of a column: None, NaN, NA, NaT or blank text. Shapes: (N,) -> (N,).

    Vectors, (N, d), are missing where their numbers are NaN.
    """
    if column.ndim > 1:
        missing: NDArray[np.bool_] = np.isnan(column[:, 0]) & np.isnan(column[:, -1])
        return missing
    if column.dtype == object:
        return np.array([_is_empty(value) for value in column.tolist()], dtype=bool)
    missing = np.zeros(len(column), dtype=bool)
    if column.dtype.kind in "fmM":
        missing |= column != column
    if column.dtype.kind == "U":
        missing |= column == ""
    return missing


def _is_empty(value: Any) -> bool:
    if value is None or (isinstance(value, str) and not value.strip()):
        return True
    try:
        return bool(value != value)
    except TypeError:  # a comparison with pandas' NA is NA, which is neither true nor false
        return True


def check_ids(source: TableSource, ids: NDArray[Any]) -> NDArray[Any]:
    """Return ids as an array of integers or of text.

    Parameters
    ----------
    source
        The table of the ids, for messages.
    ids
        (N,) ids as read.

    Raises
    ------
    ValueError
        An id is missing, repeated or not exact.
    """
    missing = np.flatnonzero(is_missing(ids))
    if len(missing):
        more = f" ({len(missing):,} such rows)" if len(missing) > 1 else ""
        raise ValueError(f"{source}: the id is missing in {source.at(missing[0])}{more}.")
    ids = exact_ids(ids, name=str(source))
    repeated = first_repeated(ids)
    if repeated is not None:
        row = source.at(repeated)
        value = ids[repeated : repeated + 1].tolist()[0]
        raise ValueError(f"{source}: the ids must be unique; {value!r} in {row} is a repetition.")
    return ids


def as_floats(source: TableSource, name: str, column: Any) -> NDArray[np.float64]:
    """Return a numeric column as floats, with NaN where a number is missing; a message names the first bad cell."""
    from confdiff.io.column_types.converting import as_type
    from confdiff.io.column_types.deciding import type_of

    problem = _NOT_NUMERIC.get(type_of(column))
    if problem is not None:
        raise ValueError(f"{source}, column {name!r}, must be numeric; got {problem}.")
    return as_type(column, "number", source.cell(name))
