"""Standardise columns: find those that are constant up to rounding, which must not be divided by their spread."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

_ROUNDING_STEPS = 16  # values that differ by no more are equal up to rounding


def is_constant(columns: NDArray[Any]) -> NDArray[np.bool_]:
    """Return whether each column of a matrix is constant, up to the rounding of its values.

    The standard deviation cannot decide this: that of a constant column may be 1e-17, because its mean is rounded.

    Parameters
    ----------
    columns : array of shape (m, d)
        Finite numbers.

    Returns
    -------
    array of bool of shape (d,)

    Examples
    --------
    >>> is_constant(np.array([[0.3, 5.0], [0.1 + 0.2, 6.0]]))
    array([ True, False])
    """
    values = np.asarray(columns)
    least = values.min(axis=0)
    greatest = values.max(axis=0)
    precision = np.finfo(values.dtype if values.dtype.kind == "f" else np.float64).eps
    size = np.maximum(np.abs(least), np.abs(greatest))
    with np.errstate(over="ignore"):  # a range beyond the largest float is not constant
        constant: NDArray[np.bool_] = greatest - least <= _ROUNDING_STEPS * precision * size
    return constant
