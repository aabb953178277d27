"""Read which item of a pair was favoured: by its id, by its side, or neither."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.notation import normal_word
from confdiff.tabular.side_words import named_sides
from confdiff.tabular.values import is_missing

TIE_WORDS = ("tie", "draw", "equal", "same", "both", "neither", "none", "x", "tie (bothbad)")
_TRUE = ("1", "true", "yes", "tie", "draw")
_FALSE = ("0", "false", "no", "")

_Signs = NDArray[np.float64]


def winner_signs(cells: NDArray[Any], left: NDArray[Any], right: NDArray[Any], names: Mapping[str, str]) -> _Signs:
    """Return -1 where the first item of a pair won, 1 where the second did, 0 for a tie.

    Parameters
    ----------
    cells
        (n,) the winner: one of the two ids, or the side (see
        :func:`~confdiff.tabular.side_words.named_sides`), or ``tie``.
    left, right
        (n,) ids of the two items.
    names
        Role -> column.

    Returns
    -------
    signs
        (n,), NaN where the cell is missing or names neither item.

    Examples
    --------
    >>> ids = np.array(["x1", "x1", "x2"])
    >>> others = np.array(["x2", "x3", "x3"])
    >>> winner_signs(np.array(["x1", "tie", "x3"]), ids, others, {"left": "l", "right": "r"})
    array([-1.,  0.,  1.])
    >>> winner_signs(np.array(["B", "a", "tie"]), ids, others, {"left": "l", "right": "r"})
    array([ 1., -1.,  0.])
    """
    signs = -named_sides(cells, left, right, names).astype(np.float64)
    is_tie = np.array([normal_word(cell) in TIE_WORDS for cell in cells.tolist()], dtype=bool)
    is_unread = is_missing(cells) | ((signs == 0) & ~is_tie)
    return np.where(is_unread, np.nan, signs + 0.0)


def ties(cells: NDArray[Any]) -> _Signs:
    """Return 1 where a column says that a pair is a tie, 0 where not or where it is empty, NaN for other cells.

    >>> ties(np.array([True, False, None], dtype=object))
    array([1., 0., 0.])
    """
    words = [
        "" if missing else normal_word(cell) for cell, missing in zip(cells.tolist(), is_missing(cells), strict=True)
    ]
    return np.array([1.0 if word in _TRUE else 0.0 if word in _FALSE else np.nan for word in words])
