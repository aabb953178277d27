"""Draw items, and pairs of them, at a class prior."""

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

_MAX_PAIRS = 10**8  # a larger number would not fit into memory
_ROUNDING = 1e-9  # 2 * 50 * 0.29 is 28.999999999999996 in floating point, and means 29


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
    """Draw pairs at a class prior, with differences from the posteriors if these are passed.

    int(2 n prior) positives and the rest negatives are drawn and shuffled. The first half are the first items of the
    pairs, the second half the second items. The labels decide which items are drawn; only oracles learn from them.

    Parameters
    ----------
    items : array-like of shape (N, d)
        The features.
    labels : array-like of shape (N,)
        The binary labels, 0/1 or -1/+1.
    posteriors : array-like of shape (N,), optional
        The probability of the positive class for each item.
    n_pairs : int
        The number of pairs, n.
    prior : float
        The fraction of positives among the items drawn.
    partners : int
        The number of pairs in which each item occurs, with a different partner in each. With k partners, n pairs need
        2n/k items, and for k >= 2 they are all connected.
    replacement : bool
        Whether to draw items more than once if there are too few; otherwise too few items are an error. No item is
        drawn twice before all were drawn once.
    rows : array-like, optional
        Draw from these items only (the training set).
    seed : int
        Seed of the draw.

    Examples
    --------
    >>> pairs = sample_pairs([[0.0], [1.0], [2.0], [3.0]], labels=[0, 0, 1, 1], posteriors=[0.1, 0.2, 0.8, 0.9],
    ...                      n_pairs=2, prior=0.5)
    >>> sorted(pairs.labels[torch.cat([pairs.left, pairs.right])].tolist())
    [0.0, 0.0, 1.0, 1.0]
    """
    n = check_count("n_pairs", n_pairs)
    k = check_count("partners", partners)
    if n > _MAX_PAIRS:
        raise ValueError(f"n_pairs must be at most {_MAX_PAIRS:,}; got {n:,}.")
    half, rest = divmod(n, k)
    if rest or k > half:
        raise ValueError(
            f"{n} pairs cannot give each item {k} partners: n_pairs must be a multiple of partners and at least "
            f"its square, {k * k}."
        )
    if replacement and k > 1:
        raise ValueError(f"partners={k} cannot be combined with replacement=True; drop one of them.")
    features = items if isinstance(items, Tensor) else as_tensor(check_items("items", items))
    positive = as_tensor(check_labels(labels, len(features))) > 0
    candidates = torch.arange(len(features)) if rows is None else as_tensor(check_rows("rows", rows, len(features)))
    rng = generator(check_count("seed", seed, least=0), "pairs")
    drawn = _draw(positive, candidates, 2 * half, prior, replacement, rng)
    first, second = drawn[torch.randperm(2 * half, generator=rng)].view(2, half)
    if replacement:
        second = _without_self_pairs(first, second)
    left = first.repeat_interleave(k)  # all pairs of an item are adjacent, also in a fraction of the pairs
    right = torch.stack([second.roll(-shift) for shift in range(k)], dim=1).reshape(-1)
    pairs = Pairs(features, left, right, labels=positive, feature_names=column_names(items))
    return pairs if posteriors is None else pairs.graded_by(posteriors)


def _draw(
    positive: Tensor, candidates: Tensor, count: int, prior: float, replacement: bool, rng: torch.Generator
) -> Tensor:
    """Return the rows of int(count prior) positives, and of negatives for the rest."""
    n_positive = int(count * check_prior(prior) + _ROUNDING)
    if n_positive in (0, count):
        raise ValueError(f"{count} items at prior {prior:g} are all of one class: ask for more pairs or another prior.")
    drawn = []
    for name, needed, sign in (("positives", n_positive, True), ("negatives", count - n_positive, False)):
        available = candidates[positive[candidates] == sign]
        if needed > len(available) and not (replacement and len(available)):
            remedy = ", or pass replacement=True" if len(available) else ""
            raise ValueError(
                f"drawing {count} items at prior {prior:g} takes {needed} {name}, and there are {len(available)}. "
                f"Ask for fewer pairs or another prior{remedy}."
            )
        rounds = max(1, math.ceil(needed / max(1, len(available))))
        order = torch.cat([torch.randperm(len(available), generator=rng) for _ in range(rounds)])
        drawn.append(available[order[:needed]])
    return torch.cat(drawn)


def _without_self_pairs(first: Tensor, second: Tensor) -> Tensor:
    """Return the second items, exchanged so that no item is paired with itself, where that is possible."""
    second = second.clone()
    for row in (first == second).nonzero()[:, 0].tolist():
        exchangeable = ((second != first[row]) & (first != second[row])).nonzero()[:, 0]
        if len(exchangeable):
            partner = int(exchangeable[0])
            second[[row, partner]] = second[[partner, row]]
    return second


def rows_at_prior(
    labels: ArrayLike, prior: float, *, take: Literal["first", "random"] = "random", seed: int = 0
) -> Tensor:
    """Return the rows of the largest subset at a class prior: all items of one class and some of the other.

    Parameters
    ----------
    labels : array-like of shape (N,)
        The binary labels.
    prior : float
        The fraction of positives in the subset.
    take : {"first", "random"}
        Choice of items from the class that is not used completely.
    seed : int
        Seed of a random choice.

    Returns
    -------
    Tensor
        The rows of the positives, then those of the negatives; counts are rounded down.

    Examples
    --------
    >>> rows_at_prior([1, 1, 1, 0, 0, 0, 0, 0], 0.2, take="first")
    tensor([0, 3, 4, 5, 6, 7])
    >>> rows_at_prior([1, 1, 1, 0, 0, 0, 0, 0], 0.5, take="first")
    tensor([0, 1, 2, 3, 4, 5])
    """
    check_choice("take", take, ["first", "random"])
    y = as_tensor(check_labels(labels, len(np.asarray(labels))))
    odds = check_prior(prior) / (1 - prior)
    positives = (y > 0).nonzero()[:, 0]
    negatives = (y == 0).nonzero()[:, 0]
    n_positive = min(len(positives), int(len(negatives) * odds + _ROUNDING))
    n_negative = min(len(negatives), int(len(positives) / odds + _ROUNDING))
    if not n_positive or not n_negative:
        raise ValueError(
            f"{len(positives)} positives and {len(negatives)} negatives give no test set at prior {prior:g}: "
            "it would hold only one class."
        )
    rng = generator(check_count("seed", seed, least=0), "test")
    if take == "random":
        positives = positives[torch.randperm(len(positives), generator=rng)]
        negatives = negatives[torch.randperm(len(negatives), generator=rng)]
    return torch.cat([positives[:n_positive], negatives[:n_negative]])
