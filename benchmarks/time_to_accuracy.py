"""Measure how soon our default method reaches the accuracy of ConfDiff-ABS after 200 epochs.

The plain loop is that of training.py, on the real pairs. Its epochs are timed in turns with our training, and its time
is 200 times its best epoch. Our model is trained again for each number of epochs, because its schedule ends with the
last one. The accuracy to reach is the mean of the trials of ConfDiff-ABS in results/ (protocol authors).
One thread. The data sets must be in CONFDIFF_DATA or in the cache.
"""

import argparse
import math
import time
from pathlib import Path
from statistics import mean

import torch

from confdiff.estimators import ConfDiffClassifier
from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.store import Store
from confdiff.metrics import accuracy
from confdiff.pairs.sparse import require_dense
from confdiff.tasks import Task, TaskSpec, make_task
from training import Data, Shape, plain_loop

PAPER_EPOCHS = 200


def aim_of(dataset: str, results: Path) -> tuple[float, int]:
    """Return the mean accuracy of ConfDiff-ABS at prior .5 after 200 epochs, and the number of trials."""
    cell = ("authors", dataset, 0.5, "confdiff-abs", PAPER_EPOCHS)
    accuracies = [
        record.accuracy
        for record in Store(results).records()
        if isinstance(record, TrialRecord)
        and (record.protocol, record.dataset, record.prior, record.method, record.epochs) == cell
        and not record.options
    ]
    if not accuracies:
        raise SystemExit(f"{results} has no trial of ConfDiff-ABS on {dataset}: run confdiff reproduce first.")
    return mean(accuracies), len(accuracies)


def plain_epoch(task: Task, repeats: int) -> float:
    """Return the seconds of the best epoch of the plain loop on these pairs, evaluation included."""
    items = require_dense(task.pairs.items, "this benchmark").float()
    data = Data(task.pairs.with_items(items), task.test_items.float(), task.test_labels)
    shape = Shape(task.spec.dataset, items.shape[1], len(task.pairs), len(data.test_items), 256, 0, 0)
    loop = plain_loop(data, shape, evaluates=True)
    best = math.inf
    for _ in range(repeats):
        start = time.perf_counter()
        next(loop)
        best = min(best, time.perf_counter() - start)
    return best


def ours(task: Task, epochs: int) -> tuple[float, float]:
    """Return the accuracy of our default method after some epochs, without the prior, and the seconds of fit."""
    model = ConfDiffClassifier(epochs=epochs, random_state=task.spec.seed)
    pairs = task.pairs.with_items(require_dense(task.pairs.items, "this benchmark").float())
    start = time.perf_counter()
    model.fit(pairs)
    seconds = time.perf_counter() - start
    return accuracy(model.decision_function(task.test_items.float().numpy()), task.test_labels), seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="pendigits,mnist,kmnist")
    parser.add_argument(
        "--epochs", default="2,3,5,7,10,20", help="numbers to try, in this order, until every seed reaches the accuracy"
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    for dataset in arguments.datasets.split(","):
        aim, trials = aim_of(dataset, arguments.results)
        tasks = [make_task(TaskSpec(dataset, 0.5, "authors", seed)) for seed in range(arguments.seeds)]
        epoch = plain_epoch(tasks[0], repeats=5)
        print(f"{dataset}, prior 0.5: ConfDiff-ABS has {aim:.4f} after {PAPER_EPOCHS} epochs ({trials} trials)")
        for epochs in map(int, arguments.epochs.split(",")):
            epoch = min(epoch, plain_epoch(tasks[0], repeats=2))
            outcomes = [ours(task, epochs) for task in tasks]
            accuracies = [outcome[0] for outcome in outcomes]
            seconds = mean(outcome[1] for outcome in outcomes)
            print(
                f"  ours, {epochs:2d} epochs: {mean(accuracies):.4f}, at least {min(accuracies):.4f}, "
                f"in {seconds:6.2f} s, {PAPER_EPOCHS * epoch / seconds:6.1f}x less than the plain loop"
            )
            if min(accuracies) >= aim:
                break
        print(f"  plain loop: {epoch:.3f} s per epoch, {PAPER_EPOCHS * epoch:.0f} s for {PAPER_EPOCHS}")


if __name__ == "__main__":
    main()
