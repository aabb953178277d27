"""Pairs of two uncertain items, for the second half of a study."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.balanced import extended_pairs
from confdiff.labelling.design.pair_keys import turned_at_random
from confdiff.labelling.design.questions import PlannedQuestion

_Ints = NDArray[np.int64]
_POOL = 1 / 3  # fraction of the items that are uncertain
_MOST_PARTNERS = 4  # new pairs per item: more partners of the same items teach little


def uncertain_pairs(uncertainty: NDArray[np.float64], count: int, taken: _Ints, rng: np.random.Generator) -> _Ints:
    """Draw new pairs among the most uncertain items, each of which occurs equally often.

    Parameters
    ----------
    uncertainty : ndarray, shape (n_items,)
        Uncertainty of the model about each item, such as p (1 - p).
    count : int
        Number of pairs.
    taken : ndarray of int, shape (n, 2)
        Pairs that were asked or planned already.
    rng : numpy.random.Generator
        Source of random numbers; also breaks ties of the uncertainty.

    Returns
    -------
    ndarray of int, shape (m, 2)
        The pairs; fewer than ``count`` if too few pairs are free.
    """
    n_items = len(uncertainty)
    ranked = np.lexsort([rng.random(n_items), -uncertainty])
    size = max(round(_POOL * n_items), -(-2 * count // _MOST_PARTNERS), 2)
    while True:
        pool = ranked[:size]
        inside = _numbers_within(taken, pool, n_items)
        free = len(pool) * (len(pool) - 1) // 2 - len(np.unique(np.sort(inside, axis=1), axis=0))
        if len(pool) >= n_items or free >= 2 * count:
            break
        size *= 2
    drawn = extended_pairs(inside, len(pool), min(count, free), rng)
    return turned_at_random(pool[drawn], rng)


def _numbers_within(pairs: _Ints, pool: _Ints, n_items: int) -> _Ints:
    """Return the pairs whose two items are in the pool, by their positions in it."""
    position = np.full(n_items, -1)
    position[pool] = np.arange(len(pool))
    numbers = position[pairs]
    inside: _Ints = numbers[(numbers >= 0).all(axis=1)]
    return inside


def replanned(
    asked: Sequence[PlannedQuestion],
    free: Sequence[PlannedQuestion],
    uncertainty: NDArray[np.float64],
    seed: int,
) -> list[PlannedQuestion]:
    """Return the free questions of a plan, with pairs of uncertain items in those that are not for other purposes.

    Questions of the design, triangles and earlier adaptive questions are replaced; the random reserve, repeats, gold
    and same-class questions remain. The slots and the order remain.

    Parameters
    ----------
    asked, free : sequence of PlannedQuestion
        The questions that somebody was asked already, and those that nobody was asked yet.
    uncertainty : ndarray, shape (n_items,)
        Uncertainty of the model about each item.
    seed : int
        Seed of all random numbers.

    Returns
    -------
    list of PlannedQuestion
        As many questions as ``free``.
    """
    plan = [*asked, *free]
    kinds = np.array([question.kind for question in plan], dtype=np.str_)
    pairs = np.array([(question.left, question.right) for question in plan], dtype=np.int64).reshape(-1, 2)
    slots = np.array([question.slot for question in plan], dtype=np.int64)
    repeated = _is_repeated(pairs, slots, kinds, len(uncertainty))
    is_free = np.arange(len(plan)) >= len(asked)
    rows = np.flatnonzero(is_free & np.isin(kinds, ["design", "triangle", "adaptive"]) & ~repeated)
    rng = np.random.default_rng(seed)
    remaining = np.ones(len(plan), dtype=bool)
    remaining[rows] = False
    drawn = uncertain_pairs(uncertainty, len(rows), pairs[remaining], rng)
    for row, (left, right) in zip(rows.tolist(), drawn.tolist(), strict=False):
        plan[row] = PlannedQuestion(left=left, right=right, kind="adaptive", question="difference", slot=plan[row].slot)
    return plan[len(asked) :]


def _is_repeated(pairs: _Ints, slots: _Ints, kinds: NDArray[np.str_], n_items: int) -> NDArray[np.bool_]:
    """Return which questions have a repeat in their slot: they remain, or the repeat would have no original."""
    keys = (slots * n_items + pairs.min(axis=1)) * n_items + pairs.max(axis=1)
    return np.isin(keys, keys[kinds == "repeat"])
