"""Vary the Pcomp experiment to find out why our Pcomp-ReLU and -ABS differ from the printed ones.

Ordered pairs are scored together (one pass) or separately (two, as the authors' program does for ConfDiff); (-, +)
pairs are reversed or discarded. Everything else is as in `confdiff reproduce table2`, whose trials have one pass and
reversed pairs: protocol `authors`, 200 epochs, seeds 0, 1, ... Needs the data sets (CONFDIFF_DATA); 20 to 35 s per
trial.
"""

import argparse
from dataclasses import replace
from itertools import product
from statistics import mean, stdev

import torch

from confdiff.experiments.plans.printed import printed_numbers
from confdiff.experiments.trials.run import recipe_for, run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.pairs import STRATEGIES
from confdiff.tasks import TaskSpec


def trial(spec: TrialSpec, passes: int) -> float:
    """Return the accuracy of one trial with this number of forward passes per step."""
    accuracy: float = run_trial(spec, recipe=replace(recipe_for(spec), forward_passes=passes)).accuracy
    return accuracy


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="optdigits")
    parser.add_argument("--methods", default="pcomp-relu,pcomp-abs")
    parser.add_argument("--priors", default=".8")
    parser.add_argument("--trials", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    printed = {(p.dataset, p.prior, p.method): p for p in printed_numbers() if p.metric == "accuracy"}
    cells = product(options.datasets.split(","), map(float, options.priors.split(",")), options.methods.split(","))
    for dataset, prior, method in cells:
        paper = printed[dataset, prior, method]
        print(f"{dataset}, {prior:g}, {method}: printed {paper.mean:.3f} +- {paper.std:.3f}", flush=True)
        for passes, strategy in product((1, 2), STRATEGIES):
            tasks = (TaskSpec(dataset, prior, "authors", seed, pcomp=strategy) for seed in range(options.trials))
            accuracies = [trial(TrialSpec(task, method), passes) for task in tasks]
            spread = f" +- {stdev(accuracies):.3f}" if len(accuracies) > 1 else ""
            print(f"    passes {passes}, {strategy:8s}{mean(accuracies):.3f}{spread} ({len(accuracies)})", flush=True)


if __name__ == "__main__":
    main()
