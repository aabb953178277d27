"""Read which item of a pair was favoured: by its id, by its side, or neither."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.notation import normal_word
from confdiff.tabular.values import is_missing

LEFT_WORDS = ("left", "first", "a", "model_a", "item_a", "1")
RIGHT_WORDS = ("right", "second", "b", "model_b", "item_b", "2")
TIE_WORDS = ("tie", "draw", "equal", "same", "both", "neither", "none", "x", "tie (bothbad)")
_TRUE = ("1", "true", "yes", "tie", "draw")
_FALSE = ("0", "false", "no", "")

_Signs = NDArray[np.float64]


def winner_signs(cells: NDArray[Any], left: NDArray[Any], right: NDArray[Any], names: Mapping[str, str]) -> _Signs:
    """Return -1 where the first item of a pair won, 1 where the second did, 0 for a tie.

    Parameters
    ----------
    cells
        (n,) the winner: one of the two ids, or the side (``left``, ``a``, the name of its column, ...) or ``tie``.
        A column holds either ids or sides.
    left, right
        (n,) ids of the two items.
    names
        Role -> column.

    Returns
    -------
    signs
        (n,), NaN where the cell is missing or names neither item; all NaN where ids and sides contradict each other.

    Examples
    --------
    >>> ids = np.array(["x1", "x1", "x2"])
    >>> others = np.array(["x2", "x3", "x3"])
    >>> winner_signs(np.array(["x1", "tie", "x3"]), ids, others, {"left": "l", "right": "r"})
    array([-1.,  0.,  1.])
    >>> winner_signs(np.array(["B", "a", "tie"]), ids, others, {"left": "l", "right": "r"})
    array([ 1., -1.,  0.])
    """
    words = [normal_word(cell) for cell in cells.tolist()]
    by_id = _signs(words, [normal_word(id) for id in left.tolist()], [normal_word(id) for id in right.tolist()])
    lefts = {*LEFT_WORDS, normal_word(names["left"])}
    rights = {*RIGHT_WORDS, normal_word(names["right"])}
    sides = {**dict.fromkeys(lefts - rights, -1.0), **dict.fromkeys(rights - lefts, 1.0)}
    by_side = np.array([sides.get(word, np.nan) for word in words])
    if np.any(by_id * by_side < 0) and not (np.isnan(by_id).all() or np.isnan(by_side).all()):
        return np.full(len(words), np.nan)
    signs = by_id if np.isfinite(by_id).sum() >= np.isfinite(by_side).sum() else by_side
    is_tie = np.array([word in TIE_WORDS for word in words], dtype=bool)
    signs = np.where(is_tie & np.isnan(signs), 0.0, signs)
    return np.where(is_missing(cells), np.nan, signs)


def _signs(words: list[str], lefts: list[str], rights: list[str]) -> _Signs:
    return np.array(
        [
            -1.0 if word == left else 1.0 if word == right else np.nan
            for word, left, right in zip(words, lefts, rights, strict=True)
        ]
    )


def ties(cells: NDArray[Any]) -> _Signs:
    """Return 1 where a column says that a pair is a tie, 0 where not or where it is empty, NaN for other cells.

    >>> ties(np.array([True, False, None], dtype=object))
    array([1., 0., 0.])
    """
    words = [
        "" if missing else normal_word(cell) for cell, missing in zip(cells.tolist(), is_missing(cells), strict=True)
    ]
    return np.array([1.0 if word in _TRUE else 0.0 if word in _FALSE else np.nan for word in words])
