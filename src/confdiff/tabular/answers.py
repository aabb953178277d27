"""Read answers to the question whether two items are of the same class: numbers, or yes and no."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.faults import Fault
from confdiff.tabular.judgements import read_numbers, refuse_cells
from confdiff.tabular.notation import normal_word
from confdiff.tabular.row_numbers import TableSource

SAME_WORDS = ("yes", "y", "true", "t", "same")
"""Words for "of the same class", in any case."""

OTHER_WORDS = ("no", "n", "false", "f", "different", "other")
"""Words for "not of the same class"."""

ANSWER = "1 or yes for the same class, 0 or no for another one, a probability, or empty if it was not asked"
"""What a cell of the column must be, for messages."""

_Floats = NDArray[np.float64]


def read_answers(source: TableSource, name: str, cells: NDArray[Any], faults: list[Fault] | None = None) -> _Floats:
    """Return a column of same-class answers as numbers, NaN where the question was not asked.

    Parameters
    ----------
    source, name
        The table and the column, for messages.
    cells
        (n,) numbers, true and false, or text.
    faults
        A list to which cells that cannot be used are added, instead of an error for the first one.

    Returns
    -------
    answers
        (n,). Numbers are not checked to be in [0, 1].

    Raises
    ------
    ValueError
        A cell is neither a number nor one of the words, and ``faults`` is None.

    Examples
    --------
    >>> read_answers(TableSource("the pairs"), "same", np.array(["Yes", "no", None, "0.8"], dtype=object))
    array([1. , 0. , nan, 0.8])
    """
    if cells.dtype.kind in "biuf":
        return cells.astype(np.float64)
    numbers = np.array([_number_of(cell) for cell in cells.tolist()] + [None], dtype=object)[:-1]
    unknown = np.array([isinstance(number, str) for number in numbers], dtype=bool)
    refuse_cells(source, name, cells, unknown, ANSWER, faults)
    numbers[unknown] = None
    return read_numbers(source, name, numbers, faults)


def _number_of(cell: Any) -> Any:
    """Return the number of a cell, None for an empty one, and the cell itself if it is not an answer."""
    if not isinstance(cell, str):
        return float(cell) if isinstance(cell, bool) else cell
    word = normal_word(cell)
    if word in SAME_WORDS:
        return 1.0
    if word in OTHER_WORDS:
        return 0.0
    try:
        return float(word) if word else None
    except ValueError:
        return cell
