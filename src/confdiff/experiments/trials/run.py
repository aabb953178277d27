"""One trial: a specification in, a record out."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import mean
from time import process_time
from typing import Any

import torch
from torch import nn

from confdiff import __version__
from confdiff.experiments.trials.spec import TrialSpec, said
from confdiff.methods import METHODS
from confdiff.metrics import accuracy
from confdiff.models import build_model
from confdiff.pairs import Pairs, order_by_labels
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.training import Recipe, predict_scores, train

AVERAGED = 10  # the accuracy of a trial is the mean over its last epochs
Record = dict[str, Any]


def run_trial(spec: TrialSpec, *, folder: Path | None = None, recipe: Recipe | None = None) -> Record:
    """Make the task, train by the method, test. The same specification gives the same accuracies.

    recipe: another one than the protocol's, to try something out; the record does not tell, so it is not to be kept.
    """
    task = _task(spec.task, folder)
    model = build_model(spec.task.network, task.test_items.shape[1], seed=spec.task.seed)

    def evaluate(model: nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, task.test_items), task.test_labels)}

    start = process_time()
    history = train(
        model,
        pairs_for(spec.method, task),
        spec.method,
        prior=task.prior if spec.prior_is_told else None,
        recipe=recipe_for(spec) if recipe is None else recipe,
        evaluate=evaluate,
        evaluate_at=looked_at(spec.epochs),
    )
    curve = {int(record["epoch"]): round(record["accuracy"], 5) for record in history if "accuracy" in record}
    return {
        "key": spec.key,
        **said(spec.task),
        **({} if spec.prior_is_told else {"prior_is_told": False}),
        "method": spec.method,
        "epochs": spec.epochs,
        "accuracy": round(mean(list(curve.values())[-AVERAGED:]), 6),
        "seconds": round(history[-1]["seconds"], 2),
        "processor_seconds": round(process_time() - start, 2),
        "teacher_accuracy": round(task.teacher_accuracy, 5),
        "network": spec.task.network,
        "curve": list(curve.items()),
        "versions": {"confdiff": __version__, "torch": torch.__version__},
    }


@lru_cache(maxsize=1)
def _task(spec: TaskSpec, folder: Path | None) -> Task:
    """The methods of one task follow each other, and share it."""
    return make_task(spec, folder=folder)


def pairs_for(method: str, task: Task) -> Pairs:
    """The pairs as a method takes them: ordered by their labels where it learns from the order."""
    if METHODS[method].learns_from != "order" or task.pairs.ordering is not None:
        return task.pairs
    return order_by_labels(task.pairs, "reverse", seed=task.spec.seed)


def recipe_for(spec: TrialSpec) -> Recipe:
    """The protocol's recipe. Ordered pairs are scored together in any case.

    Scored apart, first and second items would each be normalised by their own batch: what tells the mostly positive
    first items from the mostly negative second ones would be taken out of the data.
    """
    recipe = spec.task.learning(spec.epochs)
    return replace(recipe, forward_passes=1) if METHODS[spec.method].learns_from == "order" else recipe


def looked_at(epochs: int) -> list[int]:
    """The epochs after which a learner is tested: every tenth, some early ones, and the last ten.

    >>> looked_at(22)
    [1, 2, 5, 10, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22]
    """
    early = {1, 2, 5, *range(10, epochs, 10)}
    return sorted({epoch for epoch in early if epoch <= epochs} | set(range(max(1, epochs - AVERAGED + 1), epochs + 1)))
