"""Measure time and memory of loading MNIST, compressed as published and uncompressed from the cache.

The reference is reading its raw bytes. Each run has its own process, after one round that warms the disk cache. The
best of five counts. Memory is the peak of the allocations of Python and NumPy while loading, in an untimed run.
Needs MNIST in CONFDIFF_DATA or the cache.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from pathlib import Path

RAW = 70_000 * 784  # bytes of pixels
AIMS = {"packed": "2 s, 3x", "cached": "0.5 s"}


def measure(how: str, folder: Path) -> None:
    """Load twice, and print seconds of the first time and peak bytes of the second."""
    from confdiff.datasets import load, whereabouts

    files = whereabouts("mnist", folder=folder)

    def once() -> object:
        return [path.read_bytes() for path in files] if how == "raw" else load("mnist", folder=folder)

    start = time.perf_counter()
    once()
    seconds = time.perf_counter() - start
    tracemalloc.start()
    once()
    print(seconds, tracemalloc.get_traced_memory()[1])


def best(how: str, folder: Path) -> tuple[float, float]:
    command = [sys.executable, __file__, "--measure", how, "--folder", str(folder)]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() for _ in range(6)]
    return min(float(seconds) for seconds, _ in runs[1:]), max(float(peak) for _, peak in runs[1:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--measure", choices=["raw", "packed", "cached"], help="measure this in this process")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.folder)
        return
    from confdiff.datasets import fetch
    from confdiff.datasets.idx import MNIST

    published = fetch("mnist")
    with tempfile.TemporaryDirectory() as temporary:
        packed = Path(temporary) / "packed" / "mnist"
        cached = Path(temporary) / "cached" / "mnist"
        packed.mkdir(parents=True)
        cached.mkdir(parents=True)
        for source, path in zip(MNIST.sources, published, strict=True):
            shutil.copy(path, packed)
            (cached / source.name).write_bytes(source.read(path))
        raw = best("raw", cached.parent)
        print(
            f"raw     {raw[0]:.3f} s to read {RAW / 1e6:.0f} MB of unpacked files, in {raw[1] / RAW:.2f}x their bytes"
        )
        for how, folder in (("packed", packed), ("cached", cached)):
            seconds, peak = best(how, folder.parent)
            print(
                f"{how:7s} {seconds:.3f} s, {seconds / raw[0]:.1f}x reading the raw bytes; "
                f"peak {peak / RAW:.2f}x the raw bytes in memory (aim: {AIMS[how]})"
            )


if __name__ == "__main__":
    main()
