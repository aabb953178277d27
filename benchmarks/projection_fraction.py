"""Measure confdiff-combined with other fractions of projection, under noise.

A fraction of 0 is difference regression. Accuracy is the mean of the last ten epochs of a trial, by the protocol of the
study (confdiff reproduce study), on data and seeds outside the study. The data sets must be in CONFDIFF_DATA or in the
cache.
"""

import argparse
from dataclasses import replace
from functools import partial
from statistics import mean

import torch

from confdiff.experiments.plans.study import CONDITIONS
from confdiff.experiments.trials.run import recipe_for
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.methods import METHODS
from confdiff.metrics import accuracy
from confdiff.models import build_model
from confdiff.risks import combined_terms
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.training import predict_scores, train

LAST = 10  # epochs that are averaged


def trial(spec: TrialSpec, task: Task, fraction: float) -> float:
    """Return the accuracy of regression with this fraction of projection."""
    method = replace(METHODS[spec.method], terms=partial(combined_terms, fraction=fraction))
    model = build_model(spec.task.network, task.test_items.shape[1], seed=spec.task.seed)
    history = train(
        model,
        task.pairs,
        method,
        prior=task.prior,
        recipe=recipe_for(spec),
        evaluate=lambda network: {"accuracy": accuracy(predict_scores(network, task.test_items), task.test_labels)},
        evaluate_at=range(spec.epochs - LAST + 1, spec.epochs + 1),
    )
    return mean(epoch["accuracy"] for epoch in history if "accuracy" in epoch)


def main() -> None:
    """Run all trials and print one line per condition."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="optdigits")
    parser.add_argument("--priors", default=".2,.5")
    parser.add_argument("--conditions", type=int, default=5, help="how many of the study to run; 1: exact only")
    parser.add_argument("--fractions", default="0,.1,.5,1.5")
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--seed", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    priors = [float(word) for word in arguments.priors.split(",")]
    fractions = [float(word) for word in arguments.fractions.split(",")]
    for condition, options in list(CONDITIONS.items())[: arguments.conditions]:
        tasks = [TaskSpec(arguments.dataset, prior, "authors", arguments.seed, **options) for prior in priors]
        accuracies: dict[float, list[float]] = {fraction: [] for fraction in fractions}
        for spec in (TrialSpec(task, "confdiff-combined", arguments.epochs) for task in tasks):
            task = make_task(spec.task)
            for fraction in fractions:
                accuracies[fraction].append(trial(spec, task, fraction))
        means = (f"{fraction:g}: {mean(values):.4f}" for fraction, values in accuracies.items())
        print(f"{condition:20s}", *means, flush=True)


if __name__ == "__main__":
    main()
