"""Time `confdiff demo` and `confdiff fit` (2,500 pairs) alone and next to programs that use the same processors.

Neighbours are one busy loop, two busy loops, another fit by confdiff, and a plain PyTorch training with the threads
that PyTorch starts by default. The output gives wall time and processor time, and their ratios to the times alone.
No variable of the environment sets a number of threads. The benchmark fails if a command takes more than 2.5 times as
long as alone. Run it on an otherwise idle machine; the shortest of --repeats runs counts.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

AIM = 2.5
N_ITEMS = 600
N_PAIRS = 2_500
N_FEATURES = 20
CONFDIFF = "from confdiff.cli import main; main()"
BUSY = "while True: pass"
FIT = """
import numpy as np
from confdiff import ConfDiffClassifier
rng = np.random.default_rng(0)
X = rng.normal(size=(2500, 2, 20)).astype(np.float32)
while True:
    ConfDiffClassifier(prior=0.5).fit(X, np.tanh(X[:, 1, 0] - X[:, 0, 0]))
"""
PLAIN = """
import torch
from torch import nn
network = nn.Sequential(nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 300), nn.ReLU(), nn.Linear(300, 1))
optimizer = torch.optim.Adam(network.parameters())
x = torch.randn(512, 300)
while True:
    optimizer.zero_grad()
    network(x).square().mean().backward()
    optimizer.step()
"""
NEIGHBOURS = {
    "alone": [],
    "one busy loop": [BUSY],
    "two busy loops": [BUSY, BUSY],
    "another fit by confdiff": [FIT],
    "a plain PyTorch training": [PLAIN],
}


@dataclass(frozen=True)
class Times:
    """The times of a command, in seconds."""

    wall: float
    processor: float


def environment() -> dict[str, str]:
    """Return the variables of this process without numbers of threads."""
    return {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}


@contextmanager
def neighbours(programs: list[str]) -> Iterator[None]:
    """Run programs in the background; they have five seconds to load what they need."""
    processes = [subprocess.Popen([sys.executable, "-c", program], env=environment()) for program in programs]
    time.sleep(5 if programs else 0)
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def run(arguments: list[str], folder: Path) -> Times:
    """Run a command and return its times."""
    with (folder / "output.txt").open("w") as output:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-c", CONFDIFF, *arguments], cwd=folder, env=environment(), stdout=output, stderr=output
        )
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:
            process.kill()
            raise
        wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit((folder / "output.txt").read_text())
    return Times(wall=wall, processor=usage.ru_utime + usage.ru_stime)


def write_tables(folder: Path) -> None:
    """Write items with numbers, and pairs with differences of their posteriors."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(N_ITEMS, N_FEATURES)).round(4)
    posterior = 1 / (1 + np.exp(-items[:, 0]))
    left, right = rng.permuted(np.tile(np.arange(N_ITEMS), (N_PAIRS, 1)), axis=1)[:, :2].T
    header = ",".join(["id", *(f"x{column}" for column in range(N_FEATURES))])
    rows = [",".join(map(str, [number, *row])) for number, row in enumerate(items)]
    (folder / "items.csv").write_text("\n".join([header, *rows]) + "\n")
    differences = (posterior[right] - posterior[left]).round(4)
    judged = [f"{a},{b},{c}" for a, b, c in zip(left, right, differences, strict=True)]
    (folder / "pairs.csv").write_text("\n".join(["left,right,difference", *judged]) + "\n")


def measure(arguments: list[str], programs: list[str], folder: Path, repeats: int) -> Times:
    """Return the shortest times of a command next to programs."""
    with neighbours(programs):
        times = [run(arguments, folder) for _ in range(repeats)]
    return Times(wall=min(each.wall for each in times), processor=min(each.processor for each in times))


def compare(name: str, arguments: list[str], folder: Path, repeats: int) -> float:
    """Print the times of a command next to all neighbours, and return the largest ratio of wall times."""
    print(f"confdiff {name}")
    alone = None
    worst = 0.0
    for title, programs in NEIGHBOURS.items():
        times = measure(arguments, programs, folder, repeats)
        alone = alone or times
        ratio = times.wall / alone.wall
        worst = max(worst, ratio)
        print(
            f"  {title:26s} wall {times.wall:6.1f} s {ratio:5.2f}x   "
            f"processor {times.processor:6.1f} s {times.processor / alone.processor:5.2f}x",
            flush=True,
        )
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=1, help="runs per line, of which the shortest counts")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that neighbours end too
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_tables(folder)
        commands = {
            "demo": ["demo", "--output", "demo", "--overwrite"],
            "fit": ["fit", "items.csv", "pairs.csv", "--output", "model", "--overwrite"],
        }
        worst = max(compare(name, words, folder, options.repeats) for name, words in commands.items())
    print(f"largest ratio {worst:.2f} (aim: at most {AIM})")
    if worst > AIM:
        sys.exit(1)


if __name__ == "__main__":
    main()
