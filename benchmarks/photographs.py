"""Learn from votes on 100 photographs (CrowdPareto), by the network with random filters of `examples/pictures.py`.

One linear model per criterion. A fifth of the photographs are held out in each of five folds, and the test pairs are
those of two held-out photographs. The measure is the pairwise accuracy, ties excluded: the mean over folds and seeds of
the folds, with the standard error over seeds. Needs CONFDIFF_DATA.
"""

import argparse
import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import KFold

from confdiff import FileEncoder, fit_comparisons
from confdiff.datasets import ComparisonDataset, load
from confdiff.metrics import pairwise_accuracy

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from pictures import PictureNetwork

N_FOLDS = 5


def main() -> None:
    """Print one line per criterion."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3, help="of the folds")
    options = parser.parse_args()
    data = load("crowdpareto")
    folder = Path(os.environ["CONFDIFF_DATA"]) / "crowdpareto" / "Pictures"
    encoder = FileEncoder(PictureNetwork(), folder=folder)
    ids = pd.Series([str(id) for id in data.ids])
    parts = ids.str.split("/", expand=True)
    items = pd.DataFrame({"id": ids, "photo": "(" + parts[1].str.lstrip("0") + ").jpg"})
    for criterion in sorted(parts[0].unique()):
        rows = np.flatnonzero((parts[0] == criterion).to_numpy())
        by_seed = [np.mean(_accuracies(data, items, rows, seed, encoder)) for seed in range(options.seeds)]
        error = np.std(by_seed, ddof=1) / np.sqrt(len(by_seed)) if len(by_seed) > 1 else np.nan
        print(f"{criterion}: {len(rows)} photographs, {np.mean(by_seed):.3f} ± {error:.3f}", flush=True)


def _accuracies(
    data: ComparisonDataset, items: pd.DataFrame, rows: NDArray[np.int64], seed: int, encoder: FileEncoder
) -> list[float]:
    """Return the pairwise accuracy of each fold."""
    ids = items["id"].to_numpy()
    pairs = pd.DataFrame({"left": ids[data.left], "right": ids[data.right], "difference": data.difference})
    accuracies = []
    for train, test in KFold(N_FOLDS, shuffle=True, random_state=seed).split(rows):
        is_training = np.isin(data.left, rows[train]) & np.isin(data.right, rows[train])
        is_test = np.isin(data.left, rows[test]) & np.isin(data.right, rows[test])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            model = fit_comparisons(
                items.iloc[rows], pairs[is_training], model="linear", encoders={"photo": encoder}, validation_fraction=0
            )
        scores = pd.Series(model.decision_function(items.iloc[rows]), index=rows)
        predicted = scores[data.right[is_test]].to_numpy() - scores[data.left[is_test]].to_numpy()
        accuracies.append(pairwise_accuracy(predicted, data.difference[is_test]))
    return accuracies


if __name__ == "__main__":
    main()
