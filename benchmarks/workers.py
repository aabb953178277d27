"""Compare several workers that train together with one process, in one run: same network and same batches.

The network and the number of features are those of MNIST (784-300-300-300-1 with batch norm). The workers of one gang
take turns: rank 0 takes some steps alone while the others wait, then all take some steps together. The best round of
each counts, because other programs disturb a round. The processor time of a step shows what a free core would do: that
of one process, divided by the largest of any worker, is the speed-up without waiting. Start-up is the time until the
first step, beyond that of a run in the calling process.
"""

import argparse
import math
import os
import time
from dataclasses import dataclass

import torch

from confdiff.engines import Member, start_gang
from confdiff.losses import logistic
from confdiff.methods import METHODS
from confdiff.models import build_model
from confdiff.models.batch_norm import batch_norm_over_workers
from confdiff.pairs import Pairs
from confdiff.reduction import reducing
from confdiff.training import Recipe
from confdiff.training.distributed import Workers
from confdiff.training.run import Run

N_FEATURES = 784
N_PAIRS = 15_000
AIM = 1.7


@dataclass(frozen=True)
class Times:
    """Hold seconds per step, or of the start."""

    wall: float
    processor: float


@dataclass(frozen=True)
class Measured:
    """Hold the best times of a step alone and together (the slowest worker), and the moment of the first step."""

    alone: Times
    together: Times
    first_step: float


def make_pairs() -> Pairs:
    rng = torch.Generator().manual_seed(0)
    items = torch.randn(2 * N_PAIRS, N_FEATURES, generator=rng)
    rows = torch.randperm(len(items), generator=rng).view(2, -1)
    return Pairs(items, rows[0], rows[1], torch.rand(N_PAIRS, generator=rng) * 2 - 1)


def new_run(pairs: Pairs, batch_size: int, workers: Workers | None = None) -> Run:
    recipe = Recipe(epochs=10**6, batch_size=batch_size, device="cpu")
    network = build_model("mlp", N_FEATURES).train()
    return Run(network, pairs, METHODS["confdiff-abs"], 0.5, logistic, recipe, None, workers)


def timed(run: Run, workers: Workers | None, steps: int) -> Times:
    """Return the time per step of some steps."""
    wall = time.perf_counter()
    processor = time.process_time()
    with reducing(workers), batch_norm_over_workers():
        for _ in range(steps):
            run.take_step()
    return Times((time.perf_counter() - wall) / steps, (time.process_time() - processor) / steps)


def measure(member: Member, pairs: Pairs, batch_size: int, rounds: int, steps: int) -> Measured:
    """Take turns, and return the best times of all rounds."""
    workers = Workers(member)
    torch.set_num_threads(1)
    together_run = new_run(pairs, batch_size, workers)
    timed(together_run, workers, 1)
    first_step = time.time()
    alone_run = new_run(pairs, batch_size)
    alone: list[Times] = []
    together: list[Times] = []
    for number in range(rounds + 1):
        if member.rank == 0:
            alone.append(timed(alone_run, None, steps))
        workers.wait()
        together.append(timed(together_run, workers, steps))
        if member.rank == 0:
            member.send(f"round {number}: alone {alone[-1].wall:.4f} s, together {together[-1].wall:.4f} s per step")
    processor = workers.gather(torch.tensor([best(together, "processor")]))
    return Measured(
        alone=Times(best(alone, "wall"), best(alone, "processor")) if alone else Times(math.nan, math.nan),
        together=Times(best(together, "wall"), float(processor.max())),
        first_step=first_step,
    )


def best(times: list[Times], name: str) -> float:
    """Return the least time of all rounds except the first, which warms up."""
    return min(float(getattr(each, name)) for each in times[1:])


def compare(pairs: Pairs, n_workers: int, batch_size: int, rounds: int, steps: int) -> None:
    load = os.getloadavg()[0]
    started = time.time()
    timed(new_run(pairs, batch_size), None, 1)
    one_start = time.time() - started
    started = time.time()
    result: Measured = start_gang(measure, (pairs, batch_size, rounds, steps), n_workers, on_message=print)
    start_up = result.first_step - started - one_start
    alone, together = result.alone, result.together
    gain = alone.wall - together.wall
    print(f"batch of {batch_size} pairs, load {load:.1f}:")
    print(f"  one process {1000 * alone.wall:.1f} ms per step ({1000 * alone.processor:.1f} ms of processor)")
    print(f"  {n_workers} workers {1000 * together.wall:.1f} ms per step ", end="")
    print(f"({1000 * together.processor:.1f} ms of processor in the busiest)")
    print(f"  speed-up {alone.wall / together.wall:.2f}x by the clock, ", end="")
    print(f"{alone.processor / together.processor:.2f}x by processor time (aim: {AIM}x)")
    print(f"  start-up {start_up:.1f} s", end="")
    print(f", break-even after {start_up / gain:,.0f} steps" if gain > 0 else ", no break-even", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-sizes", type=int, nargs="+", default=[256, 1024, 2048])
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--steps", type=int, default=10, help="steps per round")
    options = parser.parse_args()
    torch.set_num_threads(1)
    pairs = make_pairs()
    for batch_size in options.batch_sizes:
        compare(pairs, options.workers, batch_size, options.rounds, options.steps)


if __name__ == "__main__":
    main()
