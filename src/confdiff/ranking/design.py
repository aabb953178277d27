r"""The comparisons of a ranking as a linear model.

Symbols: N items with scores :math:`s`, n comparisons of the items i (left) and j (right) with difference :math:`c`,
weight :math:`w` and side :math:`z` (+1 if the left item was shown first, -1 if the right one was, 0 if not known):

.. math:: c = s_j - s_i + b z + e, \qquad s \sim N(0, t^2), \quad e \sim N(0, v / w).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ComparisonDesign:
    """n comparisons of N items.

    Attributes
    ----------
    n_items : int
        Number of items N.
    left, right : ndarray of int, shape (n,)
        Rows of the items, which differ within a pair.
    c : ndarray, shape (n,)
        Differences, right minus left.
    weight : ndarray, shape (n,)
        Weights; 0 for answers that are not used.
    side : ndarray, shape (n,), or None
        The side z of each comparison; None if no side is declared.
    """

    n_items: int
    left: _Rows
    right: _Rows
    c: _Floats
    weight: _Floats
    side: _Floats | None = None

    def __len__(self) -> int:
        return len(self.left)

    def sums(self, values: _Floats) -> _Floats:
        """Return the weighted sums of values of comparisons per item, with a minus for left items. (n,) -> (N,)."""
        weighted = self.weight * values
        received = np.bincount(self.right, weighted, self.n_items)
        sent = np.bincount(self.left, weighted, self.n_items)
        return np.asarray(received - sent, dtype=np.float64)

    def incidence(self, comparisons: _Rows, position: _Rows, n_items: int) -> Any:
        """Return the weighted incidence matrix of some comparisons, a sparse array with two entries per row.

        Parameters
        ----------
        comparisons : ndarray of int
            The comparisons.
        position : ndarray of int, shape (N,)
            Column of each item.
        n_items : int
            Number of columns.
        """
        from scipy.sparse import csr_array

        root = np.sqrt(self.weight[comparisons])
        rows = np.arange(len(comparisons))
        columns = np.concatenate([position[self.left[comparisons]], position[self.right[comparisons]]])
        entries = (np.concatenate([-root, root]), (np.concatenate([rows, rows]), columns))
        return csr_array(entries, shape=(len(comparisons), n_items))
