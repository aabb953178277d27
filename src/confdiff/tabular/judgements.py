"""Read the judgements of pairs as numbers: from a column of differences, of winners, or of both."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from confdiff.display.text import listed
from confdiff.tabular.faults import Fault, usable_floats
from confdiff.tabular.notation import Notation, is_not_per_cent, without_notation, word_positions, words_among
from confdiff.tabular.roles import wins_by_position
from confdiff.tabular.row_numbers import TableSource
from confdiff.tabular.values import as_floats, is_missing
from confdiff.tabular.winners import ties, winner_signs

_Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class NumericJudgements:
    """Judgements as numbers, before their scale is applied.

    Attributes
    ----------
    values
        (n,), NaN where a judgement is missing or cannot be used.
    notation
        How they are written.
    written
        (n,) the cells, unless they are plain numbers.
    """

    values: _Floats
    notation: Notation = "number"
    written: NDArray[Any] | None = None


def read_judgements(
    source: TableSource,
    names: Mapping[str, str],
    columns: Mapping[str, NDArray[Any]],
    words: Sequence[str] = (),
    faults: list[Fault] | None = None,
) -> NumericJudgements:
    """Return the judgements of pairs as numbers.

    Parameters
    ----------
    source
        The table, for messages.
    names
        Role -> column. Without a difference, the winner decides: a difference of -1, 0 or 1. With both, the difference
        is the size, and the winner gives its sign. With neither, all judgements are missing.
    columns
        Role -> (n,) cells.
    words
        The words of the scale in their order, if it has words.
    faults
        A list to which cells that cannot be used are added, instead of an error for the first one.

    Raises
    ------
    ValueError
        A cell cannot be used, and ``faults`` is None.
    """
    if "difference" in names and "winner" not in names:
        return _differences(source, names["difference"], columns["difference"], words, faults)
    if "winner" not in names and not wins_by_position(names):
        return NumericJudgements(values=np.full(len(columns["left"]), np.nan))
    signs = _signs(source, names, columns, faults)
    if "difference" not in names:
        return NumericJudgements(values=signs, notation="winner", written=columns.get("winner", columns["right"]))
    sizes = _differences(source, names["difference"], columns["difference"], (), faults)
    refuse_cells(source, names["difference"], columns["difference"], sizes.values < 0, _SIZE, faults)
    values = np.where(sizes.values < 0, np.nan, sizes.values * signs + 0.0)
    return NumericJudgements(values=values, notation=sizes.notation, written=sizes.written)


_SIZE = "at least 0, because the winner gives the sign"
_WINNER = "the id of one of the two items, its side (left or right, a or b), or tie"
_TIE = "true or false"
_PER_CENT = "per cent, such as 38%, as most cells of this column are"


def _differences(
    source: TableSource, name: str, cells: NDArray[Any], words: Sequence[str], faults: list[Fault] | None
) -> NumericJudgements:
    if words:
        positions = word_positions(cells, words)
        unknown = np.array([isinstance(cell, str) and bool(cell.strip()) for cell in positions.tolist()], dtype=bool)
        refuse_cells(source, name, cells, unknown, f"one of {listed(map(repr, words))}", faults)
        missing = unknown | is_missing(positions)
        return NumericJudgements(
            values=np.where(missing, np.nan, positions).astype(np.float64), notation="word", written=cells
        )
    numbers, notation = without_notation(cells)
    if notation == "per cent":
        others = is_not_per_cent(cells)
        refuse_cells(source, name, cells, others, _PER_CENT, faults)
        numbers[others] = None
    values = read_numbers(source, name, numbers, faults)
    return NumericJudgements(values=values, notation=notation, written=None if notation == "number" else cells)


def _signs(
    source: TableSource,
    names: Mapping[str, str],
    columns: Mapping[str, NDArray[Any]],
    faults: list[Fault] | None,
) -> _Floats:
    """Return -1, 0 or 1 for each pair, from columns of winners and of ties."""
    if "winner" in names:
        cells = columns["winner"]
        signs = winner_signs(cells, columns["left"], columns["right"], names)
        refuse_cells(source, names["winner"], cells, np.isnan(signs) & ~is_missing(cells), _WINNER, faults)
    else:
        signs = np.ones(len(columns["right"]))
    if "tie" not in names:
        return signs
    is_tie = ties(columns["tie"])
    refuse_cells(source, names["tie"], columns["tie"], np.isnan(is_tie), _TIE, faults)
    return np.where(is_tie == 1, 0.0, np.where(np.isnan(is_tie), np.nan, signs))


def refuse_cells(
    source: TableSource,
    column: str,
    cells: NDArray[Any],
    invalid: NDArray[np.bool_],
    expected: str,
    faults: list[Fault] | None,
) -> None:
    """Raise an error that names the first invalid cell, or add a fault, if there is one."""
    rows = np.flatnonzero(invalid)
    if not len(rows):
        return
    if faults is None:
        first = cells[rows[:1]].tolist()[0]
        raise ValueError(f"{source}, column {column!r}, {source.at(rows[0])}: must be {expected}; got {first!r:.60}.")
    values = tuple(dict.fromkeys(str(cell) for cell in cells[rows].tolist()))
    faults.append(
        Fault(
            kind="not-on-scale",
            source=source,
            table="pairs",
            column=column,
            rows=rows,
            values=values,
            expected=expected,
        )
    )


def read_numbers(source: TableSource, name: str, cells: NDArray[Any], faults: list[Fault] | None = None) -> _Floats:
    """Return a column as floats, NaN where a number is missing.

    Parameters
    ----------
    source, name
        The table and the column, for messages.
    cells
        (n,) numbers, or text that can be read as numbers.
    faults
        A list to which cells that cannot be used are added, instead of an error for the first one.

    Raises
    ------
    ValueError
        A cell is not a number, and ``faults`` is None. If the cells may be words of a scale, the message lists them.
    """
    if faults is not None:
        return usable_floats(source, name, cells, faults, words_hint(cells))
    try:
        return as_floats(source, name, cells)
    except ValueError as error:
        raise ValueError(f"{error}{words_hint(cells)}") from error


def words_hint(cells: NDArray[Any]) -> str:
    """Return a sentence about the words in a column that should hold numbers; empty if it holds no words.

    >>> print(words_hint(np.array(["worse", "better"], dtype=object))[:46])
     If 'better' and 'worse' are words of a scale,
    """
    words = words_among(cells.tolist())
    if not words or any(character in word for word in words for character in ",;'"):
        return ""
    return (
        f" If {listed(map(repr, words))} are words of a scale, pass them in their order, such as "
        "scale='lowest,middle,highest'. The lowest one favours the first item most."
    )
