"""Which of two arguments is more convincing? confdiff on votes of people (UKPConvArg1), beside the usual ways.

Held-out pairs, five folds of them: the arguments are known from other pairs. The usual way is Bradley-Terry (choix),
fitted on the votes of the training pairs of each topic, a tie counting half for both; with --shares also with fewer
training pairs, drawn at random.
Held-out topics, eight folds of four: the arguments are new, only their texts are known. The usual ways are logistic
regression on differences of features, the same ones, trained on the verdicts of the publishers or on which side most
votes went to, and length.

The measure is the share of held-out pairs with a verdict for one side whose order is right. confdiff is run by its
commands and never sees a verdict; it is told the differences of votes as they are, or smoothed: with five of five votes
taken as 5/7 (Laplace's rule). Whatever is chosen (weight decay, ridge, prior strength) is chosen by inner folds of the
training pairs. Means over folds with 95 % t intervals. Needs the data set (CONFDIFF_DATA); half an hour or so.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import choix
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from confdiff import ItemFeatures

Scores = NDArray[np.float64]
Way = Callable[["Arguments", pd.DataFrame, float], Scores]
Comparison = Callable[["Arguments", pd.DataFrame, pd.DataFrame], dict[str, float]]
Rows = list[dict[str, float]]
FIT = ("--model", "linear", "--prior", "0.5", "--valid", "0", "--ignore", "topic")
KNOWN = (*FIT, "--with-id", "--weight-decay", "auto")
NEW = (*FIT, "--valid-by-group", "--weight-decay", "auto-order")
SMOOTHED = "--scale=-1.4,1.4"  # (n2 - n1) / (n + 2) where n is 5
STRENGTHS = (0.01, 0.1, 1.0)  # of the prior of Bradley-Terry
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # C of the logistic regression
FOLDS = {"pair": 5, "topic": 8}
INNER = 4


@dataclass(frozen=True)
class Arguments:
    """The exported files, read."""

    folder: Path
    items: pd.DataFrame
    pairs: pd.DataFrame

    def places(self, pairs: pd.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
        """The rows of both arguments of each pair."""
        rows = pd.Series(range(len(self.items)), index=self.items["id"])
        return rows.loc[pairs["left"]].to_numpy(), rows.loc[pairs["right"]].to_numpy()


def confdiff(*arguments: str | Path, cwd: Path) -> str:
    """What the command prints."""
    command = [Path(sys.executable).with_name("confdiff"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def exported(folder: Path) -> Arguments:
    confdiff("data", "export", "ukpconvarg1", "-o", folder, cwd=folder)
    items, pairs = (pd.read_csv(folder / name, dtype={"id": str}) for name in ("items.csv", "pairs.csv"))
    return Arguments(folder, items, pairs)


def by_commands(data: Arguments, train: pd.DataFrame, test: pd.DataFrame, options: Sequence[str]) -> float:
    """Fit on one file, evaluate on another, by the verdicts."""
    for name, pairs in (("train.csv", train.drop(columns="gold")), ("test.csv", test)):
        pairs.to_csv(data.folder / name, index=False)
    confdiff("fit", "items.csv", "train.csv", "--overwrite", *options, cwd=data.folder)
    told = confdiff(
        "evaluate", "model", "items.csv", "--pairs", "test.csv", "--difference", "gold", "--json", cwd=data.folder
    )
    return float(json.loads(told)["order"])


def bradley_terry(data: Arguments, train: pd.DataFrame, strength: float) -> Scores:
    """The strength of each argument, fitted topic by topic."""
    scores = np.zeros(len(data.items))
    for _, pairs in train.groupby("group"):
        ends = data.places(pairs)
        known, (left, right) = np.unique(ends), np.searchsorted(np.unique(ends), ends)
        wins = np.zeros((len(known), len(known)))
        np.add.at(wins, (right, left), pairs["weight"] * (1 + pairs["difference"]) / 2)
        np.add.at(wins, (left, right), pairs["weight"] * (1 - pairs["difference"]) / 2)
        scores[known] = choix.ilsr_pairwise_dense(wins, alpha=strength)
    return scores


def logistic(features: Any, target: str) -> Way:
    """Scores w.x: logistic regression, on differences of features, of the sign of a column of the pairs."""

    def way(data: Arguments, train: pd.DataFrame, ridge: float) -> Scores:
        told = train[train[target].abs() > 0]
        left, right = data.places(told)
        model = LogisticRegression(C=ridge, fit_intercept=False, max_iter=1000)
        scores: Scores = features @ model.fit(features[right] - features[left], np.sign(told[target])).coef_[0]
        return scores

    return way


def features_of(data: Arguments, train: pd.DataFrame) -> Any:
    """The features that `confdiff fit` makes of the texts, learned from the arguments of the training pairs."""
    seen = data.items["id"].isin({*train["left"], *train["right"]})
    texts = data.items[["text"]]
    return csr_matrix(ItemFeatures().fit(texts[seen]).transform(texts).to_numpy(dtype=np.float64))


def order(data: Arguments, scores: Scores, test: pd.DataFrame) -> float:
    """The share of the verdicts that the scores agree with; half where two are equal."""
    left, right = data.places(test)
    said = np.sign(scores[right] - scores[left])
    return float(np.mean(np.where(said == 0, 0.5, said == test["gold"])))


def folds_of(pairs: pd.DataFrame, by: str, count: int, seed: int = 0) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """(training pairs, held-out pairs with a verdict) of folds of topics, or of pairs, whichever side comes first."""
    ends = np.sort(pairs[["left", "right"]].to_numpy(dtype=str), axis=1)
    units = pairs["group"] if by == "topic" else [" ".join(pair) for pair in ends]
    for kept, out in GroupKFold(count, shuffle=True, random_state=seed).split(pairs, groups=units):
        held_out = pairs.iloc[out]
        yield pairs.iloc[kept], held_out[held_out["gold"].abs() > 0]


def chosen(data: Arguments, train: pd.DataFrame, way: Way, tried: Iterable[float], by: str) -> Scores:
    """The scores at that of the values tried which is best in inner folds of the training pairs."""
    inner = list(folds_of(train, by, INNER))
    best = max(tried, key=lambda value: np.mean([order(data, way(data, kept, value), out) for kept, out in inner]))
    return way(data, train, best)


def held_out_pairs(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    return {
        "confdiff": by_commands(data, train, test, KNOWN),
        "Bradley-Terry": order(data, chosen(data, train, bradley_terry, STRENGTHS, "pair"), test),
    }


def smoothed_pairs(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    smoothed = by_commands(data, train, test, [*KNOWN, SMOOTHED])
    return {"confdiff, smoothed": smoothed} | held_out_pairs(data, train, test)


def fewer_pairs(share: float) -> Comparison:
    """As :func:`held_out_pairs`, with a share of the training pairs."""

    def compare(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
        return held_out_pairs(data, train.sample(frac=share, random_state=0), test)

    return compare


def held_out_topics(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    features = features_of(data, train)
    verdicts, majorities = (
        chosen(data, train, logistic(features, target), RIDGES, "topic") for target in ("gold", "difference")
    )
    return {
        "confdiff, smoothed": by_commands(data, train, test, [*NEW, SMOOTHED]),
        "confdiff, defaults": by_commands(data, train, test, ["--ignore", "topic"]),
        "logistic, verdicts": order(data, verdicts, test),
        "logistic, majorities": order(data, majorities, test),
        "length": order(data, data.items["text"].str.len().to_numpy(dtype=np.float64), test),
    }


def interval(values: NDArray[np.float64]) -> str:
    """Mean and 95 % t interval over folds."""
    reach = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if len(values) > 1 else np.nan
    return f"{values.mean():.4f} ({values.mean() - reach:.4f} to {values.mean() + reach:.4f})"


def report(title: str, rows: Rows) -> None:
    """The means, and the paired differences to the best of the usual ways."""
    table = pd.DataFrame(rows)
    ours = [name for name in table if name.startswith("confdiff")]
    best = table.drop(columns=ours).mean().idxmax()
    print(f"\n{title}, {len(table)} folds: order right, mean (95 % interval); less {best}")
    for name in table:
        less = "" if name == best else interval((table[name] - table[best]).to_numpy())
        print(f"  {name:22s}{interval(table[name].to_numpy())}   {less}", flush=True)


def run(title: str, data: Arguments, compare: Comparison, folds: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> None:
    rows = []
    for train, test in folds:
        rows.append(compare(data, train, test))
        print("  ".join(f"{name} {value:.4f}" for name, value in rows[-1].items()), flush=True)
    report(title, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", nargs="+", choices=list(FOLDS), default=list(FOLDS), help="what is held out")
    parser.add_argument("--folds", type=int, default=8, help="run the first so many folds only")
    parser.add_argument("--shares", nargs="*", type=float, default=[], help="of the training pairs, such as 0.05 0.2")
    parser.add_argument("--seed", type=int, default=0, help="decides the folds")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = exported(Path(folder))
        parts: dict[str, dict[str, Comparison]] = {
            "pair": {"all training pairs": smoothed_pairs}
            | {f"{share:.0%} of the training pairs": fewer_pairs(share) for share in asked.shares},
            "topic": {"all training pairs": held_out_topics},
        }
        for by in asked.held_out:
            folds = list(islice(folds_of(data.pairs, by, FOLDS[by], asked.seed), asked.folds))
            for title, compare in parts[by].items():
                run(f"held-out {by}s, {title}", data, compare, folds)


if __name__ == "__main__":
    main()
