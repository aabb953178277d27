"""Pairs in the order that pairwise-comparison (Pcomp) methods take them in (Feng et al. 2021)."""

import torch

from confdiff.pairs.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import check_choice, check_count, no_pairs

STRATEGIES = {
    "reverse": "(-, +) pairs are turned round: all pairs are kept, and the Pcomp risk is biased",
    "discard": "(-, +) pairs are dropped: the Pcomp risk is unbiased, and pi (1 - pi) of the pairs are lost",
}
"""What to do with pairs whose first item is negative and whose second is positive."""


def order_by_labels(pairs: Pairs, strategy: str = "reverse", *, seed: int = 0) -> Pairs:
    """Order each pair so that the first item is, by its label, at least as positive as the second.

    By the labels and never by c: pairs ordered by the sign of c follow another distribution than the one that the
    Pcomp risk was derived for. Pairs of one class keep no order of their own: a coin decides it.

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
    kept = y >= y_prime
    if not kept.any():
        raise no_pairs()
    return ordered[kept.numpy()]
