"""Measure the recommender on data of KuaiRec's full shape, and compare its training with a per-sample DataLoader loop.

A synthetic small_matrix.csv (1,411 users, 3,327 videos, all of its columns) is read, split and paired; an epoch of
NeuMF is timed, and the peak of the resident memory is printed. Then both loops train the same network on equal pairs,
taking turns; the plain one draws one pair at a time from a Dataset, and its NeuMF is written as in most recommender
code, with four embeddings and torch's dropout. The plain loop with our network is timed too.
"""

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from multiprocessing import Process
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

from confdiff.datasets import load_interactions
from confdiff.losses import logistic
from confdiff.methods import METHODS
from confdiff.models import RECOMMENDERS
from confdiff.pairs import Pairs
from confdiff.pairs.sparse import require_dense
from confdiff.recommender.confidence import grade_interactions
from confdiff.recommender.protocol import leave_one_out, user_pairs
from confdiff.risks import confdiff_risk
from confdiff.training import Recipe
from confdiff.training.run import Run

USERS = 1_411
VIDEOS = 3_327
BATCH = 256


def write_matrix(folder: Path, users: int) -> None:
    """Write a file with the columns and the shape of KuaiRec's small_matrix.csv."""
    import pyarrow
    from pyarrow import csv

    rng = np.random.default_rng(0)
    user, video = np.divmod(np.arange(users * VIDEOS), VIDEOS)
    length = rng.integers(3_000, 60_000, VIDEOS)[video]
    ratio = np.exp(rng.normal(-0.3, 0.7, len(user)))
    stamp = 1.59e9 + rng.random(len(user)) * 5e6
    columns = {
        "user_id": user,
        "video_id": video,
        "play_duration": (ratio * length).astype(int),
        "video_duration": length,
        "time": np.full(len(user), "2020-07-05 05:27:48.378"),
        "date": np.full(len(user), 20200705.0),
        "timestamp": stamp,
        "watch_ratio": ratio,
    }
    csv.write_csv(pyarrow.table(columns), folder / "small_matrix.csv")


def memory() -> float:
    """Return the peak of the resident memory so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


class OnePair(Dataset[tuple[Tensor, Tensor, Tensor]]):
    """Serve one pair at a time."""

    def __init__(self, pairs: Pairs) -> None:
        self.pairs = pairs
        self.items = require_dense(pairs.items, "this benchmark")

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, row: int) -> tuple[Tensor, Tensor, Tensor]:
        pairs = self.pairs
        assert pairs.difference is not None
        return self.items[pairs.left[row]], self.items[pairs.right[row]], pairs.difference[row]


class PlainNeuMF(nn.Module):
    """Compute the same function as our NeuMF, with torch's own layers."""

    def __init__(self, width: int = 128) -> None:
        super().__init__()
        self.users = nn.Embedding(USERS, width)
        self.videos = nn.Embedding(VIDEOS, width)
        self.tower_users = nn.Embedding(USERS, width)
        self.tower_videos = nn.Embedding(VIDEOS, width)
        self.tower = nn.Sequential(
            nn.Dropout(0.5),
            nn.Linear(2 * width, width),
            nn.ReLU(),
            nn.Dropout(0.5),
            nn.Linear(width, width // 2),
            nn.ReLU(),
        )
        self.leave = nn.Linear(width + width // 2, 1)

    def forward(self, x: Tensor) -> Tensor:
        """Score (n, 2) rows of user and video as (n,)."""
        user = x[:, 0]
        video = x[:, 1]
        high = self.tower(torch.cat([self.tower_users(user), self.tower_videos(video)], dim=1))
        scores: Tensor = self.leave(torch.cat([self.users(user) * self.videos(video), high], dim=1))
        return scores.squeeze(1)


def plain_steps(pairs: Pairs, model: nn.Module) -> Iterator[None]:
    for table in (part for part in model.modules() if isinstance(part, nn.Embedding)):
        table.sparse = False  # Adam accepts dense gradients only
    optimizer = torch.optim.Adam(model.train().parameters(), lr=1e-3)
    while True:
        for first, second, c in DataLoader(OnePair(pairs), batch_size=BATCH, shuffle=True):
            optimizer.zero_grad()
            torch.autograd.backward(confdiff_risk(model(first), model(second), c, prior=0.4))
            optimizer.step()
            yield


def our_steps(pairs: Pairs) -> Iterator[None]:
    recipe = Recipe(epochs=10**6, batch_size=BATCH, weight_decay=0.0, device="cpu")
    run = Run(RECOMMENDERS["neumf"](USERS, VIDEOS).train(), pairs, METHODS["confdiff-abs"], 0.4, logistic, recipe)
    while True:
        run.take_step()
        yield


def compare(pairs: Pairs, steps: int, turns: int) -> None:
    contestants = {
        "plain": plain_steps(pairs, PlainNeuMF()),
        "plain, our network": plain_steps(pairs, RECOMMENDERS["neumf"](USERS, VIDEOS)),
        "ours": our_steps(pairs),
    }
    best = dict.fromkeys(contestants, float("inf"))
    for loop in contestants.values():
        next(loop)  # the first step shuffles
    for _ in range(turns):
        for name, loop in contestants.items():
            start = time.perf_counter()
            for _ in range(steps):
                next(loop)
            best[name] = min(best[name], time.perf_counter() - start)
    for name, seconds in best.items():
        print(f"  {name:18s} {steps * BATCH / seconds:10,.0f} pairs per second")
    alone = best["plain, our network"] / best["ours"]
    print(
        f"  faster than the plain loop: {best['plain'] / best['ours']:.2f}x (aim: 3x), by the loop alone {alone:.2f}x"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=USERS, help="fewer for a quick try")
    parser.add_argument("--steps", type=int, default=60, help="steps in a turn")
    parser.add_argument("--turns", type=int, default=12)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        writer = Process(target=write_matrix, args=(Path(folder), arguments.users))  # its memory is not ours
        writer.start()
        writer.join()
        before = memory()
        start = time.perf_counter()
        data = load_interactions("kuairec", folder=Path(folder))
    print(f"{data}: read in {time.perf_counter() - start:.1f} s")
    start = time.perf_counter()
    graded = grade_interactions(data)
    split = leave_one_out(graded)
    pairs = user_pairs(graded, split.train)
    print(f"split and paired in {time.perf_counter() - start:.1f} s: {len(pairs):,} pairs, {len(split.users):,} users")
    loop = our_steps(pairs)
    next(loop)
    steps = 200
    start = time.perf_counter()
    for _ in range(steps):
        next(loop)
    epoch = (time.perf_counter() - start) / steps * len(pairs) / BATCH
    print(f"an epoch of NeuMF takes {epoch:.0f} s (from {steps} of {len(pairs) // BATCH:,} steps)")
    print(f"peak memory {memory():,.0f} MB (aim: 2,000), {before:,.0f} MB of it before the file was read")
    compare(pairs, arguments.steps, arguments.turns)


if __name__ == "__main__":
    main()
