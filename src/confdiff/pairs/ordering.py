"""Order pairs as pairwise-comparison (Pcomp) methods take them (Feng et al. 2021)."""

import torch

from confdiff.pairs.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import check_choice, check_count, no_pairs

STRATEGIES = {
    "reverse": "(-, +) pairs are swapped: all pairs are kept, and the Pcomp risk is biased",
    "discard": "(-, +) pairs are dropped: the Pcomp risk is unbiased, and pi (1 - pi) of the pairs are lost",
}
"""Treatments of pairs whose first item is negative and whose second is positive."""


def order_by_labels(pairs: Pairs, strategy: str = "reverse", *, seed: int = 0) -> Pairs:
    """Order each pair so that the first item is, by its label, at least as positive as the second.

    Labels decide, never c: pairs ordered by the sign of c follow another distribution than the one that the Pcomp
    risk was derived for. The order of pairs of one class is random.

    Parameters
    ----------
    pairs : Pairs
        Pairs whose items have labels.
    strategy : {"reverse", "discard"}
        Treatment of (-, +) pairs, see :data:`STRATEGIES`.
    seed : int
        Seed of the order of pairs of one class.

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0]], left=[0, 1], right=[1, 0], labels=[0, 1])
    >>> order_by_labels(pairs).left, len(order_by_labels(pairs, "discard"))
    (tensor([1, 1]), 1)
    """
    check_choice("strategy", strategy, STRATEGIES)
    y, y_prime = pairs.targets("labels")
    coin = torch.rand(len(pairs), generator=generator(check_count("seed", seed, least=0), "ties")) < 0.5
    ordered = pairs.oriented(torch.where(y == y_prime, coin, y < y_prime)).with_ordering(strategy)
    if strategy == "reverse":
        return ordered
    in_order = y >= y_prime
    if not in_order.any():
        raise no_pairs()
    return ordered[in_order.numpy()]
