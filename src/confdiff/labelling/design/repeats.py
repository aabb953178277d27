"""Swapped repeats: the same question to the same annotator, later and with the items the other way round."""

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.spreading import positions_in_slots, slots_in_blocks

_Ints = NDArray[np.int64]
_Floats = NDArray[np.float64]
_GAP = 10  # questions between a question and its repeat, where the slot is long enough


def planned_repeats(
    count: int, positions: _Ints, slots: _Ints, repeatable: NDArray[np.bool_], judges: int, rng: np.random.Generator
) -> tuple[_Ints, _Floats]:
    """Choose questions to repeat, equally many of every annotator, and when.

    Parameters
    ----------
    count : int
        Number of repeats.
    positions, slots : ndarray of int, shape (n,)
        Position of each question in its slot, and the slot.
    repeatable : ndarray of bool, shape (n,)
        Which questions may be repeated. The last question of a slot is never repeated.
    judges : int
        Number of annotators.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    numbers : ndarray of int, shape (m,)
        Numbers of the questions to repeat; fewer than ``count`` if not enough may be repeated.
    times : ndarray, shape (m,)
        Times of the repeats on the scale of the positions. A repeat at 7.5 comes between positions 7 and 8.
    """
    room = np.bincount(slots, minlength=judges)[slots] - 1 - positions
    candidates = np.flatnonzero(repeatable & (room > 0))
    early = np.where(room[candidates] >= _GAP, 0, 1)
    order = positions_in_slots(early + rng.random(len(candidates)), slots[candidates])
    wanted = np.bincount(slots_in_blocks(count, judges, rng), minlength=judges)
    numbers = candidates[order < wanted[slots[candidates]]]
    least = np.minimum(_GAP, room[numbers])
    gaps = rng.integers(least, room[numbers] + 1)
    return numbers, positions[numbers] + gaps + rng.uniform(0.25, 0.75, len(numbers))
