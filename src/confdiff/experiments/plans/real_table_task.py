"""The tasks of the study on real tables: a teacher of trees, pairs, their differences, and a test set.

The teacher is cross-fitted inside the training set. No label of the test set enters the pairs in any way.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from confdiff.calibration import fit_temperature
from confdiff.datasets import Dataset, load
from confdiff.experiments.trials.table_record import TableSpec
from confdiff.metrics import accuracy
from confdiff.pairs import Pairs, add_noise, rows_at_prior, sample_pairs
from confdiff.randomness import derived_seed
from confdiff.tasks import split
from confdiff.teacher import Grades

DIFFERENCES: dict[str, tuple[str, float | None] | None] = {
    "exact": None,
    "additive": ("additive", 0.3),
    "multiplicative": ("multiplicative", 0.5),
    "five grades": ("likert", 5.0),
    "labels": ("labels", None),
}
"""Kind of differences -> kind and amount of their noise, see :func:`confdiff.pairs.add_noise`."""
_FOLDS = 5
_TREES: dict[str, Any] = {
    "n_estimators": 100,
    "learning_rate": 0.05,
    "num_leaves": 15,
    "subsample": 0.8,
    "subsample_freq": 1,
    "colsample_bytree": 0.8,
    "n_jobs": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}
_EQUAL = 0.5  # the class prior of as many positives as negatives


@dataclass(frozen=True, eq=False)
class TableTask:
    """The pairs that a learner gets, and the test set that evaluates it.

    Attributes
    ----------
    pairs : Pairs
        Pairs with differences, and for oracles with labels and posteriors.
    prior : float
        Class prior of pairs and test set, which learners are given.
    test_items, test_labels : arrays
        The test set.
    teacher_accuracy : float
        Accuracy of the posteriors on the training set, out of fold.
    """

    pairs: Pairs
    prior: float
    test_items: NDArray[np.float32]
    test_labels: NDArray[np.float32]
    teacher_accuracy: float


def make_table_task(spec: TableSpec, *, folder: Path | None = None) -> TableTask:
    """Make the task of a trial; learners of one task get the same pairs.

    Parameters
    ----------
    spec : TableSpec
        The trial.
    folder : Path, optional
        Folder to search first for the data set.
    """
    data = _load(spec.dataset, folder)
    train_rows, test_rows = split(data, spec.seed)
    labels = torch.from_numpy(data.labels[train_rows.numpy()])
    prior = float(labels.double().mean()) if spec.balance == "natural" else _EQUAL
    grades = _grades(spec.dataset, spec.seed, folder)
    pairs = sample_pairs(
        torch.from_numpy(data.items[train_rows.numpy()]),
        labels=labels,
        posteriors=grades.at_prior(prior),
        n_pairs=min(spec.pairs, most_pairs(labels.numpy(), prior)),
        prior=prior,
        seed=spec.seed,
    ).compact()
    noise = DIFFERENCES[spec.differences]
    rows = test_rows.numpy()
    if spec.balance == "equal":
        rows = rows[rows_at_prior(data.labels[rows], _EQUAL, seed=spec.seed).numpy()]
    return TableTask(
        pairs=pairs if noise is None else add_noise(pairs, *noise, seed=spec.seed),
        prior=prior,
        test_items=data.items[rows],
        test_labels=data.labels[rows],
        teacher_accuracy=accuracy(grades.scores, labels),
    )


def most_pairs(labels: NDArray[Any], prior: float) -> int:
    """Return the largest number of pairs at a class prior in which no item occurs twice.

    >>> most_pairs(np.array([1, 1, 0, 0, 0, 0, 0, 0, 0]), 0.25)
    4
    """
    positives = int(labels.sum())
    negatives = len(labels) - positives
    return min(int(positives / (2 * prior) + 1e-9), int(negatives / (2 * (1 - prior)) + 1e-9))


def why_not_loaded(datasets: Iterable[str], *, folder: Path | None = None) -> dict[str, str]:
    """Return the reason for each data set that cannot be loaded."""
    reasons = {}
    for name in sorted(datasets):
        try:
            _load(name, folder)
        except (ValueError, OSError) as error:
            reasons[name] = str(error)
    return reasons


@lru_cache(maxsize=4)
def _load(dataset: str, folder: Path | None) -> Dataset:
    return load(dataset, folder=folder)


@lru_cache(maxsize=64)
def _grades(dataset: str, seed: int, folder: Path | None) -> Grades:
    """Grade the training set by trees that were fitted without the item, and scale the scores to fit all labels."""
    from lightgbm import LGBMClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    data = _load(dataset, folder)
    rows = split(data, seed)[0].numpy()
    labels = data.labels[rows]
    random_state = derived_seed(seed, "trees") % 2**31
    trees = LGBMClassifier(**_TREES, random_state=random_state)
    folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=random_state)
    probabilities = cross_val_predict(trees, data.items[rows], labels, cv=folds, method="predict_proba")[:, 1]
    scores = torch.logit(torch.from_numpy(probabilities)).float()
    temperature = fit_temperature(scores, torch.from_numpy(labels))
    return Grades(scores=scores / temperature, prior=float(labels.mean(dtype=np.float64)), temperature=temperature)
