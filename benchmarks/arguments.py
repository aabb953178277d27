"""Compare confdiff with standard methods on votes about which of two arguments is more convincing (UKPConvArg1).

Held-out pairs, five folds: the arguments occur in other pairs. The baseline is Bradley-Terry (choix), fitted to the
votes of the training pairs of each topic; a tie counts half for both. --fractions adds runs with fewer training pairs,
drawn at random.
Held-out topics, eight folds of four: the arguments are new, only their texts are available. The baselines are the
length, and logistic regression on differences of the same features, trained on the publishers' verdicts or on the
majority of the votes.

The measure is pairwise accuracy on held-out pairs with a verdict for one side. confdiff is run by its commands and
never sees a verdict. It is given the differences of votes as they are, or smoothed: five of five votes count as 5/7
(Laplace's rule). Inner folds of the training pairs choose all penalties (weight decay, ridge, prior strength). Values
are means over folds with 95 % t intervals. Needs the data set (CONFDIFF_DATA); takes about half an hour.
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
FIT = ("--model", "linear", "--prior", "0.5", "--validation-fraction", "0", "--ignore", "topic")
BY_ID = (*FIT, "--with-id", "--weight-decay", "auto")
NEW = (*FIT, "--hold-out-groups", "--weight-decay", "auto-order")
SMOOTHED = "--scale=-1.4,1.4"  # (n2 - n1) / (n + 2) where n is 5
STRENGTHS = (0.01, 0.1, 1.0)  # of the prior of Bradley-Terry
RIDGES = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)  # C of the logistic regression
FOLDS = {"pair": 5, "topic": 8}
INNER = 4


@dataclass(frozen=True)
class Arguments:
    """Hold the exported tables."""

    folder: Path
    items: pd.DataFrame
    pairs: pd.DataFrame

    def rows(self, pairs: pd.DataFrame) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the rows of both arguments of each pair."""
        row_of = pd.Series(range(len(self.items)), index=self.items["id"])
        return row_of.loc[pairs["left"]].to_numpy(), row_of.loc[pairs["right"]].to_numpy()


def confdiff(*arguments: str | Path, cwd: Path) -> str:
    """Run a command and return its output."""
    command = [Path(sys.executable).with_name("confdiff"), *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=True).stdout


def exported(folder: Path) -> Arguments:
    confdiff("data", "export", "ukpconvarg1", "-o", folder, cwd=folder)
    items, pairs = (pd.read_csv(folder / name, dtype={"id": str}) for name in ("items.csv", "pairs.csv"))
    return Arguments(folder, items, pairs)


def by_commands(data: Arguments, train: pd.DataFrame, test: pd.DataFrame, options: Sequence[str]) -> float:
    """Fit on one file and return the pairwise accuracy on the verdicts of another."""
    for name, pairs in (("train.csv", train.drop(columns="gold")), ("test.csv", test)):
        pairs.to_csv(data.folder / name, index=False)
    confdiff("fit", "items.csv", "train.csv", "--overwrite", *options, cwd=data.folder)
    output = confdiff(
        "evaluate", "model", "items.csv", "--pairs", "test.csv", "--difference", "gold", "--json", cwd=data.folder
    )
    return float(json.loads(output)["pairwise_accuracy"])


def bradley_terry(data: Arguments, train: pd.DataFrame, strength: float) -> Scores:
    """Return the strength of each argument, fitted topic by topic."""
    scores = np.zeros(len(data.items))
    for _, pairs in train.groupby("group"):
        ends = data.rows(pairs)
        compared = np.unique(ends)
        left, right = np.searchsorted(compared, ends)
        wins = np.zeros((len(compared), len(compared)))
        np.add.at(wins, (right, left), pairs["weight"] * (1 + pairs["difference"]) / 2)
        np.add.at(wins, (left, right), pairs["weight"] * (1 - pairs["difference"]) / 2)
        scores[compared] = choix.ilsr_pairwise_dense(wins, alpha=strength)
    return scores


def logistic(features: Any, target: str) -> Way:
    """Return a function that scores by logistic regression of the sign of a column on feature differences."""

    def way(data: Arguments, train: pd.DataFrame, ridge: float) -> Scores:
        decided = train[train[target].abs() > 0]
        left, right = data.rows(decided)
        model = LogisticRegression(C=ridge, fit_intercept=False, max_iter=1000)
        scores: Scores = features @ model.fit(features[right] - features[left], np.sign(decided[target])).coef_[0]
        return scores

    return way


def features_of(data: Arguments, train: pd.DataFrame) -> Any:
    """Return the features that `confdiff fit` makes of the texts, fitted on the arguments of the training pairs."""
    in_training = data.items["id"].isin({*train["left"], *train["right"]})
    texts = data.items[["text"]]
    return csr_matrix(ItemFeatures().fit(texts[in_training]).encode(texts), dtype=np.float64)


def order(data: Arguments, scores: Scores, test: pd.DataFrame) -> float:
    """Return the fraction of the verdicts that the scores agree with; equal scores count half."""
    left, right = data.rows(test)
    sign = np.sign(scores[right] - scores[left])
    return float(np.mean(np.where(sign == 0, 0.5, sign == test["gold"])))


def folds_of(pairs: pd.DataFrame, by: str, count: int, seed: int = 0) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Yield (training pairs, held-out pairs with a verdict) of folds of topics or of unordered pairs."""
    ends = np.sort(pairs[["left", "right"]].to_numpy(dtype=str), axis=1)
    units = pairs["group"] if by == "topic" else [" ".join(pair) for pair in ends]
    for train, out in GroupKFold(count, shuffle=True, random_state=seed).split(pairs, groups=units):
        held_out = pairs.iloc[out]
        yield pairs.iloc[train], held_out[held_out["gold"].abs() > 0]


def chosen(data: Arguments, train: pd.DataFrame, way: Way, tried: Iterable[float], by: str) -> Scores:
    """Return the scores at the value that is best in inner folds of the training pairs."""
    inner = list(folds_of(train, by, INNER))
    best = max(tried, key=lambda value: np.mean([order(data, way(data, kept, value), out) for kept, out in inner]))
    return way(data, train, best)


def held_out_pairs(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    return {
        "confdiff": by_commands(data, train, test, BY_ID),
        "Bradley-Terry": order(data, chosen(data, train, bradley_terry, STRENGTHS, "pair"), test),
    }


def smoothed_pairs(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
    smoothed = by_commands(data, train, test, [*BY_ID, SMOOTHED])
    return {"confdiff, smoothed": smoothed} | held_out_pairs(data, train, test)


def fewer_pairs(fraction: float) -> Comparison:
    """Return :func:`held_out_pairs` on a fraction of the training pairs."""

    def compare(data: Arguments, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, float]:
        return held_out_pairs(data, train.sample(frac=fraction, random_state=0), test)

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
    """Format mean and 95 % t interval over folds."""
    reach = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values) if len(values) > 1 else np.nan
    return f"{values.mean():.4f} ({values.mean() - reach:.4f} to {values.mean() + reach:.4f})"


def report(title: str, rows: Rows) -> None:
    """Print the means, and the paired differences to the best baseline."""
    table = pd.DataFrame(rows)
    ours = [name for name in table if name.startswith("confdiff")]
    best = table.drop(columns=ours).mean().idxmax()
    print(f"\n{title}, {len(table)} folds: pairwise accuracy, mean (95 % interval); minus {best}")
    for name in table:
        difference = "" if name == best else interval((table[name] - table[best]).to_numpy())
        print(f"  {name:22s}{interval(table[name].to_numpy())}   {difference}", flush=True)


def run(title: str, data: Arguments, compare: Comparison, folds: Iterable[tuple[pd.DataFrame, pd.DataFrame]]) -> None:
    rows = []
    for train, test in folds:
        rows.append(compare(data, train, test))
        print("  ".join(f"{name} {value:.4f}" for name, value in rows[-1].items()), flush=True)
    report(title, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--held-out", nargs="+", choices=list(FOLDS), default=list(FOLDS), help="what is held out")
    parser.add_argument("--folds", type=int, default=8, help="run only this many of the folds")
    parser.add_argument("--fractions", nargs="*", type=float, default=[], help="of training pairs, such as 0.05 0.2")
    parser.add_argument("--seed", type=int, default=0, help="determines the folds")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        data = exported(Path(folder))
        comparisons: dict[str, dict[str, Comparison]] = {
            "pair": {"all training pairs": smoothed_pairs}
            | {f"{fraction:.0%} of the training pairs": fewer_pairs(fraction) for fraction in options.fractions},
            "topic": {"all training pairs": held_out_topics},
        }
        for by in options.held_out:
            folds = list(islice(folds_of(data.pairs, by, FOLDS[by], options.seed), options.folds))
            for title, compare in comparisons[by].items():
                run(f"held-out {by}s, {title}", data, compare, folds)


if __name__ == "__main__":
    main()
