"""Which item of a pair is shown first: tossed, and for repeats the other one than before."""

import numpy as np
from numpy.typing import NDArray

from confdiff.labelling.design.pair_keys import pair_keys
from confdiff.labelling.design.questions import PairDesign
from confdiff.randomness import derived_seed


def first_shown(plan: PairDesign, n_items: int, seed: int = 0) -> NDArray[np.int64]:
    """Return the number of the item that is shown first (on the left) in each question, shape (n,).

    Parameters
    ----------
    plan : PairDesign
        Planned questions, each repeat after its original.
    n_items : int
        Number of items.
    seed : int, default=0
        Seed of the tosses.
    """
    rng = np.random.default_rng(derived_seed(seed, "sides"))
    shown: NDArray[np.int64] = np.where(rng.random(len(plan)) < 0.5, plan.left, plan.right)
    keys = pair_keys(np.stack([plan.left, plan.right], axis=1), n_items) * (plan.slot.max() + 1) + plan.slot
    order = np.lexsort([plan.kind == "repeat", keys])
    repeats = np.flatnonzero(plan.kind[order] == "repeat")
    rows = order[repeats]
    shown[rows] = plan.left[rows] + plan.right[rows] - shown[order[repeats - 1]]
    return shown
