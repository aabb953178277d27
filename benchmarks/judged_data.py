"""Split judgements of people about texts into training and test pairs, for the benchmarks. Needs CONFDIFF_DATA."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold

from confdiff.datasets import ComparisonDataset, load

Rows = NDArray[np.int64]
N_FOLDS = 8


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
    data = load("humicroedit")
    assert data.part is not None
    split = (np.flatnonzero(data.part == "train"), np.flatnonzero(data.part == "test"))
    return judged_texts("humicroedit", data, data.difference, [split])


def judged_texts(
    name: str, data: ComparisonDataset, verdict: NDArray[np.float64], splits: list[tuple[Rows, Rows]]
) -> JudgedTexts:
    """Return the pairs of a data set of texts with splits."""
    assert data.texts is not None
    return JudgedTexts(name, list(data.texts), data.left, data.right, data.difference, verdict, splits)


def read_arguments() -> JudgedTexts:
    """Return the arguments of UKPConvArg1 with folds of topics."""
    data = load("ukpconvarg1")
    assert data.verdict is not None
    verdict = np.nan_to_num(data.verdict)
    folds = GroupKFold(N_FOLDS, shuffle=True, random_state=0).split(verdict, groups=data.group)
    return judged_texts("UKPConvArg1", data, verdict, [(train, test[verdict[test] != 0]) for train, test in folds])


def read_puns(seed: int = 0) -> JudgedTexts:
    """Return one-liners with the share of votes as differences; a fifth of them are only in the test pairs."""
    data = load("humour-puns")
    is_new = np.random.default_rng(seed).random(len(data.ids)) < 0.2
    is_train = ~is_new[data.left] & ~is_new[data.right]
    is_test = is_new[data.left] & is_new[data.right]
    return judged_texts("humour-puns", data, data.difference, [(np.flatnonzero(is_train), np.flatnonzero(is_test))])
