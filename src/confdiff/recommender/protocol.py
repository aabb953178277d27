"""The paper's protocol: one positive of each user is held out, and ranked among candidates that the user did not like.

Beside the sampled candidates of the paper stands the full ranking, among all items that the learner did not see with
that user: sampled metrics depend on the sample, and can turn the order of methods round (Krichene and Rendle 2020).
"""

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
_ENOUGH = 4  # observed negatives are held out of training where a user has so many times as many as are asked for

Scorer = Callable[[Tensor], Tensor]
"""(m, 2) users and items -> (m,) scores."""


@dataclass(frozen=True, eq=False)
class Split:
    """What is learned from and what is held out.

    train: the rows of the interactions that are learned from.
    users: (u,) those who are evaluated: who have a positive to hold out, and candidates enough.
    candidates: (u, 1 + n) items, the held-out positive first.
    seen: (n_users, n_items) which items are in training with a user; they are no candidates of the full ranking.
    """

    train: NDArray[np.int64]
    users: NDArray[np.int64]
    candidates: NDArray[np.int64]
    seen: NDArray[np.bool_]

    @property
    def chance(self) -> float:
        """The hit rate at 10 of a scorer that knows nothing."""
        return min(1.0, 10 / int(self.candidates.shape[1]))


def hold_out(graded: Graded, *, n_negatives: int = 49, negatives: str = "auto", seed: int = 0) -> Split:
    """Hold out the latest positive of each user, and candidates that are no positives.

    Where there is no time chance decides which positive. ``observed`` negatives are the user's own, and held out too;
    ``unobserved`` ones are items that the user had nothing to do with; ``auto`` takes the former where all users have
    plenty, as in the full KuaiRec matrix.
    """
    check_count("n_negatives", n_negatives)
    check_choice("negatives", negatives, NEGATIVES)
    data = graded.interactions
    n_users, n_items = len(data.user_ids), len(data.item_ids)
    chance = np.random.default_rng(derived_seed(seed, "hold out"))
    held = _latest_positives(graded, chance)
    others = ~graded.positive
    counts = np.bincount(data.users[others], minlength=n_users)
    if negatives == "auto":
        negatives = "observed" if counts.min() >= _ENOUGH * n_negatives else "unobserved"
    known = np.zeros((n_users, n_items), dtype=bool)
    known[data.users, data.items] = True
    train = np.ones(len(data), dtype=bool)
    users = data.users[held]
    if negatives == "observed":
        enough = counts[users] >= n_negatives
        held, users = held[enough], users[enough]
        rows = _sample_rows(data.users, np.flatnonzero(others), n_negatives, chance)
        negative_items = data.items[rows[users]]
        train[rows[users]] = False
    else:
        enough = (~known).sum(axis=1)[users] >= n_negatives
        held, users = held[enough], users[enough]
        negative_items = _sample_unknown(known, users, n_negatives, chance)
    if not len(users):
        raise ValueError(f"no user has a positive and {n_negatives} candidates beside it: ask for fewer negatives.")
    train[held] = False
    candidates = np.concatenate([data.items[held][:, None], negative_items], axis=1)
    seen = np.zeros_like(known)
    kept = np.flatnonzero(train)
    seen[data.users[kept], data.items[kept]] = True
    return Split(kept, users, candidates, seen)


def _latest_positives(graded: Graded, chance: np.random.Generator) -> NDArray[np.int64]:
    """The row of the latest positive of each user who has one."""
    data, rows = graded.interactions, np.flatnonzero(graded.positive)
    when = chance.random(len(rows)) if data.time is None else data.time[rows]
    order = np.lexsort((when, data.users[rows]))
    last = np.append(np.diff(data.users[rows][order]) != 0, True)[: len(order)]
    latest: NDArray[np.int64] = rows[order[last]]
    return latest


def _sample_rows(
    users: NDArray[np.int64], rows: NDArray[np.int64], count: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    """(n_users, count) some of these rows for each user, without replacement; -1 where there are too few."""
    order = rows[np.lexsort((chance.random(len(rows)), users[rows]))]
    owners = users[order]
    starts = np.searchsorted(owners, np.arange(users.max() + 2))
    place = np.arange(len(order)) - starts[owners]
    table = np.full((users.max() + 1, count), -1, dtype=np.int64)
    taken = place < count
    table[owners[taken], place[taken]] = order[taken]
    return table


def _sample_unknown(
    known: NDArray[np.bool_], users: NDArray[np.int64], count: int, chance: np.random.Generator
) -> NDArray[np.int64]:
    """(u, count) items that the users had nothing to do with, without replacement."""
    picked = np.empty((len(users), count), dtype=np.int64)
    for start in range(0, len(users), 1024):  # a table of all users and items at once might be large
        part = users[start : start + 1024]
        keys = np.where(known[part], np.inf, chance.random((len(part), known.shape[1])))
        picked[start : start + 1024] = np.argpartition(keys, count - 1, axis=1)[:, :count]
    return picked


def user_pairs(graded: Graded, rows: NDArray[np.int64], *, partners: int = 1, seed: int = 0) -> Pairs:
    """Pairs of items of one user, with the difference of their confidences; the group of a pair is its user.

    Each interaction stands in ``partners`` pairs (the last of a user with an odd number of them in one less).
    """
    data = graded.interactions
    owners = torch.from_numpy(data.users[rows])
    lefts, rights = [], []
    for turn in range(check_count("partners", partners)):
        keys = torch.rand(len(rows), generator=generator(seed, "partners", turn))
        order = torch.from_numpy(np.lexsort((keys.numpy(), owners.numpy())))
        starts = torch.searchsorted(owners[order].contiguous(), owners[order].contiguous())
        first = ((torch.arange(len(order)) - starts) % 2 == 0)[:-1] & (owners[order][:-1] == owners[order][1:])
        lefts.append(order[:-1][first])
        rights.append(order[1:][first])
    left, right = torch.cat(lefts), torch.cat(rights)
    if not len(left):
        raise ValueError("no user has two interactions to compare.")
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


def item_means(graded: Graded, rows: NDArray[np.int64]) -> Scorer:
    """A scorer that knows no users: the mean confidence of each item in these rows, and one of the mean of all.

    What a recommender must better to be worth its while.
    """
    confidence, items = graded.confidence[rows].astype(np.float64), graded.interactions.items[rows]
    n_items = len(graded.interactions.item_ids)
    sums, counts = np.bincount(items, confidence, n_items), np.bincount(items, minlength=n_items)
    means = torch.from_numpy((sums + confidence.mean()) / (counts + 1))
    return lambda cells: means[cells[:, 1]]


def evaluate(score: Scorer, split: Split, *, at: int = 10) -> dict[str, float]:
    """Hit rate and NDCG of the held-out positives, among the sampled candidates and among all items; with fair ties."""
    width = split.candidates.shape[1]
    cells = np.stack([np.repeat(split.users, width), split.candidates.reshape(-1)], axis=1)
    sampled = score(torch.from_numpy(cells)).numpy().reshape(-1, width)
    full = [
        _full_ranking(score, split, part, at) for part in np.array_split(np.arange(len(split.users)), _parts(split))
    ]
    return {
        f"hr@{at}": float(hit_rate(sampled, at=at).mean()),
        f"ndcg@{at}": float(ndcg(sampled, at=at).mean()),
        f"full hr@{at}": float(np.concatenate([part[0] for part in full]).mean()),
        f"full ndcg@{at}": float(np.concatenate([part[1] for part in full]).mean()),
    }


def _parts(split: Split) -> int:
    return max(1, split.seen[split.users].size // 1_000_000)


def _full_ranking(
    score: Scorer, split: Split, part: NDArray[np.int64], at: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hit rate and NDCG of some users among all items that were not in their training."""
    users, n_items = split.users[part], split.seen.shape[1]
    cells = np.stack([np.repeat(users, n_items), np.tile(np.arange(n_items), len(users))], axis=1)
    scores = score(torch.from_numpy(cells)).double().numpy().reshape(-1, n_items)
    relevant = split.candidates[part, 0]
    first = scores[np.arange(len(part)), relevant]
    scores[split.seen[users]] = -np.inf
    scores[np.arange(len(part)), relevant] = -np.inf  # it stands in the first column
    table = np.concatenate([first[:, None], scores], axis=1)
    return hit_rate(table, at=at), ndcg(table, at=at)
