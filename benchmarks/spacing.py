"""Compare learned values of grades with equal spacing and with the sign, on preferences between images (THU).

Per query, pairs of images are drawn at random, each with the grade (-2 to 2) of one of three assessors. One score per
image is fitted to the grades by ridge regression (penalty 1, fixed beforehand). The measure is Kendall's tau-b of the
scores and the independent relevance of the images, averaged over queries. Values are means over seeds; the last columns
are paired differences from equal spacing with their standard errors over seeds. Needs the data set (CONFDIFF_DATA).
"""

import argparse
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, identity
from scipy.sparse.linalg import spsolve
from scipy.stats import kendalltau

from confdiff.spacing import learn_spacing, out_of_fold

_Floats = NDArray[np.float64]
_Rows = NDArray[np.int64]
_PENALTY = 1.0
_NAMES = ("auto", "equal", "learned", "sign")


def read(folder: Path) -> tuple[_Rows, _Rows, _Rows, _Rows, _Floats]:
    """Return the query of each image, the two images of each pair, three grades per pair, and the relevance."""
    lines = (folder / "relevance_data").read_text(encoding="utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines if line.strip()]
    number = {(row[0], row[1].strip()): index for index, row in enumerate(rows)}
    _, query = np.unique([row[0] for row in rows], return_inverse=True)
    pairs = []
    grades = []
    for line in (folder / "image_pairs_annotation").read_text(encoding="utf-8").splitlines()[1:]:
        name, images, *tags = line.split("\t")
        first, second = images.split(",")
        pairs.append((number[name, first.strip()], number[name, second.strip()]))
        grades.append([int(float(tag)) for tag in tags[:3]])  # 1 and 1.0 both occur
    ends = np.array(pairs)
    return query, ends[:, 0], ends[:, 1], np.array(grades), np.array([float(row[2]) for row in rows])


def ridge_scores(left: _Rows, right: _Rows, target: _Floats, n_items: int) -> _Floats:
    """Return one score per item that fits differences by ridge regression."""
    n = len(left)
    columns = np.concatenate([right, left])
    signs = np.concatenate([np.ones(n), -np.ones(n)])
    design = coo_array((signs, (np.tile(np.arange(n), 2), columns)), shape=(n, n_items)).tocsr()
    scores: _Floats = spsolve((design.T @ design + _PENALTY * identity(n_items)).tocsc(), design.T @ target)
    return scores


def mean_tau(scores: _Floats, relevance: _Floats, query: _Rows) -> float:
    """Return Kendall's tau-b with the relevance, averaged over queries."""
    taus = [kendalltau(scores[query == q], relevance[query == q]).statistic for q in range(query.max() + 1)]
    return float(np.nanmean(taus))


def taus_of_seed(data: tuple[_Rows, _Rows, _Rows, _Rows, _Floats], per_image: int, seed: int) -> dict[str, float]:
    """Return the tau of each spacing on one draw of pairs, and print the learned values."""
    query, left, right, grades, relevance = data
    rng = np.random.default_rng(seed)
    chosen = []
    pair_query = query[left]
    for q in range(query.max() + 1):
        rows = np.flatnonzero(pair_query == q)
        chosen.append(rng.choice(rows, min(len(rows), per_image * int((query == q).sum())), replace=False))
    pairs = np.concatenate(chosen)
    grade = grades[pairs, rng.integers(0, 3, len(pairs))]
    c = grade / 2

    def fit_predict(train: _Rows, target: _Floats, test: _Rows) -> _Floats:
        scores = ridge_scores(left[pairs[train]], right[pairs[train]], target, len(query))
        predicted: _Floats = (scores[right] - scores[left])[pairs[test]]
        return predicted

    def tau_of(target: _Floats) -> float:
        return mean_tau(ridge_scores(left[pairs], right[pairs], target, len(query)), relevance, query)

    rows = np.arange(len(c))
    taus = {"equal": tau_of(c), "sign": tau_of(np.sign(c))}
    chosen_spacing = learn_spacing(c, fit_predict, spacing="auto")
    learned = chosen_spacing
    if chosen_spacing.name == "equal":
        learned = learn_spacing(c, fit_predict, spacing="learned")
    taus["learned"] = tau_of(learned.targets(c, out_of_fold(learned.differences(c), rows, fit_predict, 0)))
    taus["auto"] = taus[chosen_spacing.name]
    print(
        f"  {per_image} per image, seed {seed}: auto is {chosen_spacing.name}; {np.round(learned.values, 3)}",
        flush=True,
    )
    return taus


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--pairs-per-image", type=int, nargs="+", default=[1, 2, 3, 5])
    options = parser.parse_args()
    data = read(Path(os.environ["CONFDIFF_DATA"]) / "thu-image-preference")
    table = []
    for per_image in options.pairs_per_image:
        taus = [taus_of_seed(data, per_image, seed) for seed in range(options.seeds)]
        means = " | ".join(f"{np.mean([tau[name] for tau in taus]):.4f}" for name in _NAMES)
        gains = []
        for name in ("auto", "learned", "sign"):
            gain = np.array([tau[name] - tau["equal"] for tau in taus])
            gains.append(f"{gain.mean():+.4f} ± {gain.std(ddof=1) / len(gain) ** 0.5:.4f}")
        table.append(f"| {per_image} | {means} | {' | '.join(gains)} |")
    print(f"| pairs per image | {' | '.join(_NAMES)} | auto - equal | learned - equal | sign - equal |")
    print("|---|" + "---|" * (len(_NAMES) + 3))
    print("\n".join(table))


if __name__ == "__main__":
    main()
