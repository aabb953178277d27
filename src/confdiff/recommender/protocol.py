"""The paper's protocol: hold out one positive of each user and rank it with candidates that the user did not like.

The paper ranks sampled candidates only. The full ranking is among all items that are not in training with that user.
Sampled metrics depend on the sample, and can reverse the order of methods (Krichene and Rendle 2020).
"""

import os
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from confdiff.metrics import hit_rate, ndcg
from confdiff.pairs import Pairs
from confdiff.randomness import derived_seed, generator
from confdiff.recommender.confidence import Graded
from confdiff.validation import check_choice, check_count

NEGATIVES = ("auto", "observed", "unobserved")
"""Sources of candidates, see :func:`leave_one_out`."""

CUTOFF = 10
"""Length of the list of recommendations that the metrics evaluate, as in the paper."""

Scorer = Callable[[Tensor], Tensor]
"""(m, 2) users and items -> (m,) scores."""

_Floats = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_Rows = NDArray[np.int64]
_BYTES_PER_PAIR = 64  # two rows, a difference and a group, and a copy while the parts are joined
_ENOUGH = 4  # "auto" means observed if each user has this many times as many negatives as are held out


@dataclass(frozen=True, eq=False)
class RankingSplit:
    """Interactions for training, and candidates for the ranking.

    Attributes
    ----------
    train : ndarray of int
        Rows of the interactions in training.
    users : ndarray of int, shape (u,)
        Evaluated users: those with a positive to hold out and enough candidates.
    candidates : ndarray of int, shape (u, 1 + n_negatives)
        Items to rank, the held-out positive first.
    seen : ndarray of bool, shape (n_users, n_items)
        Mask of the items in training with each user; the full ranking excludes them.
    """

    train: _Rows
    users: _Rows
    candidates: _Rows
    seen: _Mask

    @property
    def chance(self) -> float:
        """Hit rate at :data:`CUTOFF` of random scores among the candidates."""
        return min(1.0, CUTOFF / int(self.candidates.shape[1]))


def leave_one_out(graded: Graded, *, n_negatives: int = 49, negatives: str = "auto", seed: int = 0) -> RankingSplit:
    """Hold out the latest positive of each user, and choose candidates that are not positive.

    Parameters
    ----------
    graded : Graded
        Interactions with confidences. Without times a random positive is held out.
    n_negatives : int, default=49
        Number of candidates besides the positive.
    negatives : {"auto", "observed", "unobserved"}, default="auto"
        ``observed`` candidates are interactions of the user, and are held out too. ``unobserved`` candidates are items
        without an interaction of the user. ``auto`` means observed if each user has many, as in the full KuaiRec
        matrix.
    seed : int, default=0
        Seed of the choices.

    Returns
    -------
    RankingSplit

    Raises
    ------
    ValueError
        If no user has a positive and enough candidates.
    """
    check_count("n_negatives", n_negatives)
    check_choice("negatives", negatives, NEGATIVES)
    data = graded.interactions
    rng = np.random.default_rng(derived_seed(seed, "hold out"))
    held_out = _latest_positives(graded, rng)
    users = data.users[held_out]
    observed = np.zeros((len(data.user_ids), len(data.item_ids)), dtype=bool)
    observed[data.users, data.items] = True
    in_training = np.ones(len(data), dtype=bool)
    if _takes_observed(graded, n_negatives, negatives):
        enough = _negative_counts(graded)[users] >= n_negatives
        users = users[enough]
        rows = _sample_rows(data.users, np.flatnonzero(~graded.positive), n_negatives, rng)[users]
        negative_items = data.items[rows]
        in_training[rows] = False
    else:
        enough = (~observed).sum(axis=1)[users] >= n_negatives
        users = users[enough]
        negative_items = _sample_unobserved(observed, users, n_negatives, rng)
    held_out = held_out[enough]
    if not len(users):
        raise ValueError(
            f"no user has a positive and {n_negatives} other candidates: pass a smaller number with n_negatives=N."
        )
    in_training[held_out] = False
    train = np.flatnonzero(in_training)
    seen = np.zeros_like(observed)
    seen[data.users[train], data.items[train]] = True
    candidates = np.concatenate([data.items[held_out][:, None], negative_items], axis=1)
    return RankingSplit(train=train, users=users, candidates=candidates, seen=seen)


def _takes_observed(graded: Graded, n_negatives: int, negatives: str) -> bool:
    if negatives == "auto":
        return bool(_negative_counts(graded).min() >= _ENOUGH * n_negatives)
    return negatives == "observed"


def _negative_counts(graded: Graded) -> _Rows:
    """Return the number of interactions of each user that are not positive."""
    data = graded.interactions
    return np.bincount(data.users[~graded.positive], minlength=len(data.user_ids))


def _latest_positives(graded: Graded, rng: np.random.Generator) -> _Rows:
    """Return the row of the latest positive of each user who has one."""
    data = graded.interactions
    rows = np.flatnonzero(graded.positive)
    time = rng.random(len(rows)) if data.time is None else data.time[rows]
    order = np.lexsort((time, data.users[rows]))
    is_last = np.append(np.diff(data.users[rows][order]) != 0, True)[: len(order)]
    latest: _Rows = rows[order[is_last]]
    return latest


def _sample_rows(users: _Rows, rows: _Rows, count: int, rng: np.random.Generator) -> _Rows:
    """Return ``count`` random rows per user without replacement, -1 if there are too few. Shape: (n_users, count)."""
    order = rows[np.lexsort((rng.random(len(rows)), users[rows]))]
    owners = users[order]
    starts = np.searchsorted(owners, np.arange(users.max() + 2))
    position = np.arange(len(order)) - starts[owners]
    sample = np.full((users.max() + 1, count), -1, dtype=np.int64)
    is_taken = position < count
    sample[owners[is_taken], position[is_taken]] = order[is_taken]
    return sample


def _sample_unobserved(observed: _Mask, users: _Rows, count: int, rng: np.random.Generator) -> _Rows:
    """Return random items without an interaction of each user, without replacement. Shape: (u, count)."""
    items = np.empty((len(users), count), dtype=np.int64)
    for start in range(0, len(users), 1024):  # a table of all users and items at once might be large
        chunk = users[start : start + 1024]
        keys = np.where(observed[chunk], np.inf, rng.random((len(chunk), observed.shape[1])))
        items[start : start + 1024] = np.argpartition(keys, count - 1, axis=1)[:, :count]
    return items


def user_pairs(graded: Graded, rows: _Rows, *, partners: int = 1, seed: int = 0) -> Pairs:
    """Return pairs of items of one user, with the difference of their confidences.

    Parameters
    ----------
    graded : Graded
        Interactions with confidences.
    rows : ndarray of int
        Rows of the interactions to pair.
    partners : int, default=1
        Number of pairs per interaction. If a user has an odd number of interactions, one of them is in one pair less.
    seed : int, default=0
        Seed of the random pairing.

    Returns
    -------
    Pairs
        Items are (user, item) rows; the group of a pair is its user.
    """
    _check_memory(len(rows), check_count("partners", partners))
    data = graded.interactions
    owners = torch.from_numpy(data.users[rows])
    lefts = []
    rights = []
    for turn in range(partners):
        keys = torch.rand(len(rows), generator=generator(seed, "partners", turn))
        order = torch.from_numpy(np.lexsort((keys.numpy(), owners.numpy())))
        starts = torch.searchsorted(owners[order].contiguous(), owners[order].contiguous())
        is_even = (torch.arange(len(order)) - starts) % 2 == 0
        is_first = is_even[:-1] & (owners[order][:-1] == owners[order][1:])
        lefts.append(order[:-1][is_first])
        rights.append(order[1:][is_first])
    left = torch.cat(lefts)
    right = torch.cat(rights)
    if not len(left):
        raise ValueError("at least one user must have two interactions to compare; got none.")
    confidence = torch.from_numpy(graded.confidence[rows])
    cells = torch.from_numpy(np.stack([data.users[rows], data.items[rows]], axis=1))
    return Pairs(
        cells,
        left,
        right,
        confidence[right] - confidence[left],
        group=owners[left],
        posteriors=confidence,
        labels=graded.positive[rows].astype(np.float32),
    )


def _check_memory(n_interactions: int, partners: int) -> None:
    """Check before any pair is made that all of them fit into the memory of this machine."""
    n_pairs = partners * (n_interactions // 2)
    needed = n_pairs * _BYTES_PER_PAIR
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > memory:
        raise ValueError(
            f"partners must be smaller: {partners:,} make {n_pairs:,} pairs, which need about {needed:,} bytes "
            f"of memory; this machine has {memory:,}."
        )


def item_means(graded: Graded, rows: _Rows) -> Scorer:
    """Return a baseline that ignores users: the mean confidence of each item, shrunk towards the mean of all.

    The overall mean counts as one more interaction of each item. A useful recommender must be better than this.
    """
    items = graded.interactions.items[rows]
    means = shrunken_means(items, graded.confidence[rows], len(graded.interactions.item_ids))
    return lambda cells: means[cells[:, 1]]


def shrunken_means(items: _Rows, confidence: NDArray[np.float32], n_items: int) -> Tensor:
    """Return the mean confidence of each item, shrunk towards the mean of all. Shapes: (n,), (n,) -> (n_items,)."""
    values = confidence.astype(np.float64)
    sums = np.bincount(items, values, n_items)
    counts = np.bincount(items, minlength=n_items)
    return torch.from_numpy((sums + values.mean()) / (counts + 1))


def popularity(graded: Graded, rows: _Rows) -> Scorer:
    """Return a baseline that ignores users and strengths: the number of positive interactions of each item."""
    items = graded.interactions.items[rows[graded.positive[rows]]]
    counts = torch.from_numpy(np.bincount(items, minlength=len(graded.interactions.item_ids)).astype(np.float64))
    return lambda cells: counts[cells[:, 1]]


def evaluate(score: Scorer, split: RankingSplit, *, at: int = CUTOFF) -> dict[str, float]:
    """Return hit rate and NDCG of the held-out positives, with ties counted fairly.

    Parameters
    ----------
    score : callable
        (m, 2) users and items -> (m,) scores.
    split : RankingSplit
        Held-out positives and candidates.
    at : int, default=CUTOFF
        Length of the list of recommendations.

    Returns
    -------
    dict of str to float
        ``hr@10`` and ``ndcg@10`` among the sampled candidates, ``full hr@10`` and ``full ndcg@10`` among all items.
    """
    width = split.candidates.shape[1]
    cells = np.stack([np.repeat(split.users, width), split.candidates.reshape(-1)], axis=1)
    sampled = score(torch.from_numpy(cells)).numpy().reshape(-1, width)
    chunks = np.array_split(np.arange(len(split.users)), _n_chunks(split))
    full = [_full_ranking(score, split, chunk, at) for chunk in chunks]
    return {
        f"hr@{at}": float(hit_rate(sampled, at=at).mean()),
        f"ndcg@{at}": float(ndcg(sampled, at=at).mean()),
        f"full hr@{at}": float(np.concatenate([hits for hits, _ in full]).mean()),
        f"full ndcg@{at}": float(np.concatenate([gains for _, gains in full]).mean()),
    }


def _n_chunks(split: RankingSplit) -> int:
    return max(1, split.seen[split.users].size // 1_000_000)


def _full_ranking(score: Scorer, split: RankingSplit, chunk: _Rows, at: int) -> tuple[_Floats, _Floats]:
    """Return hit rate and NDCG of some users among all items that are not in their training."""
    users = split.users[chunk]
    n_items = split.seen.shape[1]
    cells = np.stack([np.repeat(users, n_items), np.tile(np.arange(n_items), len(users))], axis=1)
    scores = score(torch.from_numpy(cells)).double().numpy().reshape(-1, n_items)
    relevant = split.candidates[chunk, 0]
    relevant_scores = scores[np.arange(len(chunk)), relevant]
    scores[split.seen[users]] = -np.inf
    scores[np.arange(len(chunk)), relevant] = -np.inf  # its score is in the first column of the table below
    table = np.concatenate([relevant_scores[:, None], scores], axis=1)
    return hit_rate(table, at=at), ndcg(table, at=at)
