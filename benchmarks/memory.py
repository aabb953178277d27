"""Measure peak memory of fit on 1,000,000 pairs over 100,000 items of 50 features, above the bare imports.

The data, made in the same process, count too: 20 MB of 32-bit features, 16 MB of row numbers, 8 MB of differences.
Each model is fitted in its own process. The output also gives the memory of copied features of all pairs.
"""

import argparse
import resource
import subprocess
import sys

import numpy as np

N_ITEMS = 100_000
N_FEATURES = 50
N_PAIRS = 1_000_000
AIM = 600


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(model: str) -> None:
    """Fit one epoch and print the peak above the imports."""
    from confdiff.estimators import ConfDiffClassifier

    bare = peak_megabytes()
    rng = np.random.default_rng(0)
    items = rng.normal(size=(N_ITEMS, N_FEATURES)).astype(np.float32)
    rows = rng.integers(0, N_ITEMS, (N_PAIRS, 2))
    r = 1 / (1 + np.exp(-items[:, 0]))
    classifier = ConfDiffClassifier(prior=0.5, model=model, epochs=1, batch_size=1024)
    classifier.fit(rows, r[rows[:, 1]] - r[rows[:, 0]], items=items)
    copied = 2 * N_PAIRS * N_FEATURES * 4 / 2**20
    above = peak_megabytes() - bare
    print(f"{model:7s} {above:5.0f} MB above {bare:.0f} MB of imports (aim: at most {AIM} MB); copies: {copied:.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="measure this one in this process")
    model = parser.parse_args().model
    if model:
        measure(model)
        return
    for name in ("linear", "mlp"):
        subprocess.run([sys.executable, __file__, "--model", name], check=True)


if __name__ == "__main__":
    main()
