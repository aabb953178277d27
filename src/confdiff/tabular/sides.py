"""Read which item of a pair was shown first."""

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.side_words import named_sides
from confdiff.tabular.tables import PairTable
from confdiff.tabular.values import is_missing


def shown_sides(judged: PairTable) -> NDArray[np.int8] | None:
    """Return +1 where the left item was shown first, -1 where the right one was, and 0 where it is not known.

    Parameters
    ----------
    judged
        The pairs. A cell of the column ``shown_first`` holds the id of the item shown first, or its side, see
        :func:`~confdiff.tabular.side_words.named_sides`.

    Returns
    -------
    ndarray of int8, shape (n,), or None
        None without such a column.

    Raises
    ------
    ValueError
        A cell is neither empty nor one of these values.

    Examples
    --------
    >>> from confdiff.tabular.tables import read_judged
    >>> table = {"left": ["a", "a"], "right": ["b", "c"], "difference": [0.1, 0.2], "shown_first": ["b", "left"]}
    >>> shown_sides(read_judged(table))
    array([-1,  1], dtype=int8)
    """
    sides = read_sides(judged)
    if sides is None:
        return None
    side, is_invalid = sides
    invalid = np.flatnonzero(is_invalid)
    if len(invalid):
        first = int(invalid[0])
        more = f" ({len(invalid):,} such rows)" if len(invalid) > 1 else ""
        assert judged.shown_first is not None
        raise ValueError(
            f"{judged.source}, column {judged.names['shown_first']!r}, {judged.source.at(first)}{more}: "
            f"{judged.shown_first[first:].tolist()[0]!r} is neither an item of the pair nor 'left' or 'right'. "
            "Name the item shown first, or leave the cell empty if that is not known."
        )
    return side


def read_sides(judged: PairTable) -> tuple[NDArray[np.int8], NDArray[np.bool_]] | None:
    """Return the sides as :func:`shown_sides` does, and a mask of the cells that cannot be used, whose side is 0."""
    column = judged.shown_first
    if column is None:
        return None
    side = named_sides(column, judged.left, judged.right, judged.names)
    return side, (side == 0) & ~is_missing(column)
