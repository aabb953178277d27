"""Measure rows per second and peak memory of scoring a file, compared with the bare forward pass of the network.

Each measurement has its own process. The file is made first, in batches, and removed at the end.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

FEATURES = 32


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="items to score")
    parser.add_argument("--model", default="mlp", help="network")
    parser.add_argument(
        "--part", choices=["fit", "forward", "read", "predict"], help="one measurement, in this process"
    )
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--ending", default="parquet", choices=["parquet", "csv"])
    options = parser.parse_args()
    if options.part:
        _PARTS[options.part](options)
        return
    with tempfile.TemporaryDirectory() as folder:
        base = [sys.executable, __file__, "--rows", str(options.rows), "--model", options.model, "--folder", folder]
        _run(base, "fit")
        forward = _run(base, "forward")
        for ending in ("parquet", "csv"):
            for rows in (options.rows // 5, options.rows):
                _write(Path(folder) / f"items.{ending}", rows)
                measured = _run([*base[:2], "--rows", str(rows), *base[4:], "--ending", ending], "predict")
                fraction = measured["rows/s"] / forward["rows/s"]
                print(
                    f"{ending}, {rows:,} rows: {measured['rows/s']:,.0f} rows/s, {fraction:.0%} of the bare forward "
                    f"pass; peak memory {measured['MB']:.0f} MB"
                )
            read = _run([*base, "--ending", ending], "read")
            print(f"{ending}: reading and scaling alone {read['rows/s']:,.0f} rows/s")
        print(f"bare forward pass ({options.model}, {FEATURES} features): {forward['rows/s']:,.0f} rows/s")


def _run(command: list[str], part: str) -> dict[str, float]:
    done = subprocess.run([*command, "--part", part], check=True, capture_output=True, text=True)
    words = done.stdout.split()
    return {name: float(value) for name, value in zip(words[0::2], words[1::2], strict=True)}


def _report(rows: int, seconds: float) -> None:
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    print(f"rows/s {rows / seconds} MB {int(peak.split()[1]) / 1024}")


def _write(path: Path, rows: int) -> None:
    """Write a file of items, 250,000 at a time."""
    import pyarrow

    from confdiff.io.batches import writing_batches

    rng = np.random.default_rng(0)
    with writing_batches(path) as write:
        for start in range(0, rows, 250_000):
            n = min(250_000, rows - start)
            values = rng.normal(size=(FEATURES, n)).astype(np.float32)
            columns = {"id": np.arange(start, start + n)} | {f"x{k}": column for k, column in enumerate(values)}
            write(pyarrow.record_batch({name: pyarrow.array(column) for name, column in columns.items()}))


def _fit(options: argparse.Namespace) -> None:
    import pandas as pd

    from confdiff.tabular.fitting import fit_comparisons

    rng = np.random.default_rng(0)
    items = pd.DataFrame(rng.normal(size=(2000, FEATURES)), columns=[f"x{k}" for k in range(FEATURES)])
    risk = 1 / (1 + np.exp(-4 * items["x0"].to_numpy()))
    rows = rng.integers(0, 2000, (4000, 2))
    rows = rows[rows[:, 0] != rows[:, 1]]
    pairs = pd.DataFrame({"left": rows[:, 0], "right": rows[:, 1], "difference": risk[rows[:, 1]] - risk[rows[:, 0]]})
    fit_comparisons(items, pairs, model=options.model, epochs=2).save(options.folder / "model")


def _forward(options: argparse.Namespace) -> None:
    """Run the network alone on a matrix in memory, in the batches of `predict`."""
    import torch

    from confdiff.tabular.model.model import load_model
    from confdiff.training import predict_scores

    network = load_model(options.folder / "model").classifier.model_
    items = torch.randn(min(options.rows, 1_000_000), FEATURES)
    predict_scores(network, items[:10_000])
    start = time.perf_counter()
    predict_scores(network, items)
    _report(len(items), time.perf_counter() - start)


def _read(options: argparse.Namespace) -> None:
    """Read and encode the file, without the network."""
    from confdiff.io.batches import read_batches
    from confdiff.tabular.model.model import load_model
    from confdiff.tabular.row_numbers import TableSource
    from confdiff.tabular.tables import ItemTable

    path = options.folder / f"items.{options.ending}"
    model = load_model(options.folder / "model")
    names = list(model.features.feature_names_in_)
    count = 0
    start = time.perf_counter()
    for batch in read_batches(path, names):
        columns = {name: batch.column(name) for name in names}
        count += len(model.features.transform(ItemTable(TableSource.of_file(path), np.arange(batch.num_rows), columns)))
    _report(count, time.perf_counter() - start)


def _predict(options: argparse.Namespace) -> None:
    from confdiff.tabular.model.model import load_model
    from confdiff.tabular.model.scoring import predict_file

    model = load_model(options.folder / "model")
    path = options.folder / f"items.{options.ending}"
    start = time.perf_counter()
    count = predict_file(model, path, options.folder / f"scores.{options.ending}")
    _report(count, time.perf_counter() - start)


_PARTS = {"fit": _fit, "forward": _forward, "read": _read, "predict": _predict}

if __name__ == "__main__":
    main()
