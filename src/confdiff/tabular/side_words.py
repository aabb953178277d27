"""Read cells that name one of the two items of a pair: by its id, or by its side."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.io.lookup import distinct_ids, find_rows
from confdiff.tabular.notation import normal_word

LEFT_WORDS = ("left", "first", "a", "model_a", "item_a", "1")
RIGHT_WORDS = ("right", "second", "b", "model_b", "item_b", "2")


def named_sides(
    cells: NDArray[Any], left: NDArray[Any], right: NDArray[Any], names: Mapping[str, str]
) -> NDArray[np.int8]:
    """Return +1 where a cell names the left item of its pair, -1 where it names the right one, and 0 elsewhere.

    Parameters
    ----------
    cells
        (n,) ids, which are compared exactly, or sides in any case: ``left``, ``B``, ``model_a``, the name of a column.
        ``1`` and ``2`` are ids if more cells are the id of an item of their pair than a side.
    left, right
        (n,) ids of the two items.
    names
        Role -> column.

    Returns
    -------
    sides
        (n,), all 0 where ids and sides contradict each other and explain equally many cells.

    Examples
    --------
    >>> ids = np.array([1, 1, 2])
    >>> others = np.array([2, 3, 3])
    >>> named_sides(np.array([1, 3, 3]), ids, others, {"left": "l", "right": "r"})
    array([ 1, -1, -1], dtype=int8)
    >>> named_sides(np.array([1, 2, 2]), ids, others, {"left": "l", "right": "r"})
    array([ 1, -1, -1], dtype=int8)
    >>> named_sides(np.array(["B", "a", "tie"]), ids, others, {"left": "l", "right": "r"})
    array([-1,  1,  0], dtype=int8)
    """
    by_id, is_id = _sides_by_id(cells, left, right)
    by_word = _sides_by_word(cells, names)
    count_of_ids = np.count_nonzero(by_id)
    count_of_words = np.count_nonzero(by_word)
    if count_of_words > count_of_ids:
        return np.where(by_word != 0, by_word, by_id)
    if count_of_words == count_of_ids and np.any(by_id * by_word < 0):
        return np.zeros(len(cells), dtype=np.int8)
    return np.where(is_id, by_id, by_word)


def _sides_by_id(
    cells: NDArray[Any], left: NDArray[Any], right: NDArray[Any]
) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
    """Return the sides of cells that are an id of their pair, and a mask of the cells that are an id of any pair."""
    ids = distinct_ids(left, right)
    rows = find_rows(ids, cells)
    is_left = rows == find_rows(ids, left)
    is_right = rows == find_rows(ids, right)
    sides = is_left.astype(np.int8) - is_right
    is_id = rows >= 0
    return np.where(is_id, sides, 0).astype(np.int8), is_id


def _sides_by_word(cells: NDArray[Any], names: Mapping[str, str]) -> NDArray[np.int8]:
    lefts = {*LEFT_WORDS, normal_word(names["left"])}
    rights = {*RIGHT_WORDS, normal_word(names["right"])}
    side = {**dict.fromkeys(lefts - rights, 1), **dict.fromkeys(rights - lefts, -1)}
    return np.array([side.get(normal_word(cell), 0) for cell in cells.tolist()], dtype=np.int8)
