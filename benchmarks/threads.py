"""Time training steps with one thread and with all, alone and next to busy loops: where `LARGE_PRODUCT` comes from.

A step trains two hidden layers of equal width, with batch norm and Adam. Its size is that of its largest matrix
product. A ratio above 1 means that several threads are faster. Neighbours are busy loops, one process each. With
--passive, idle threads sleep, as in the commands of confdiff. The two numbers of threads take turns, and the better
mean counts.
"""

import argparse
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIZES = ((512, 300), (2048, 300), (4096, 300), (4096, 512), (4096, 1024), (8192, 1024))
SECONDS = 1.0


@contextmanager
def busy_loops(count: int) -> Iterator[None]:
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def mean_seconds(step: Callable[[], None]) -> float:
    """Return the mean time of a step over about a second, after two steps that do not count."""
    step()
    step()
    count = 0
    start = time.perf_counter()
    while count < 4 or time.perf_counter() - start < SECONDS:
        step()
        count += 1
    return (time.perf_counter() - start) / count


def new_step(rows: int, width: int) -> Callable[[], None]:
    """Return a training step of a network over ``rows`` items."""
    import torch
    from torch import nn

    hidden = [[nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU()] for _ in range(2)]
    network = nn.Sequential(*hidden[0], *hidden[1], nn.Linear(width, 1))
    optimizer = torch.optim.Adam(network.parameters(), fused=True)
    x = torch.randn(rows, width)

    def step() -> None:
        optimizer.zero_grad()
        torch.autograd.backward(nn.functional.softplus(network(x)).mean())
        optimizer.step()

    return step


def measure(rows: int, width: int, threads: int) -> dict[int, float]:
    """Return the best mean time of a step with one thread and with ``threads``."""
    import torch

    step = new_step(rows, width)
    best = {1: math.inf, threads: math.inf}
    for _ in range(2):
        for count in best:
            torch.set_num_threads(count)
            best[count] = min(best[count], mean_seconds(step))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neighbours", type=int, nargs="+", default=[0, 1], help="numbers of busy loops")
    parser.add_argument("--passive", action="store_true", help="let idle threads sleep")
    options = parser.parse_args()
    if options.passive:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"  # before PyTorch is loaded
    from confdiff.threads import LARGE_PRODUCT, available_cpus

    threads = max(2, available_cpus())
    for count in options.neighbours:
        print(f"next to {count} busy loops: milliseconds of a step, 1 and {threads} threads")
        with busy_loops(count):
            for rows, width in SIZES:
                size = rows * width**2
                best = measure(rows, width, threads)
                print(
                    f"  {size / 1e6:7,.0f} million multiply-adds {'(large)' if size >= LARGE_PRODUCT else '':7s} "
                    f"{1000 * best[1]:7.1f} {1000 * best[threads]:7.1f}   {best[1] / best[threads]:5.2f}x",
                    flush=True,
                )


if __name__ == "__main__":
    main()
