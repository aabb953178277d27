"""Supervise pairs of known posteriors and labels as a method takes them: differences, order and same-class answers."""

import torch

from confdiff.pairs.ordering import order_by_labels
from confdiff.pairs.pairs import Pairs, Supervision


def with_similarities(pairs: Pairs) -> Pairs:
    """Return the same pairs with the probabilities r r' + (1 - r)(1 - r') that both items are of the same class.

    >>> with_similarities(Pairs([[0.0], [1.0]], left=[0], right=[1], posteriors=[0.5, 0.75])).same
    tensor([0.5000])
    """
    r, r_prime = pairs.targets("posteriors")
    if r.ndim == 2:
        raise ValueError("same-class answers are for two classes; got posteriors of several.")
    return pairs._with(same=r * r_prime + (1 - r) * (1 - r_prime))


def supervised_pairs(pairs: Pairs, supervision: Supervision, strategy: str = "reverse", *, seed: int = 0) -> Pairs:
    """Return pairs as a method takes them, from the posteriors and labels of their items.

    Parameters
    ----------
    pairs : Pairs
        Pairs with differences, and with the labels or posteriors that the supervision needs.
    supervision : {"differences", "order", "labels", "posteriors", "same", ...}
        The supervision of the method, see :data:`~confdiff.pairs.Supervision`. For ``"order and same"``, every second
        pair has a same-class answer and the others are ordered by their labels.
    strategy : {"reverse", "discard"}
        Treatment of ordered pairs with labels (-, +), see :data:`~confdiff.pairs.STRATEGIES`.
    seed : int
        Seed of the order of pairs of one class.

    Returns
    -------
    Pairs

    Examples
    --------
    >>> pairs = Pairs([[0.0], [1.0]], left=[0, 0], right=[1, 1], posteriors=[0.0, 1.0], labels=[0, 1])
    >>> supervised_pairs(pairs, "order and same").same
    tensor([nan, 0.])
    """
    if supervision == "order":
        return order_by_labels(pairs, strategy, seed=seed)
    if supervision in ("same", "differences and same"):
        return with_similarities(pairs)
    if supervision != "order and same":
        return pairs
    is_ordered = torch.arange(len(pairs)) % 2 == 0
    y, y_prime = pairs.targets("labels")
    answered = with_similarities(order_by_labels(pairs, "reverse", seed=seed))
    assert answered.same is not None
    answered = answered._with(same=torch.where(is_ordered, torch.nan, answered.same))
    if strategy == "reverse":
        return answered
    return answered[(~is_ordered | (y >= y_prime)).numpy()].with_ordering(strategy)
