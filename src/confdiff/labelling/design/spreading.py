"""Spread questions over annotators, and put those of each annotator in order."""

import numpy as np
from numpy.typing import NDArray

_Ints = NDArray[np.int64]


def slots_in_blocks(count: int, judges: int, rng: np.random.Generator) -> _Ints:
    """Return a slot per question: every block of ``judges`` questions goes to all annotators in random order."""
    n_blocks = -(-count // judges)
    blocks = rng.permuted(np.tile(np.arange(judges), (n_blocks, 1)), axis=1)
    return blocks.ravel()[:count]


def copies_for_others(count: int, pairs: int, slots: _Ints, judges: int) -> tuple[_Ints, _Ints]:
    """Ask the first ``pairs`` questions in turn until there are ``count``, each time of another annotator.

    Parameters
    ----------
    count, pairs : int
        Numbers of questions and of different pairs; ``count <= pairs * judges``.
    slots : ndarray of int, shape (pairs,)
        Slots of the first questions.
    judges : int
        Number of annotators.

    Returns
    -------
    numbers, slots : ndarray of int, shape (count,)
        Number of the pair and slot of each question.
    """
    turn = np.arange(count)
    numbers = turn % max(pairs, 1)
    return numbers, (slots[numbers] + turn // max(pairs, 1)) % judges


def shared_questions(count: int, slots: _Ints, judges: int, rng: np.random.Generator) -> tuple[_Ints, _Ints]:
    """Choose questions that a second annotator is asked too, equally many of every annotator.

    Parameters
    ----------
    count : int
        Number of questions to choose.
    slots : ndarray of int, shape (n,)
        Slots of the questions, made by :func:`slots_in_blocks`.
    judges : int
        Number of annotators, at least 2 if ``count > 0``.
    rng : numpy.random.Generator
        Source of random numbers.

    Returns
    -------
    numbers, slots : ndarray of int, shape (count,)
        Numbers of the chosen questions, and the slots of the second annotators.
    """
    if count == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    n_blocks = -(-len(slots) // judges)
    blocks = rng.permutation(n_blocks)
    numbers = (blocks[:, None] * judges + np.arange(judges)).ravel()
    steps = np.repeat(rng.integers(1, judges, n_blocks), judges)
    within = numbers < len(slots)
    numbers = numbers[within][:count]
    return numbers, (slots[numbers] + steps[within][:count]) % judges


def positions_in_slots(times: NDArray[np.float64], slots: _Ints) -> _Ints:
    """Return the position of each question among those of its slot, ordered by time."""
    order = np.lexsort([times, slots])
    sizes = np.bincount(slots)
    starts = np.cumsum(sizes) - sizes
    positions = np.empty(len(slots), dtype=np.int64)
    positions[order] = np.arange(len(slots)) - starts[slots[order]]
    return positions
