"""Compare the defaults, ConfDiffAuto and ConfDiffClassifier, with the stored trials of Table 2 on the same tasks.

The stored trials are those of difference regression with the authors' network and 200 epochs. All are given the prior.
The data sets must be in CONFDIFF_DATA or in the cache.
"""

import argparse
import time
from pathlib import Path
from statistics import mean

import numpy as np

from confdiff import ConfDiffAuto, ConfDiffClassifier
from confdiff.experiments.trials.record import TrialRecord
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import Task, TaskSpec, make_task

METHOD = "confdiff-regression"


def main() -> None:
    """Print one line per data set and prior."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="optdigits,usps,pendigits,letter")
    parser.add_argument("--priors", default="0.5")
    parser.add_argument("--seeds", default="1,2")
    parser.add_argument("--results", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    stored = stored_accuracies(arguments.results)
    for dataset in arguments.datasets.split(","):
        for prior in map(float, arguments.priors.split(",")):
            specs = [TaskSpec(dataset, prior, "authors", int(seed)) for seed in arguments.seeds.split(",")]
            rows = [(*one_trial(make_task(spec)), stored[TrialSpec(spec, METHOD)]) for spec in specs]
            chosen = ", ".join(str(row[0]) for row in rows)
            auto, seconds, network, table = (mean(column) for column in list(zip(*rows, strict=True))[1:])
            print(
                f"{dataset} at {prior:g}: Table 2 {table:.4f}, auto {auto - table:+.4f} ({chosen}; {seconds:.0f} s), "
                f"network {network - table:+.4f} ({len(rows)} trials)",
                flush=True,
            )


def stored_accuracies(folder: Path) -> dict[TrialSpec, float]:
    """Return the accuracies of the stored trials."""
    records = [record for record in Store(folder).records() if isinstance(record, TrialRecord)]
    return {record.spec: record.accuracy for record in records}


def one_trial(task: Task) -> tuple[str, float, float, float]:
    """Return the chosen candidate, the accuracy of the choice, its processor time, and the accuracy of the network."""
    prior, seed = task.spec.prior, task.spec.seed
    start = time.process_time()
    auto = ConfDiffAuto(prior=prior, random_state=seed).fit(task.pairs)
    seconds = time.process_time() - start
    network = ConfDiffClassifier(prior=prior, random_state=seed).fit(task.pairs)
    accuracies = [accuracy(model, task) for model in (auto, network)]
    return auto.selection_.chosen.candidate, accuracies[0], seconds, accuracies[1]


def accuracy(model: ConfDiffAuto | ConfDiffClassifier, task: Task) -> float:
    """Return the accuracy on the test set."""
    predicted = model.predict(task.test_items.numpy()) > 0
    return float(np.mean(predicted == (task.test_labels.numpy() > 0)))


if __name__ == "__main__":
    main()
