"""Drawing items, and pairs of them, at a class prior."""

import math
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from confdiff.pairs.pairs import Pairs
from confdiff.randomness import generator
from confdiff.validation import (
    as_tensor,
    check_choice,
    check_count,
    check_items,
    check_labels,
    check_prior,
    check_rows,
    column_names,
)

MOST_PAIRS = 10**8  # more would not fit into memory
_EXACTLY = 1e-9  # 2 * 50 * 0.29 is 28.999999999999996 in floating point, and means 29


def sample_pairs(
    items: Any,
    *,
    labels: ArrayLike,
    posteriors: ArrayLike | None = None,
    n_pairs: int,
    prior: float,
    partners: int = 1,
    replacement: bool = False,
    rows: ArrayLike | None = None,
    seed: int = 0,
) -> Pairs:
    """Draw ``n_pairs`` pairs at a class prior, with differences from the posteriors where these are given.

    int(2 n prior) positives and the rest negatives are drawn and shuffled; the first half are the first items of
    the pairs and the second half the second ones. The labels decide which items are drawn; apart from oracles,
    nothing learns from them.

    partners: in how many pairs each item stands, with another partner in each. With k partners, n pairs need 2n/k
        items, and for k >= 2 they are all connected.
    replacement: where there are too few items, draw some more than once (none twice before all were drawn once);
        otherwise too few items are an error.
    rows: draw from these items only (the training part).

    >>> pairs = sample_pairs([[0.0], [1.0], [2.0], [3.0]], labels=[0, 0, 1, 1], posteriors=[0.1, 0.2, 0.8, 0.9],
    ...                      n_pairs=2, prior=0.5)
    >>> sorted(pairs.labels[torch.cat([pairs.left, pairs.right])].tolist())
    [0.0, 0.0, 1.0, 1.0]
    """
    n, k = check_count("n_pairs", n_pairs), check_count("partners", partners)
    if n > MOST_PAIRS:
        raise ValueError(f"n_pairs must be at most {MOST_PAIRS:,}; got {n:,}.")
    half, rest = divmod(n, k)
    if rest or k > half:
        raise ValueError(
            f"{n} pairs cannot give each item {k} partners: n_pairs must be a multiple of partners and at least "
            f"its square, {k * k}."
        )
    if replacement and k > 1:
        raise ValueError("items that are drawn more than once have partners enough: partners goes without replacement.")
    features = items if isinstance(items, Tensor) else as_tensor(check_items("items", items))
    positive = as_tensor(check_labels(labels, len(features))) > 0
    candidates = torch.arange(len(features)) if rows is None else as_tensor(check_rows("rows", rows, len(features)))
    chance = generator(check_count("seed", seed, least=0), "pairs")
    drawn = _draw(positive, candidates, 2 * half, prior, replacement, chance)
    first, second = drawn[torch.randperm(2 * half, generator=chance)].view(2, half)
    if replacement:
        second = _apart(first, second)
    left = first.repeat_interleave(k)  # all pairs of an item stand together, so that a part of the pairs keeps them
    right = torch.stack([second.roll(-shift) for shift in range(k)], dim=1).reshape(-1)
    pairs = Pairs(features, left, right, labels=positive, feature_names=column_names(items))
    return pairs if posteriors is None else pairs.graded_by(posteriors)


def _draw(
    positive: Tensor, candidates: Tensor, count: int, prior: float, replacement: bool, chance: torch.Generator
) -> Tensor:
    """The rows of int(count prior) positives and of negatives for the rest."""
    n_positive = int(count * check_prior(prior) + _EXACTLY)
    if n_positive in (0, count):
        raise ValueError(f"{count} items at prior {prior:g} are all of one class: ask for more pairs or another prior.")
    drawn = []
    for kind, wanted, chosen in (("positives", n_positive, True), ("negatives", count - n_positive, False)):
        there = candidates[positive[candidates] == chosen]
        if wanted > len(there) and not (replacement and len(there)):
            remedy = ", or draw with replacement" if len(there) else ""
            raise ValueError(
                f"drawing {count} items at prior {prior:g} takes {wanted} {kind}, and there are {len(there)}. "
                f"Ask for fewer pairs or another prior{remedy}."
            )
        rounds = max(1, math.ceil(wanted / max(1, len(there))))
        order = torch.cat([torch.randperm(len(there), generator=chance) for _ in range(rounds)])
        drawn.append(there[order[:wanted]])
    return torch.cat(drawn)


def _apart(first: Tensor, second: Tensor) -> Tensor:
    """The second items in an order in which none is paired with itself, where that can be had by exchanging some."""
    second = second.clone()
    for row in (first == second).nonzero()[:, 0].tolist():
        others = ((second != first[row]) & (first != second[row])).nonzero()[:, 0]
        if len(others):
            second[[row, int(others[0])]] = second[[int(others[0]), row]]
    return second


def rows_at_prior(
    labels: ArrayLike, prior: float, *, take: Literal["first", "random"] = "random", seed: int = 0
) -> Tensor:
    """Rows of as many items as can be had at a class prior: all of one class and as many of the other as that takes.

    take: of the class that is not needed whole, take the first ones or take some at random.
    Returns: the rows of the positives, then those of the negatives; counts are rounded down.

    >>> rows_at_prior([1, 1, 1, 0, 0, 0, 0, 0], 0.2, take="first")
    tensor([0, 3, 4, 5, 6, 7])
    >>> rows_at_prior([1, 1, 1, 0, 0, 0, 0, 0], 0.5, take="first")
    tensor([0, 1, 2, 3, 4, 5])
    """
    check_choice("take", take, ["first", "random"])
    y = as_tensor(check_labels(labels, len(np.asarray(labels))))
    odds = check_prior(prior) / (1 - prior)
    positives, negatives = (y > 0).nonzero()[:, 0], (y == 0).nonzero()[:, 0]
    n_positive = min(len(positives), int(len(negatives) * odds + _EXACTLY))
    n_negative = min(len(negatives), int(len(positives) / odds + _EXACTLY))
    if not n_positive or not n_negative:
        raise ValueError(
            f"{len(positives)} positives and {len(negatives)} negatives give no test set at prior {prior:g}: "
            "it would hold one class alone."
        )
    chance = generator(check_count("seed", seed, least=0), "test")
    if take == "random":
        positives = positives[torch.randperm(len(positives), generator=chance)]
        negatives = negatives[torch.randperm(len(negatives), generator=chance)]
    return torch.cat([positives[:n_positive], negatives[:n_negative]])
