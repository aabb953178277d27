"""Measure fit and predict on 100,000 items with 384-dimensional vectors and 1,000,000 pairs: time and peak memory.

The vectors are in a .npy file, as `np.save` writes embeddings, and in a Parquet file with a column of lists. Each
measurement has its own process, whose peak memory includes the imports and pages of the file that the system caches.
The speed of `predict` is compared with the forward pass of the same network alone on a matrix in memory, before and
after it. Both are timed after a first call, which imports packages; the first call of `predict` is printed, too. The
vectors themselves take 154 MB.
"""

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

DIMENSIONS = 384


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--models", nargs="*", default=["linear", "mlp", "auto"])
    parser.add_argument("--repeats", type=int, default=3, help="of predict and of the forward pass")
    parser.add_argument("--part", choices=list(_PARTS), help="one measurement, in this process")
    parser.add_argument("--model", default="mlp")
    parser.add_argument("--ending", default=".npy", choices=[".npy", ".parquet"])
    parser.add_argument("--folder", type=Path)
    options = parser.parse_args()
    if options.part:
        warnings.simplefilter("ignore", UserWarning)
        _PARTS[options.part](options)
        return
    with tempfile.TemporaryDirectory() as folder:
        options.folder = Path(folder)
        _write(options)
        measure(options)


def measure(options: argparse.Namespace) -> None:
    """Print one line per measurement."""
    bare = _run(options, "imports")
    print(f"imports: {bare['MB']:.0f} MB")
    for model in options.models:
        fitted = _run(options, "fit", "--model", model)
        print(
            f"fit --model {model}: {fitted['seconds']:.0f} s, peak memory {fitted['MB']:.0f} MB, test pairwise "
            f"accuracy {fitted['accuracy']:.3f}",
            flush=True,
        )
    for ending in (".npy", ".parquet"):
        fractions = []
        first_fractions = []
        for _ in range(options.repeats):
            before = _run(options, "forward")["rows/s"]
            scored = _run(options, "predict", "--ending", ending)
            after = _run(options, "forward")["rows/s"]
            forward = (before + after) / 2
            fractions.append(scored["rows/s"] / forward)
            first_fractions.append(scored["first_rows/s"] / forward)
        print(
            f"predict {ending}: {scored['rows/s']:,.0f} rows/s, peak memory {scored['MB']:.0f} MB; "
            f"{np.median(fractions):.0%} of the bare forward pass ({min(fractions):.0%} to {max(fractions):.0%}), "
            f"first call {np.median(first_fractions):.0%}",
            flush=True,
        )


def _run(options: argparse.Namespace, part: str, *arguments: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--folder", str(options.folder), "--part", part]
    sizes = ["--items", str(options.items), "--pairs", str(options.pairs)]
    done = subprocess.run([*command, *sizes, *arguments], check=True, capture_output=True, text=True)
    words = done.stdout.split()
    return {name: float(value) for name, value in zip(words[0::2], words[1::2], strict=True)}


def _report(**values: float) -> None:
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(line for line in status if line.startswith("VmHWM"))
    print(*(f"{name} {value}" for name, value in values.items()), f"MB {int(peak.split()[1]) / 1024}")


def _write(options: argparse.Namespace) -> None:
    """Write the vectors and the pairs. The judgements are noisy, and their truth is linear in the vectors."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(options.items, DIMENSIONS)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    np.save(options.folder / "items.npy", vectors)
    lists = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(vectors.reshape(-1)), DIMENSIONS)
    table = pyarrow.table({"id": np.arange(options.items), "vector": lists})
    parquet.write_table(table, options.folder / "items.parquet")
    score = 20 * vectors @ rng.normal(size=DIMENSIONS) / np.sqrt(DIMENSIONS)
    left = rng.integers(0, options.items, options.pairs)
    right = (left + rng.integers(1, options.items, options.pairs)) % options.items
    difference = np.tanh((score[right] - score[left]) / 2 + rng.logistic(size=options.pairs))
    columns = {"left": left, "right": right, "difference": difference}
    parquet.write_table(pyarrow.table(columns), options.folder / "pairs.parquet")


def _imports(options: argparse.Namespace) -> None:
    from confdiff.tabular.model.model import load_model  # noqa: F401

    _report()


def _fit(options: argparse.Namespace) -> None:
    from confdiff import fit_comparisons

    start = time.perf_counter()
    model = fit_comparisons(options.folder / "items.npy", options.folder / "pairs.parquet", model=options.model)
    seconds = time.perf_counter() - start
    model.save(options.folder / options.model)
    assert model.validation is not None
    _report(seconds=seconds, accuracy=model.validation.test.pairwise_accuracy or 0.0)


def _untrained(options: argparse.Namespace) -> Path:
    """Return the folder of a network that was trained for an epoch on few pairs: its speed is that of any other."""
    from confdiff import fit_comparisons

    folder: Path = options.folder / "small"
    if not folder.exists():
        vectors = np.load(options.folder / "items.npy", mmap_mode="r")[:1000]
        rng = np.random.default_rng(0)
        left = rng.integers(0, 1000, 500)
        right = (left + rng.integers(1, 1000, 500)) % 1000
        pairs = {"left": left, "right": right, "difference": np.tanh(rng.normal(size=500))}
        fit_comparisons(np.array(vectors), pairs, model="mlp", epochs=1).save(folder)
    return folder


def _forward(options: argparse.Namespace) -> None:
    """Run the network alone on a matrix in memory, in the batches of `predict`."""
    import torch

    from confdiff import load_model
    from confdiff.training import predict_scores

    network = load_model(_untrained(options)).classifier.model_
    items = torch.randn(options.items, DIMENSIONS)
    predict_scores(network, items[:10_000])
    speeds = []
    for _ in range(2):
        start = time.perf_counter()
        predict_scores(network, items)
        speeds.append(len(items) / (time.perf_counter() - start))
    _report(**{"rows/s": max(speeds)})


def _predict(options: argparse.Namespace) -> None:
    from confdiff import load_model
    from confdiff.tabular.model.scoring import predict_file

    model = load_model(_untrained(options))
    speeds = []
    for _ in range(3):
        start = time.perf_counter()
        count = predict_file(
            model, options.folder / f"items{options.ending}", options.folder / "scores.parquet", overwrite=True
        )
        speeds.append(count / (time.perf_counter() - start))
    _report(**{"rows/s": max(speeds[1:]), "first_rows/s": speeds[0]})


_PARTS = {"imports": _imports, "fit": _fit, "forward": _forward, "predict": _predict}

if __name__ == "__main__":
    main()
