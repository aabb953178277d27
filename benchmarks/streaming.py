"""Compare training on pairs streamed from Parquet with pairs in memory: throughput, peak memory, growth of time.

1,000,000 items of 32 features and two sets of pairs, by default of 2 and of 20 million, are written to a temporary
folder. One epoch of a linear model is trained on each, from the stream and in memory, each in its own process.
Throughput is that of the epoch alone: loading the pairs into memory is not counted, reading them from the stream is.
Peak memory is that of the whole process (VmHWM), imports and mapped items included. On a busy machine compare the
processor time, which is that of all threads and of the whole training.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

N_ITEMS = 1_000_000
N_FEATURES = 32
ROW_GROUP = 250_000
MEMORY_AIM = 1024  # megabytes
SPEED_AIM = 0.7  # fraction of the throughput in memory


def write_items(path: Path) -> np.ndarray:
    """Write the items in parts and return their posteriors, a logistic function of a linear one."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=N_FEATURES).astype(np.float32) / 4
    items = np.lib.format.open_memmap(path, "w+", np.float32, (N_ITEMS, N_FEATURES))
    for start in range(0, N_ITEMS, 100_000):
        items[start : start + 100_000] = rng.standard_normal((100_000, N_FEATURES), dtype=np.float32)
    items.flush()
    return 1 / (1 + np.exp(-(items @ weights)))


def write_pairs(path: Path, posteriors: np.ndarray, n: int) -> None:
    """Write the pairs a row group at a time."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(n)
    schema = pyarrow.schema({"left": pyarrow.int64(), "right": pyarrow.int64(), "difference": pyarrow.float32()})
    with parquet.ParquetWriter(path, schema) as writer:
        for start in range(0, n, ROW_GROUP):
            left, right = rng.integers(0, N_ITEMS, (2, min(ROW_GROUP, n - start)))
            columns = {"left": left, "right": right, "difference": posteriors[right] - posteriors[left]}
            writer.write_table(pyarrow.table(columns, schema), row_group_size=ROW_GROUP)


def peak_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def measure(kind: str, folder: Path, name: str, batch_size: int) -> None:
    """Train one epoch and print time and memory as JSON."""
    import torch

    from confdiff import Pairs, Recipe, StreamedPairs, train
    from confdiff.models import build_model

    torch.set_num_threads(1)
    bare = peak_megabytes()
    if kind == "streamed":
        data: Any = StreamedPairs(folder / "items.npy", folder / name)
    else:
        from pyarrow import parquet

        table = parquet.read_table(folder / name)
        items = torch.from_numpy(np.load(folder / "items.npy"))
        data = Pairs(items, *(table[column].to_numpy() for column in ("left", "right", "difference")))
        del table
    recipe = Recipe(epochs=1, batch_size=batch_size, learning_rate=0.01, device="cpu")
    before = time.process_time()
    (record,) = train(build_model("linear", N_FEATURES), data, "confdiff-abs", prior=0.5, recipe=recipe)
    record |= {"pairs": len(data), "bare": bare, "peak": peak_megabytes(), "processor": time.process_time() - before}
    print(json.dumps(record))


def measured(kind: str, folder: Path, name: str, batch_size: int) -> dict[str, float]:
    """Run :func:`measure` in its own process and return its result."""
    command = [sys.executable, __file__, "--measure", kind, name, "--folder", str(folder)]
    result = subprocess.run([*command, "--batch-size", str(batch_size)], check=True, stdout=subprocess.PIPE, text=True)
    record: dict[str, float] = json.loads(result.stdout)
    speed = record["pairs"] / record["seconds"]
    memory = f"{record['peak']:.0f} MB with {record['bare']:.0f} MB of imports"
    print(f"{kind:9s} {record['pairs']:11,d} pairs: {record['seconds']:6.1f} s, {speed:9,.0f} pairs/s, ", end="")
    print(f"{record['processor']:6.1f} s of processor; peak {memory}; risk {record['risk']:.4f}", flush=True)
    return record


def compare(sizes: list[int], batch_size: int) -> None:
    """Write the data, train on it streamed and in memory, and print the ratios."""
    with tempfile.TemporaryDirectory(prefix="confdiff-streaming-") as place:
        folder = Path(place)
        posteriors = write_items(folder / "items.npy")
        durations = []
        for n in sizes:
            write_pairs(folder / f"{n}.parquet", posteriors, n)
            streamed = measured("streamed", folder, f"{n}.parquet", batch_size)
            in_memory = measured("in-memory", folder, f"{n}.parquet", batch_size)
            durations.append(streamed["seconds"])
            speed, cost = (in_memory[name] / streamed[name] for name in ("seconds", "processor"))
            print(f"  throughput: {speed:.0%} of in memory (aim: {SPEED_AIM:.0%}); by processor time {cost:.0%}")
            print(f"  peak memory: {streamed['peak']:.0f} MB (aim: under {MEMORY_AIM} MB)", flush=True)
        if len(sizes) > 1:
            print(f"{sizes[-1] / sizes[0]:.1f} times the pairs: {durations[-1] / durations[0]:.1f} times the time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=[2_000_000, 20_000_000], help="numbers of pairs")
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--measure", nargs=2, metavar=("KIND", "FILE"), help="measure this one in this process")
    parser.add_argument("--folder", type=Path, help="where its files are")
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], options.folder, options.measure[1], options.batch_size)
    else:
        compare(options.pairs, options.batch_size)


if __name__ == "__main__":
    main()
