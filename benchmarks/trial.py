"""Compare a trial of the paper's tables, as `confdiff reproduce` runs it, with the same trial in the plain loop.

ConfDiff-ABS at prior .5 by the protocol `authors`, 200 epochs, on the real pairs, one thread. The plain loop is that of
training.py with the authors' network in torch's own layers, and tests after every epoch; ours tests 32 times, at the
epochs of the report. Half of the plain epochs come before our trial and half after it, so that a busy machine disturbs
both. The time is processor time. The data sets must be in CONFDIFF_DATA or in the cache.
"""

import argparse
from itertools import islice
from time import process_time

import torch
from torch import nn

from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.models import build_model
from confdiff.pairs.sparse import require_dense
from confdiff.tasks import Task, TaskSpec, make_task
from training import Data, Shape, plain_loop

EPOCHS = 200


def plain_network(task: Task) -> nn.Module:
    """Return the network of the authors' program with the same initial weights, run by torch layer after layer."""
    model = build_model("authors-mlp", task.pairs.items.shape[1], seed=task.spec.seed)
    normalise, enter, repeat, leave = model.children()
    return nn.Sequential(normalise, enter, nn.ReLU(), *(3 * [repeat, nn.ReLU()]), leave)


def measure(dataset: str) -> tuple[float, float]:
    """Return the seconds of our trial and of the plain one."""
    spec = TaskSpec(dataset, 0.5, "authors")
    task = make_task(spec)
    items = require_dense(task.pairs.items, "this benchmark").float()
    data = Data(task.pairs.with_items(items), task.test_items.float(), task.test_labels)
    size = spec.learning().batch_size
    shape = Shape(dataset, items.shape[1], len(task.pairs), len(data.test_items), size, round_seconds=0, aim=0)
    loop = plain_loop(data, shape, evaluates=True, model=plain_network(task))

    def half() -> float:
        start = process_time()
        for _ in islice(loop, EPOCHS // 2):
            pass
        return process_time() - start

    before = half()
    ours = run_trial(TrialSpec(spec, "confdiff-abs", EPOCHS)).processor_seconds
    assert ours is not None
    return ours, before + half()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="optdigits,usps,pendigits,letter")
    torch.set_num_threads(1)
    for dataset in parser.parse_args().datasets.split(","):
        ours, plain = measure(dataset)
        print(f"{dataset:10s} ours {ours:6.1f} s, plain loop {plain:6.1f} s: {plain / ours:.2f}x")


if __name__ == "__main__":
    main()
