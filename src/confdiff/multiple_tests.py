"""P-values of several tests, adjusted for their number."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats = NDArray[np.float64]


def holm(p_values: ArrayLike) -> _Floats:
    """Return p-values adjusted by Holm's step-down method, which controls the family-wise error rate.

    The probability of any rejection at level a where the hypotheses are true is at most a, whatever the dependence
    of the tests (Holm 1979).

    Parameters
    ----------
    p_values : array of shape (n,)
        P-values of the single tests.

    Returns
    -------
    array of shape (n,)
        Adjusted p-values, at most 1, in the same order.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    steps: _Floats = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1, dtype=np.float64))
    return _in_order_of(order, steps)


def benjamini_hochberg(p_values: ArrayLike) -> _Floats:
    """Return p-values adjusted by the method of Benjamini and Hochberg, which controls the false discovery rate.

    Of the rejections at level a, the expected fraction of false ones is at most a, for tests that are independent or
    positively dependent (Benjamini and Hochberg 1995).

    Parameters
    ----------
    p_values : array of shape (n,)
        P-values of the single tests.

    Returns
    -------
    array of shape (n,)
        Adjusted p-values, at most 1, in the same order.

    Examples
    --------
    >>> benjamini_hochberg([0.01, 0.04, 0.03]).tolist()
    [0.03, 0.04, 0.04]
    """
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    scaled = p[order] * len(p) / np.arange(1, len(p) + 1)
    steps: _Floats = np.minimum.accumulate(scaled[::-1])[::-1]
    return _in_order_of(order, steps)


def _in_order_of(order: NDArray[np.intp], steps: _Floats) -> _Floats:
    """Return adjusted values, sorted by their p-values, in the order of the tests."""
    adjusted = np.empty_like(steps)
    adjusted[order] = np.minimum(steps, 1)
    return adjusted
