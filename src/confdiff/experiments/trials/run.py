"""Run one trial: a specification in, a record out."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import mean
from time import process_time

import torch
from torch import nn

from confdiff import __version__
from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.methods import METHODS
from confdiff.metrics import accuracy
from confdiff.models import build_model
from confdiff.pairs import Pairs, supervised_pairs
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.training import Recipe, predict_scores, train

AVERAGED = 10  # the accuracy of a trial is the mean over this many last epochs


def run_trial(spec: TrialSpec, *, folder: Path | None = None, recipe: Recipe | None = None) -> TrialRecord:
    """Make the task, train by the method, and test. The same specification gives the same accuracies.

    Parameters
    ----------
    spec : TrialSpec
        The trial.
    folder : Path, optional
        Folder to search first for the data set.
    recipe : Recipe, optional
        A recipe that replaces the protocol's, for tests and benchmarks. The record does not contain it, so do not store
        such a record.

    Returns
    -------
    TrialRecord
        Accuracy, learning curve and times.
    """
    task = _task(spec.task, folder, tuple(spec.plugins.items()))
    model = build_model(spec.task.network, task.test_items.shape[1], seed=spec.task.seed)

    def evaluate(model: nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, task.test_items), task.test_labels)}

    start = process_time()
    history = train(
        model,
        pairs_for(spec.method, task),
        spec.method,
        prior=task.prior if spec.prior_given else None,
        recipe=recipe_for(spec) if recipe is None else recipe,
        evaluate=evaluate,
        evaluate_at=evaluation_epochs(spec.epochs),
    )
    curve = {int(epoch["epoch"]): round(epoch["accuracy"], 5) for epoch in history if "accuracy" in epoch}
    return TrialRecord(
        key=spec.key,
        spec=spec,
        accuracy=round(mean(list(curve.values())[-AVERAGED:]), 6),
        seconds=round(history[-1]["seconds"], 2),
        processor_seconds=round(process_time() - start, 2),
        teacher_accuracy=round(task.teacher_accuracy, 5),
        network=spec.task.network,
        curve=tuple(curve.items()),
        versions={"confdiff": __version__, "torch": torch.__version__},
    )


@lru_cache(maxsize=1)
def _task(spec: TaskSpec, folder: Path | None, plugins: tuple[tuple[str, str], ...]) -> Task:
    """Make a task; methods on one task, with the same versions of plug-ins, follow each other and share it."""
    return make_task(spec, folder=folder)


def pairs_for(method: str, task: Task) -> Pairs:
    """Return the pairs as a method takes them: ordered by their labels, or with same-class answers."""
    learns_from = METHODS[method].learns_from
    if learns_from == "order" and task.pairs.ordering is not None:
        return task.pairs
    return supervised_pairs(task.pairs, learns_from, "reverse", seed=task.spec.seed)


def recipe_for(spec: TrialSpec) -> Recipe:
    """Return the protocol's recipe, in which ordered pairs always share one forward pass.

    In separate passes, batch normalisation would use the statistics of first and second items separately. That would
    remove the difference between the mostly positive first items and the mostly negative second ones.
    """
    recipe = spec.task.learning(spec.epochs)
    return replace(recipe, forward_passes=1) if METHODS[spec.method].learns_from.startswith("order") else recipe


def evaluation_epochs(epochs: int) -> list[int]:
    """Return the epochs after which a learner is tested: every tenth, some early ones, and the last ten.

    >>> evaluation_epochs(22)
    [1, 2, 5, 10, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]
    """
    early = {epoch for epoch in (1, 2, 5, *range(10, epochs, 10)) if epoch <= epochs}
    last = range(max(1, epochs - AVERAGED + 1), epochs + 1)
    return sorted(early | set(last))
