"""Measure the model of annotators: real listeners, simulated annotators, and the cost.

``voices``
    Likability of 15 voices (voice-likability in CONFDIFF_DATA): 13 listeners in the lab with 105 answers each, and 77
    crowd workers with about 18. One score per voice by ridge regression. Ten folds of answers, ``--splits`` times. The
    prediction of a held-out answer uses the parameters of its annotator. R² and pairwise accuracy of held-out answers.
``simulations``
    Ten annotators with 125 answers each (or ``--answers``), on spambase and adult. The posteriors of a model of labels
    are the truth. Mild: scales .6-1.2, standard deviation of biases .1, noise .05-.25. Harsh: .3-1.5, .2, .05-.6.
    Rank correlation with the truth; which part of the loss against clean answers is recovered; error of probabilities.
    "Noise" has no scales, no biases and no ends of the scale, but the same noise with known precision: what is lost
    against clean answers even if all parameters are known.
``cost``
    50 annotators, 100,000 pairs: seconds of a fit without annotators and with the full model.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from scipy.io import loadmat
from scipy.stats import spearmanr
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import KFold

from confdiff import (
    ConfDiffAuto,
    ConfDiffBoosting,
    ConfDiffClassifier,
    ConfDiffLogisticRegression,
    Pairs,
    use_threads,
)
from confdiff.datasets import load
from confdiff.datasets.files import data_roots
from confdiff.metrics import difference_r2, pairwise_accuracy

MODELS = ("pooled", "scale", "full", "auto")
N_ANNOTATORS = 10
KINDS = {"mild": ((0.6, 1.2), 0.1, (0.05, 0.25)), "harsh": ((0.3, 1.5), 0.2, (0.05, 0.6))}
LEARNERS: dict[str, Callable[..., Any]] = {
    "boosting": ConfDiffBoosting,
    "linear": lambda **options: ConfDiffLogisticRegression(C="auto", standardise=True, **options),
    "network": ConfDiffClassifier.regularised,
    "auto": ConfDiffAuto,
}
ANCHORS = ("labels", "same", "none")
Floats = NDArray[np.float64]


def read_lab(folder: Path) -> Pairs:
    """Return the answers of the lab; which voice was heard first is not known."""
    tables = []
    for path in sorted(folder.glob("data_listeningtest7/dissimilaritymatrix_*.csv")):
        name = path.stem.removeprefix("dissimilaritymatrix_")
        if name == "total":
            continue
        size = pd.read_csv(path).to_numpy() / 100
        wins = pd.read_csv(path.with_name(f"preferencematrix_{name}.csv")).to_numpy()
        left, right = np.triu_indices(len(size), 1)
        c = np.where(wins[right, left] > 0, size[left, right], -size[left, right])
        tables.append(pd.DataFrame({"left": left, "right": right, "c": c, "annotator": name}))
    table = pd.concat(tables)
    rows = (table["left"], table["right"], table["c"])
    return Pairs(np.eye(15), *rows, annotator=table["annotator"].to_numpy())


def read_crowd(folder: Path) -> Pairs:
    """Return the answers of the crowd that were not rejected; the first voice of a file was heard first."""
    tests = folder / "data_listeningtest8"
    answers = pd.read_csv(tests / "Answers_Job-157_2016-10-25T08-50-16Z_1-1682.csv")
    answers = answers[answers["Status"] != "REJECTED"]
    names = [str(cell[0][0, 0][0]) for cell in loadmat(tests / "pair_val__Day2510_Hour1105.mat")["pairwavname"]]
    voices = np.array([[ord(voice) - ord("a") for voice in name.removesuffix(".wav").split("_")[2:]] for name in names])
    c = (answers["Answer.3:sliders"].to_numpy() - 101) / 100
    side = np.ones(len(c), dtype=np.int64)
    return Pairs(np.eye(15), voices[:, 0], voices[:, 1], c, annotator=answers["Worker"].to_numpy(), side=side)


def predict_held_out(pairs: Pairs, model: str, seed: int) -> Floats:
    """Predict each answer by scores of voices and parameters of annotators that were fitted to other folds."""
    assert pairs.annotator is not None
    predicted = np.zeros(len(pairs))
    for train, test in KFold(10, shuffle=True, random_state=seed).split(pairs):
        folds = KFold(5, shuffle=True, random_state=seed)
        ridge = ConfDiffLogisticRegression(link="score", C="auto", cv=folds, annotator_model=model)
        d = ridge.fit(pairs[train]).predict_difference(pairs[test])
        codes = pairs.annotator.numpy()[test]
        side = None if pairs.side is None else pairs.side.numpy()[test]
        predicted[test] = d if ridge.annotators_ is None else ridge.annotators_.predict(d, codes, side)
    return predicted


def measure_voices(splits: int) -> None:
    """Print R² and pairwise accuracy of each model."""
    folder = data_roots()[0] / "voice-likability" / "data" / "subjective_ratings"
    print(f"{'answers':10s}{'model':10s}{'R²':>8s}{'error':>8s}{'pairwise accuracy':>20s}")
    for name, pairs in (("lab", read_lab(folder)), ("crowd", read_crowd(folder))):
        assert pairs.difference is not None
        c = pairs.difference.numpy()
        for model in MODELS:
            predictions = [predict_held_out(pairs, model, seed) for seed in range(splits)]
            r2 = np.array([difference_r2(d, c) for d in predictions])
            accuracy = np.mean([pairwise_accuracy(d, c) for d in predictions])
            error = r2.std() / np.sqrt(splits)
            print(f"{name:10s}{model:10s}{r2.mean():8.3f}{error:8.3f}{accuracy:20.3f}", flush=True)


def load_truth(name: str) -> tuple[Floats, Floats]:
    """Return at most 6,000 items and their posteriors, those of trees that were fitted to the labels of all others."""
    data = load(name)
    items = data.items.astype(np.float64)
    positive = data.labels > 0
    rows = np.random.default_rng(0).permutation(len(items))
    chosen, others = rows[: min(6_000, len(rows) // 2)], rows[min(6_000, len(rows) // 2) :]
    model = HistGradientBoostingClassifier(max_iter=100, learning_rate=0.05, random_state=0)
    return items[chosen], model.fit(items[others], positive[others]).predict_proba(items[chosen])[:, 1]


def simulate(
    name: str, kind: str, learner: str, seed: int, per_annotator: int, anchor: str = "labels"
) -> dict[str, float]:
    """Fit to clean answers, pooled ones, those with noise only, and with the model of annotators."""
    items, r = load_truth(name)
    rng = np.random.default_rng(seed)
    (low, high), bias_spread, noises = KINDS[kind]
    s = rng.uniform(low, high, N_ANNOTATORS)
    b = rng.normal(0, bias_spread, N_ANNOTATORS)
    v = rng.uniform(*noises, N_ANNOTATORS)
    n = N_ANNOTATORS * per_annotator
    n_train = len(items) // 2
    rows = rng.integers(0, n_train, (n, 2))
    who = np.arange(n) % N_ANNOTATORS
    side = rng.choice([-1, 1], n)
    d = r[rows[:, 1]] - r[rows[:, 0]]
    noise = rng.normal(size=n)
    c = np.clip(s[who] * d + b[who] * side + v[who] * noise, -1, 1)
    labelled_rows = rng.integers(0, n_train, 40)
    labels = (rng.uniform(size=40) < r[labelled_rows]).astype(int)
    labelled = (items[labelled_rows], labels) if anchor == "labels" else None
    asked = rng.integers(0, n_train, (100, 2))
    drawn = rng.uniform(size=(100, 2)) < r[asked]
    same = (drawn[:, 0] == drawn[:, 1]).astype(float)
    test = slice(n_train, None)
    result: dict[str, float] = {}
    ratio = v[who] / s[who]
    left, right = rows.T
    for variant, answers, model in (
        ("clean", d, "pooled"),
        ("pooled", c, "pooled"),
        ("noise", np.zeros(n), "pooled"),
        ("auto", c, "auto"),
    ):
        pairs = Pairs(items[:n_train], left, right, answers, annotator=who, side=side)
        if anchor == "same":
            pairs = with_answers(pairs, asked, same)
        if variant == "noise":
            pairs = with_noise(pairs, d + ratio * noise, 1 / ratio**2)
        options = {"link": "probability"} if learner == "auto" else {}
        estimator = LEARNERS[learner](annotator_model=model, **options)
        estimator.fit(pairs, labelled=labelled)
        p = estimator.predict_proba(items[test])[:, 1]
        result[variant] = float(spearmanr(p, r[test])[0])
        result[f"{variant} calibration"] = calibration_error(p, r[test])
        result[f"{variant} error"] = float(np.abs(p - r[test]).mean())
    estimates = estimator.annotators_
    result["mean scale"] = np.nan if estimates is None else estimates.mean_scale / s.mean()
    if estimates is not None and estimates.model != "pooled":
        result["s"] = float(np.corrcoef(estimates.scale, s)[0, 1])
        result["b"] = float(np.corrcoef(estimates.bias, b)[0, 1])
    return result


def with_noise(pairs: Pairs, c: Floats, precision: Floats) -> Pairs:
    """Return pairs with other differences of known precision; same-class answers behind them are kept."""
    assert pairs.difference is not None
    difference = pairs.difference.clone()
    difference[: len(c)] = torch.from_numpy(c)
    relative = torch.zeros(len(pairs))
    relative[: len(c)] = torch.from_numpy(precision / precision.mean())
    return pairs.with_precision(difference, relative)


def with_answers(pairs: Pairs, asked: NDArray[np.int64], same: Floats) -> Pairs:
    """Return pairs with, as pairs of their own, same-class answers of an eleventh annotator."""
    assert pairs.difference is not None
    assert pairs.annotator is not None
    assert pairs.side is not None
    n = len(asked)
    return Pairs(
        pairs.items,
        np.concatenate([pairs.left, asked[:, 0]]),
        np.concatenate([pairs.right, asked[:, 1]]),
        np.concatenate([pairs.difference, np.full(n, np.nan)]),
        same=np.concatenate([np.full(len(pairs), np.nan), same]),
        annotator=np.concatenate([pairs.annotator, np.full(n, N_ANNOTATORS)]),
        side=np.concatenate([pairs.side, np.zeros(n, dtype=np.int64)]),
    )


def calibration_error(p: Floats, r: Floats, bins: int = 10) -> float:
    """Return the mean distance of the mean probability and the mean posterior over bins of equal size."""
    order = np.argsort(p)
    parts = np.array_split(order, bins)
    return float(np.mean([abs(p[part].mean() - r[part].mean()) for part in parts]))


def measure_simulations(data: list[str], learners: list[str], seeds: int, per_annotator: int, anchor: str) -> None:
    """Print means over seeds."""
    variants = ("clean", "pooled", "noise", "auto")
    print("rank correlation, recovered part of the loss, calibration error and mean error of probabilities")
    print(f"in the order {', '.join(variants)}; s and b: correlation of estimated and true parameters")
    for name in data:
        for learner in learners:
            for kind in KINDS:
                runs = pd.DataFrame(
                    [simulate(name, kind, learner, seed, per_annotator, anchor) for seed in range(seeds)]
                )
                mean = runs.mean()
                recovered = (mean["auto"] - mean["pooled"]) / (mean["clean"] - mean["pooled"])
                figures = "  ".join(f"{mean[variant]:.3f}" for variant in variants)
                calibration = "  ".join(f"{mean[f'{variant} calibration']:.3f}" for variant in variants)
                errors = "  ".join(f"{mean[f'{variant} error']:.3f}" for variant in variants)
                part = (mean["pooled error"] - mean["auto error"]) / (mean["pooled error"] - mean["clean error"])
                errors = f"{errors}  {part:4.0%}"
                scales = f"scale {mean['mean scale']:.2f}  s {mean.get('s', np.nan):.2f}  b {mean.get('b', np.nan):.2f}"
                measured = f"{figures} | {recovered:5.0%} | {calibration} | {errors} | {scales}"
                print(f"{name:9s} {learner:9s} {kind:6s} {measured}", flush=True)


def measure_cost(learners: list[str], n: int) -> None:
    """Print the seconds of a fit without annotators and with the full model."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(20_000, 20)).astype(np.float32)
    r = 1 / (1 + np.exp(-items[:, 0] - items[:, 1] * items[:, 2]))
    rows = rng.integers(0, len(items), (n, 2))
    who = rng.integers(0, 50, n)
    side = rng.choice([-1, 1], n)
    scale = rng.uniform(0.3, 1.5, 50)
    c = np.clip(scale[who] * (r[rows[:, 1]] - r[rows[:, 0]]) + 0.2 * rng.normal(size=n), -1, 1)
    for learner in learners:
        seconds = {}
        for model in ("pooled", "full"):
            start = time.process_time()
            LEARNERS[learner](annotator_model=model).fit(rows, c, items=items, annotators=who, side=side)
            seconds[model] = time.process_time() - start
        ratio = seconds["full"] / seconds["pooled"] - 1
        print(
            f"{learner:10s} pooled {seconds['pooled']:6.1f} s  full {seconds['full']:6.1f} s  {ratio:+.0%}", flush=True
        )


def main() -> None:
    """Print the chosen measurements."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=["voices", "simulations", "cost"])
    parser.add_argument("--splits", type=int, default=6)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--answers", type=int, default=125, help="answers of each simulated annotator")
    parser.add_argument(
        "--anchor", choices=ANCHORS, default="labels", help="40 labels, 100 same-class answers, or none"
    )
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs for the cost")
    parser.add_argument("--data", nargs="+", choices=["spambase", "adult"], default=["spambase", "adult"])
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    with use_threads(1):
        if "voices" in options.parts:
            measure_voices(options.splits)
        if "simulations" in options.parts:
            measure_simulations(options.data, options.learners, options.seeds, options.answers, options.anchor)
        if "cost" in options.parts:
            measure_cost(options.learners, options.pairs)


if __name__ == "__main__":
    main()
