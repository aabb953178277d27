"""Read judgements of people about texts and teams, for the benchmarks. Needs CONFDIFF_DATA."""

import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from confdiff.datasets import load
from confdiff.datasets.files import data_roots

Rows = NDArray[np.int64]
N_FOLDS = 8
_HEADLINES = ("train", "test_with_label")


@dataclass(frozen=True, eq=False)
class JudgedTexts:
    """Texts, judged pairs, what a test compares with, and rows of training and test pairs."""

    name: str
    texts: list[str]
    left: Rows
    right: Rows
    difference: NDArray[np.float64]
    verdict: NDArray[np.float64]
    splits: list[tuple[Rows, Rows]]


def read_headlines() -> JudgedTexts:
    """Return the headlines of humicroedit with the difference of the mean grades, from -1 to 1."""
    folder = data_roots()[0] / "humicroedit"
    frames = [pd.read_csv(folder / f"task-2-{part}.csv") for part in _HEADLINES]
    sides = [pd.concat([edited(frame, side) for frame in frames]).to_numpy() for side in ("1", "2")]
    c = np.concatenate([(frame["meanGrade2"] - frame["meanGrade1"]) / 3 for frame in frames])
    texts, ends = np.unique(np.concatenate(sides).astype(str), return_inverse=True)
    left, right = ends.reshape(2, -1)
    train = np.arange(len(frames[0]))
    test = np.arange(len(frames[0]), len(c))
    return JudgedTexts("humicroedit", texts.tolist(), left, right, c, c, [(train, test)])


def edited(frame: pd.DataFrame, side: str) -> pd.Series:
    """Return headlines with the edit in place of the marked word."""
    columns = zip(frame[f"original{side}"], frame[f"edit{side}"], strict=True)
    return pd.Series([re.sub("<.*?/>", word.replace("\\", r"\\"), text) for text, word in columns])


def read_arguments() -> JudgedTexts:
    """Return the arguments of UKPConvArg1 with folds of topics."""
    data = load("ukpconvarg1")
    assert data.pairs.group is not None
    assert data.pairs.difference is not None
    verdict = np.select([data.gold == "a1", data.gold == "a2"], [-1.0, 1.0], 0.0)
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=0).split(verdict, groups=data.pairs.group.numpy())
    return JudgedTexts(
        "UKPConvArg1",
        list(data.texts),
        data.pairs.left.numpy(),
        data.pairs.right.numpy(),
        data.pairs.difference.numpy(),
        verdict,
        [(train, test[verdict[test] != 0]) for train, test in folds],
    )


def read_puns(seed: int = 0) -> JudgedTexts:
    """Return one-liners with the share of votes as differences; a fifth of them are only in the test pairs."""
    folder = data_roots()[0] / "humour-puns"
    lines = [line.rstrip("\n").split("\t") for line in (folder / "item_scores.txt").open(encoding="utf-8")]
    votes = pd.read_csv(folder / "pairs.csv", names=["winner", "loser"])
    left, right = np.sort(votes.to_numpy(), axis=1).T
    counted = pd.DataFrame({"left": left, "right": right, "for_right": votes["winner"] == right})
    shares = counted.groupby(["left", "right"])["for_right"].mean()
    c = 2 * shares.to_numpy() - 1
    row_of = pd.Series(range(len(lines)), index=[int(line[0]) for line in lines])
    first, second = (row_of.loc[shares.index.get_level_values(side)].to_numpy() for side in ("left", "right"))
    is_new = np.random.default_rng(seed).random(len(lines)) < 0.2
    split = (np.flatnonzero(~is_new[first] & ~is_new[second]), np.flatnonzero(is_new[first] & is_new[second]))
    return JudgedTexts("humour-puns", [line[2] for line in lines], first, second, c, c, [split])
