"""Compare links and learners on judgements of people: R² and pairwise accuracy on held-out pairs.

=============  =====================================  =================================================
data           differences                            test pairs
=============  =====================================  =================================================
ukpconvarg1    share of votes for the second          four of 32 topics (--folds of the eight folds)
humicroedit    difference of mean grades              the official ones; no headline is in both parts
humour-puns    share of votes for the second          both of its one-liners are in no training pair
football       goals of the second minus the first,   matches from 2020 on; training from 2010 on
               at most 5, divided by 5
=============  =====================================  =================================================

Texts are encoded as `confdiff fit` does, for networks with at most 2,000 words (a network of all words takes minutes).
A football item is a team at home or not: the features are the team, one-hot, and whether it plays at home. So all teams
of test pairs are known. Linear models choose their penalty (C="auto"), boosting and the regularised network have their
defaults. No prior is given. Seed 0. Needs CONFDIFF_DATA.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from confdiff import (
    LINKS,
    ConfDiffBoosting,
    ConfDiffClassifier,
    ConfDiffLogisticRegression,
    ItemFeatures,
    Pairs,
    use_threads,
)
from confdiff.datasets import load
from confdiff.metrics import difference_r2, pairwise_accuracy
from confdiff.tabular.features.vocabulary import MAX_WORDS
from judged_data import JudgedTexts, Rows, read_arguments, read_headlines, read_puns

NETWORK_WORDS = 2_000
LEARNERS: dict[str, Callable[[str], Any]] = {
    "linear": lambda link: ConfDiffLogisticRegression(link=link, C="auto"),
    "boosting": lambda link: ConfDiffBoosting(link=link),
    "mlp": lambda link: ConfDiffClassifier.regularised().set_params(link=link),
}
Problem = tuple[Pairs, Pairs]


@dataclass(frozen=True)
class Result:
    """The means over the splits of a data set."""

    r2: float
    accuracy: float
    seconds: float


def text_problems(data: JudgedTexts, n_splits: int, max_features: int) -> list[Problem]:
    """Return training and test pairs of encoded texts."""
    frame = pd.DataFrame({"text": data.texts})
    problems = []
    for train, test in data.splits[:n_splits]:
        compared = np.unique([data.left[train], data.right[train]])
        features = ItemFeatures(kinds={"text": "text"}, max_features=max_features).fit(frame.iloc[compared])
        items = features.encode(frame)
        problems.append((pairs_of(data, items, train), pairs_of(data, items, test)))
    return problems


def pairs_of(data: JudgedTexts, items: Any, rows: Rows) -> Pairs:
    """Return some pairs with differences."""
    return Pairs(items, data.left[rows], data.right[rows], difference=data.difference[rows]).compact()


def football_problems() -> list[Problem]:
    """Return matches before and after the start of 2020; the second item of a pair is the first team of the file."""
    data = load("football")
    assert data.date is not None
    assert data.side is not None
    is_recent = data.date >= np.datetime64("2010-01-01")
    home, away = data.left[is_recent], data.right[is_recent]
    items = team_features(away, home, data.side[is_recent])
    c = -data.difference[is_recent]
    is_test = data.date[is_recent] >= np.datetime64("2020-01-01")
    n_matches = len(home)
    left, right = np.arange(n_matches), np.arange(n_matches, 2 * n_matches)
    rows = (np.flatnonzero(~is_test), np.flatnonzero(is_test))
    train, test = (Pairs(items, left[part], right[part], difference=c[part]).compact() for part in rows)
    return [(train, test)]


def team_features(away: Rows, home: Rows, side: Rows) -> NDArray[np.float32]:
    """Return the away teams of matches, then the home teams, one-hot, and whether they play at home."""
    teams = np.concatenate([away, home])
    at_home = np.concatenate([np.zeros(len(away)), side])
    return np.column_stack([teams[:, None] == np.unique(teams), at_home]).astype(np.float32)


def measure(learner: str, link: str, problems: list[Problem]) -> Result:
    """Fit to the training pairs and predict the differences of the test pairs."""
    measured = []
    start = time.process_time()
    for train, test in problems:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            predicted = LEARNERS[learner](link).fit(train).predict_difference(test)
        assert test.difference is not None
        c = test.difference.numpy()
        measured.append((difference_r2(predicted, c), pairwise_accuracy(predicted, c)))
    r2, accuracy = np.mean(measured, axis=0)
    return Result(r2=float(r2), accuracy=float(accuracy), seconds=(time.process_time() - start) / len(problems))


READERS: dict[str, Callable[[], JudgedTexts]] = {
    "ukpconvarg1": read_arguments,
    "humicroedit": read_headlines,
    "humour-puns": read_puns,
}


def main() -> None:
    """Print one line per data set, learner and link."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=[*READERS, "football"], default=[*READERS, "football"])
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--folds", type=int, default=2, help="run only this many folds of topics")
    options = parser.parse_args()
    print(f"{'data':14s}{'learner':10s}{'link':13s}{'R²':>7s}{'pairwise accuracy':>19s}{'seconds per fit':>17s}")
    for name in options.data:
        data = READERS[name]() if name in READERS else None
        for learner in options.learners:
            most = NETWORK_WORDS if learner == "mlp" else MAX_WORDS
            problems = football_problems() if data is None else text_problems(data, options.folds, most)
            for link in LINKS:
                with use_threads(1):
                    result = measure(learner, link, problems)
                figures = f"{result.r2:7.3f}{result.accuracy:19.3f}{result.seconds:17.1f}"
                print(f"{name:14s}{learner:10s}{link:13s}{figures}", flush=True)


if __name__ == "__main__":
    main()
