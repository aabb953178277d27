"""Read judgements as they are written: numbers, per cent ("38%"), fractions ("1/3") and words ("much better")."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from confdiff.tabular.values import is_missing

Notation = Literal["number", "per cent", "fraction", "word", "winner"]
"""How judgements are written. ``winner`` means that a column names the favoured item."""

_NUMBER = r"[-+\N{MINUS SIGN}]?\s*(?:\d+(?:[.,]\d*)?|[.,]\d+)"  # no per cent needs commas between thousands
_PER_CENT = re.compile(rf"\s*({_NUMBER})\s*%\s*")
_FRACTION = re.compile(r"\s*([-+\N{MINUS SIGN}]?)\s*(\d+)\s*/\s*([1-9]\d*)\s*")
_MOST_WORDS = 15  # a column with more different texts has no scale of words


def normal_word(word: Any) -> str:
    """Return a word in the form in which words are compared: without case and extra blanks, and "1.0" as "1".

    >>> normal_word("  Much  Better "), normal_word("1.0"), normal_word(-2)
    ('much better', '1', '-2')
    """
    text = " ".join(str(word).casefold().split())
    try:
        return f"{float(text) + 0.0:.17g}"  # -0 becomes 0
    except ValueError:
        return text


def without_notation(column: NDArray[Any]) -> tuple[NDArray[Any], Notation]:
    """Return a column with "38%" replaced by 38 and "1/3" by a number, and the notation that was found.

    Parameters
    ----------
    column
        (n,) cells as read.

    Returns
    -------
    column
        The cells; those that are neither per cent nor fractions are unchanged. Per cent are unchanged too if more cells
        are plain numbers, because their units would differ.
    notation
        ``"per cent"``, ``"fraction"``, or ``"number"`` if there are neither.

    Examples
    --------
    >>> without_notation(np.array(["3", "1/4", None], dtype=object))
    (array(['3', 0.25, None], dtype=object), 'fraction')
    >>> without_notation(np.array(["38%", "-4.5 %", ""], dtype=object))
    (array([38.0, -4.5, ''], dtype=object), 'per cent')
    """
    if column.dtype.kind not in "OUT":
        return column, "number"
    cells = column.astype(object)
    texts = [(row, cell) for row, cell in enumerate(cells.tolist()) if isinstance(cell, str)]
    per_cent = {row: _PER_CENT.fullmatch(cell) for row, cell in texts if "%" in cell}
    count = sum(match is not None for match in per_cent.values())
    if count:
        if np.count_nonzero(is_not_per_cent(column)) > count:
            return column, "number"
        for row, match in per_cent.items():
            cells[row] = cells[row] if match is None else _float(match[1])
        return cells, "per cent"
    fractions = {row: _FRACTION.fullmatch(cell) for row, cell in texts if "/" in cell}
    for row, match in fractions.items():
        if match is not None:
            cells[row] = _float(f"{match[1]}{int(match[2]) / int(match[3])!r}")
    return cells, "fraction" if any(fractions.values()) else "number"


def is_not_per_cent(column: NDArray[Any]) -> NDArray[np.bool_]:
    """Return a mask of the cells with neither a per cent sign nor a missing value.

    >>> is_not_per_cent(np.array(["38%", "38", "", None], dtype=object)).tolist()
    [False, True, False, False]
    """
    cells = column.astype(object)
    has_no_sign = np.array(["%" not in str(cell) for cell in cells.tolist()], dtype=bool)
    mask: NDArray[np.bool_] = has_no_sign & ~is_missing(cells)
    return mask


def _float(text: str) -> float:
    return float(text.replace("\N{MINUS SIGN}", "-").replace(" ", "").replace(",", "."))


def word_positions(column: NDArray[Any], words: Sequence[str]) -> NDArray[Any]:
    """Return the position of each cell among words, from 0; cells that are none of them are unchanged.

    >>> word_positions(np.array(["Better", "same", "", "good"], dtype=object), ("worse", "same", "better"))
    array([2.0, 1.0, '', 'good'], dtype=object)
    """
    positions = {normal_word(word): float(position) for position, word in enumerate(words)}
    cells = column.astype(object)
    for row, cell in enumerate(cells.tolist()):
        is_cell = isinstance(cell, str) or (isinstance(cell, int | float) and cell == cell)
        if is_cell and normal_word(cell) in positions:
            cells[row] = positions[normal_word(cell)]
        elif is_cell and not isinstance(cell, str):
            cells[row] = str(cell)  # a number that is not a word must not pass for a position
    return cells


def words_among(cells: Iterable[Any]) -> list[str]:
    """Return the different texts of a column, sorted, if they may be a scale of words; else an empty list.

    >>> words_among(["same", "better", "Better ", None])
    ['better', 'same']
    """
    words = {normal_word(cell) for cell in cells if isinstance(cell, str) and cell.strip()}
    return sorted(words) if 2 <= len(words) <= _MOST_WORDS else []
