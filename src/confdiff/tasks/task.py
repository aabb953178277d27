"""Making a task: load, split, teach, draw, grade."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from confdiff.datasets import Dataset, load
from confdiff.io.atomic import cache_folder
from confdiff.metrics import accuracy
from confdiff.pairs import Pairs, add_noise, order_by_labels, rows_at_prior, sample_pairs
from confdiff.randomness import generator
from confdiff.tasks.protocols import PROTOCOLS, SETTINGS
from confdiff.tasks.spec import TaskSpec
from confdiff.teacher import Grades, teach
from confdiff.validation import as_tensor

TRAIN_SHARE = 0.8  # of each binary class, rounded down, where the paper splits at random


@dataclass(frozen=True, eq=False)
class Task:
    """What a learner gets, and what it is judged by.

    pairs: over the items that were drawn; with differences, and for oracles labels and posteriors.
    prior: the class prior that the learner is told.
    test_items, test_labels: at the same class prior as the pairs, from items that neither teacher nor learner saw.
    rows, test_rows: where the items of the pairs and of the test stand in the data set.
    teacher_accuracy: on the test items.
    """

    spec: TaskSpec
    data: Dataset
    pairs: Pairs
    prior: float
    test_items: Tensor
    test_labels: Tensor
    rows: Tensor
    test_rows: Tensor
    test_posteriors: Tensor
    teacher_accuracy: float


def make_task(
    spec: TaskSpec, *, folder: str | Path | None = None, keep_teacher: bool = True, progress: bool = False
) -> Task:
    """Load, split, teach, draw, grade.

    folder: where to look for the data set first.
    keep_teacher: keep what the teacher says in the cache, and look it up there.

    >>> task = make_task(TaskSpec("digits", prior=0.2), keep_teacher=False)
    >>> len(task.pairs), float(task.pairs.labels.mean()), round(float(task.test_labels.mean()), 3)
    (400, 0.20000000298023224, 0.198)
    """
    protocol = PROTOCOLS[spec.protocol]
    data = _load(spec, folder)
    items = as_tensor(
        _scrambled(data.items) if protocol.scrambles_colours and data.items.shape[1] == 3072 else data.items
    )
    labels = as_tensor(data.labels)
    train_rows, test_rows = split(data, spec.seed)
    pairs = _draw(spec, items, labels, train_rows)  # before the teacher is trained, as there may be too few items
    test_rows = _test_rows(data, test_rows, spec)
    teachers = cache_folder() / "teachers" if keep_teacher else None
    grades = _human(data) or teach(
        items, labels, rows=train_rows, teaching=spec.teaching, cache_folder=teachers, progress=progress
    )
    posteriors = grades.at_prior(spec.prior) if spec.adjusted else grades.posteriors
    pairs = _graded(spec, pairs, posteriors)
    scores = posteriors[test_rows] - 0.5
    return Task(
        spec=spec,
        data=data,
        pairs=pairs.compact(),
        prior=spec.told_prior,
        test_items=items[test_rows],
        test_labels=labels[test_rows],
        rows=torch.unique(torch.cat([pairs.left, pairs.right])),
        test_rows=test_rows,
        test_posteriors=posteriors[test_rows],
        teacher_accuracy=accuracy(scores, labels[test_rows]),
    )


def why_not_made(specs: Iterable[TaskSpec], *, folder: str | Path | None = None) -> dict[TaskSpec, str]:
    """Those tasks whose data set is not here or has too few items, and why: to be known before a teacher is trained."""
    reasons: dict[TaskSpec, str] = {}

    def source(spec: TaskSpec) -> tuple[str, str, bool]:
        return spec.dataset, spec.protocol, spec.incomplete

    for _, group in groupby(sorted(specs, key=source), source):
        tasks = list(group)
        try:
            data = _load(tasks[0], folder)
        except (ValueError, OSError) as error:
            reasons |= dict.fromkeys(tasks, str(error))
            continue
        labels = as_tensor(data.labels)
        places = torch.arange(len(labels))[:, None]  # in place of the items, which are not looked at
        for spec in tasks:
            train_rows, test_rows = split(data, spec.seed)
            try:
                _draw(spec, places, labels, train_rows)
                _test_rows(data, test_rows, spec)
            except ValueError as error:
                reasons[spec] = str(error)
    return reasons


def _load(spec: TaskSpec, folder: str | Path | None) -> Dataset:
    """The data set, with the classes that the protocol takes for positive."""
    data = load(spec.dataset, folder=folder, incomplete=spec.incomplete)
    positive = PROTOCOLS[spec.protocol].positive.get(spec.dataset)
    return data if positive is None else data.with_positive(*positive)


def split(data: Dataset, seed: int) -> tuple[Tensor, Tensor]:
    """Rows to train on and rows to test on: the published parts, or 80 % of each binary class (rounded down) at random.

    Where the parts are published the test rows come in the order of their classes, as the authors' program has them.
    """
    if data.n_train is not None:
        test = data.n_train + np.argsort(data.classes[data.n_train :], kind="stable")
        return torch.arange(data.n_train), torch.from_numpy(test)
    order = torch.randperm(len(data.items), generator=generator(seed, "split"))
    positive = as_tensor(data.labels)[order] > 0
    train = torch.zeros(len(order), dtype=torch.bool)
    for of_class in (positive, ~positive):
        rows = of_class.nonzero()[:, 0]
        train[rows[: int(len(rows) * TRAIN_SHARE + 1e-9)]] = True
    return order[train], order[~train]


def _human(data: Dataset) -> Grades | None:
    """What people said, where they were asked: no teacher is needed."""
    if data.posteriors is None:
        return None
    return Grades(torch.logit(as_tensor(data.posteriors)), float(data.posteriors.mean()), 1.0)


def _draw(spec: TaskSpec, items: Tensor, labels: Tensor, rows: Tensor) -> Pairs:
    pairs = sample_pairs(
        items,
        labels=labels,
        n_pairs=SETTINGS[spec.dataset].n_pairs if spec.n_pairs is None else spec.n_pairs,
        prior=spec.prior,
        partners=spec.partners,
        replacement=spec.replacement,
        rows=rows,
        seed=spec.seed,
    )
    return pairs if spec.fraction == 1 else pairs[: max(1, round(spec.fraction * len(pairs)))]


def _graded(spec: TaskSpec, pairs: Pairs, posteriors: Tensor) -> Pairs:
    pairs = pairs.graded_by(posteriors)
    if spec.noise is not None:
        pairs = add_noise(pairs, spec.noise, spec.noise_amount, clip=spec.clip, seed=spec.seed)
    return pairs if spec.pcomp is None else order_by_labels(pairs, spec.pcomp, seed=spec.seed)


def _test_rows(data: Dataset, rows: Tensor, spec: TaskSpec) -> Tensor:
    """The test rows at the class prior: all of one class, and of the other those that the protocol takes."""
    take = PROTOCOLS[spec.protocol].test
    return rows[rows_at_prior(data.labels[rows.numpy()], spec.prior, take=take, seed=spec.seed)]


def _scrambled(items: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Pictures whose pixels were laid out height x width x channel and then read as channel x height x width."""
    return np.ascontiguousarray(items.reshape(-1, 3, 1024).transpose(0, 2, 1)).reshape(len(items), -1)
