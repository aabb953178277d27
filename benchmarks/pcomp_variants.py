"""Why our Pcomp-ReLU and -ABS differ from the printed ones: other ways to carry out the same experiment.

Ordered pairs are scored together (one pass) or apart (two, as the authors' program does for ConfDiff); (-, +) pairs are
reversed or discarded. Otherwise as `confdiff reproduce table2`, whose trials are the ones of one pass and reversed
pairs: protocol `authors`, 200 epochs, seeds 0, 1, ... Needs the data sets (CONFDIFF_DATA).
"""

import argparse
from dataclasses import replace
from statistics import mean, stdev

import torch
from torch import nn

from confdiff.experiments.paper import printed_numbers
from confdiff.experiments.trial import AVERAGED
from confdiff.metrics import accuracy
from confdiff.models import build_model
from confdiff.pairs import STRATEGIES, order_by_labels
from confdiff.tasks import Task, TaskSpec, make_task
from confdiff.training import predict_scores, train

EPOCHS = 200


def trial(task: Task, method: str, strategy: str, passes: int) -> float:
    """The accuracy of one trial, as the tables have it."""
    seed = task.spec.seed
    model = build_model(task.spec.network, task.test_items.shape[1], seed=seed)

    def evaluate(model: nn.Module) -> dict[str, float]:
        return {"accuracy": accuracy(predict_scores(model, task.test_items), task.test_labels)}

    history = train(
        model,
        order_by_labels(task.pairs, strategy, seed=seed),
        method,
        prior=task.prior,
        recipe=replace(task.spec.learning(EPOCHS), forward_passes=passes),
        evaluate=evaluate,
        evaluate_at=range(EPOCHS - AVERAGED + 1, EPOCHS + 1),
    )
    return mean(record["accuracy"] for record in history[-AVERAGED:])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="optdigits")
    parser.add_argument("--methods", default="pcomp-relu,pcomp-abs")
    parser.add_argument("--priors", default=".2,.5,.8")
    parser.add_argument("--trials", type=int, default=3)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    printed = {(p.dataset, p.prior, p.method): p for p in printed_numbers() if p.metric == "accuracy"}
    for dataset in chosen.datasets.split(","):
        for prior in map(float, chosen.priors.split(",")):
            tasks = [make_task(TaskSpec(dataset, prior, "authors", seed)) for seed in range(chosen.trials)]
            for method in chosen.methods.split(","):
                paper = printed[dataset, prior, method]
                print(f"{dataset}, {prior:g}, {method}: printed {paper.mean:.3f} +- {paper.std:.3f}", flush=True)
                for passes, strategy in ((passes, strategy) for passes in (1, 2) for strategy in STRATEGIES):
                    found = [trial(task, method, strategy, passes) for task in tasks]
                    spread = f" +- {stdev(found):.3f}" if len(found) > 1 else ""
                    print(f"    passes {passes}, {strategy:8s}{mean(found):.3f}{spread} ({len(found)})", flush=True)


if __name__ == "__main__":
    main()
