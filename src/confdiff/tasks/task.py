"""Make a task: load a data set, split it, train a teacher, draw pairs, grade them."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from confdiff.datasets import DATASETS, Dataset, load
from confdiff.io.atomic import cache_folder
from confdiff.metrics import accuracy
from confdiff.pairs import Pairs, add_noise, order_by_labels, rows_at_prior, sample_pairs
from confdiff.randomness import generator
from confdiff.tasks.protocols import PROTOCOLS
from confdiff.tasks.spec import TaskSpec
from confdiff.teacher import Grades, grades_file, teach
from confdiff.threads import follow_policy
from confdiff.validation import as_tensor

_TRAIN_FRACTION = 0.8  # of each binary class, rounded down, where the paper splits at random


@dataclass(frozen=True, eq=False)
class Task:
    """The pairs that a learner gets, and the test set that evaluates it.

    Parameters
    ----------
    spec : TaskSpec
        Specification of the task.
    data : Dataset
        The data set, with the positive classes of the protocol.
    pairs : Pairs
        Pairs over the items that were drawn, with differences, and for oracles with labels and posteriors.
    prior : float
        The class prior that the learner is given.
    test_items, test_labels : Tensor
        The test set, at the class prior of the pairs; neither teacher nor learner is trained on its items.
    rows, test_rows : Tensor
        The rows of the items of the pairs and of the test set in the data set.
    test_posteriors : Tensor
        The teacher's posteriors of the test items.
    teacher_accuracy : float
        Accuracy of the teacher on the test set.
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


@follow_policy
def make_task(
    spec: TaskSpec, *, folder: str | Path | None = None, keep_teacher: bool = True, progress: bool = False
) -> Task:
    """Make the task of a specification.

    Parameters
    ----------
    spec : TaskSpec
        Specification of the task.
    folder : path, optional
        Folder to search first for the data set.
    keep_teacher : bool
        Whether to store the teacher's posteriors in the cache, and to look them up there.
    progress : bool
        Whether to show a progress bar for the teacher.

    Examples
    --------
    >>> task = make_task(TaskSpec("digits", prior=0.2), keep_teacher=False)
    >>> len(task.pairs), float(task.pairs.labels.mean()), round(float(task.test_labels.mean()), 3)
    (400, 0.20000000298023224, 0.198)
    """
    data = _load(spec, folder)
    items = as_tensor(_features(spec, data))
    labels = as_tensor(data.labels)
    train_rows, test_rows = split(data, spec.seed)
    pairs = _draw(spec, items, labels, train_rows)  # before the teacher is trained, as there may be too few items
    test_rows = _test_rows(data, test_rows, spec)
    teachers = _teachers() if keep_teacher else None
    grades = _votes_as_grades(data) or teach(
        items, labels, rows=train_rows, teaching=spec.teaching, cache_folder=teachers, progress=progress
    )
    posteriors = grades.at_prior(spec.prior) if spec.adjusted else grades.posteriors
    pairs = _graded(spec, pairs, posteriors)
    scores = posteriors[test_rows] - 0.5
    return Task(
        spec=spec,
        data=data,
        pairs=pairs.compact(),
        prior=spec.given_prior,
        test_items=items[test_rows],
        test_labels=labels[test_rows],
        rows=torch.unique(torch.cat([pairs.left, pairs.right])),
        test_rows=test_rows,
        test_posteriors=posteriors[test_rows],
        teacher_accuracy=accuracy(scores, labels[test_rows]),
    )


def teacher_file(spec: TaskSpec, *, folder: str | Path | None = None) -> Path | None:
    """Return the file in the cache for the grades of a task's teacher; None if people have graded the data set."""
    data = _load(spec, folder)
    if data.posteriors is not None:
        return None
    train_rows, _ = split(data, spec.seed)
    items = as_tensor(_features(spec, data))
    labels = as_tensor(data.labels)
    return grades_file(items, labels, rows=train_rows, teaching=spec.teaching, cache_folder=_teachers())


def _teachers() -> Path:
    return cache_folder() / "teachers"


def why_not_made(specs: Iterable[TaskSpec], *, folder: str | Path | None = None) -> dict[TaskSpec, str]:
    """Return the reason for each task that cannot be made: its data set is missing or has too few items.

    This is fast, as no teacher is trained.
    """
    reasons: dict[TaskSpec, str] = {}
    for _, group in groupby(sorted(specs, key=_source_of), _source_of):
        same_data = list(group)
        try:
            data = _load(same_data[0], folder)
        except (ValueError, OSError) as error:
            reasons |= dict.fromkeys(same_data, str(error))
            continue
        for spec in same_data:
            reason = _why_not_drawn(spec, data)
            if reason is not None:
                reasons[spec] = reason
    return reasons


def _source_of(spec: TaskSpec) -> tuple[str, str, bool]:
    return spec.dataset, spec.protocol, spec.incomplete


def _why_not_drawn(spec: TaskSpec, data: Dataset) -> str | None:
    labels = as_tensor(data.labels)
    row_numbers = torch.arange(len(labels))[:, None]  # instead of the items, whose features do not matter here
    train_rows, test_rows = split(data, spec.seed)
    try:
        _draw(spec, row_numbers, labels, train_rows)
        _test_rows(data, test_rows, spec)
    except ValueError as error:
        return str(error)
    return None


def _load(spec: TaskSpec, folder: str | Path | None) -> Dataset:
    """Return the data set, with the positive classes of the protocol."""
    data = load(spec.dataset, folder=folder, incomplete=spec.incomplete)
    positive = PROTOCOLS[spec.protocol].positive.get(spec.dataset)
    return data if positive is None else data.with_positive(*positive)


def split(data: Dataset, seed: int) -> tuple[Tensor, Tensor]:
    """Return the rows of the training and the test set: the published ones, or 80 % of each binary class at random.

    80 % is rounded down. Published test rows come in the order of their classes, as in the authors' program.
    """
    if data.n_train is not None:
        test = data.n_train + np.argsort(data.classes[data.n_train :], kind="stable")
        return torch.arange(data.n_train), torch.from_numpy(test)
    order = torch.randperm(len(data.items), generator=generator(seed, "split"))
    positive = as_tensor(data.labels)[order] > 0
    train = torch.zeros(len(order), dtype=torch.bool)
    for of_class in (positive, ~positive):
        rows = of_class.nonzero()[:, 0]
        train[rows[: int(len(rows) * _TRAIN_FRACTION + 1e-9)]] = True
    return order[train], order[~train]


def _votes_as_grades(data: Dataset) -> Grades | None:
    """Return the votes of people as grades, or None if the data set has no votes."""
    if data.posteriors is None:
        return None
    return Grades(torch.logit(as_tensor(data.posteriors)), float(data.posteriors.mean()), 1.0)


def _draw(spec: TaskSpec, items: Tensor, labels: Tensor, rows: Tensor) -> Pairs:
    pairs = sample_pairs(
        items,
        labels=labels,
        n_pairs=spec.setting.n_pairs if spec.n_pairs is None else spec.n_pairs,
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
    """Return the test rows at the class prior: all of one class, and of the other those that the protocol takes."""
    take = PROTOCOLS[spec.protocol].test
    return rows[rows_at_prior(data.labels[rows.numpy()], spec.prior, take=take, seed=spec.seed)]


def _features(spec: TaskSpec, data: Dataset) -> NDArray[Any]:
    """Return the features of all items as the protocol has them."""
    layout = DATASETS[spec.dataset].layout
    if layout is None or not PROTOCOLS[spec.protocol].scrambles_colours:
        return data.items
    return _scrambled(data.items, n_channels=layout[0])


def _scrambled(items: NDArray[Any], n_channels: int) -> NDArray[Any]:
    """Return pictures that were stored as height x width x channel and then read as channel x height x width."""
    channels_last = items.reshape(len(items), n_channels, -1).transpose(0, 2, 1)
    return np.ascontiguousarray(channels_last).reshape(len(items), -1)
