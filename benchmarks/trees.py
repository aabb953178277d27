"""Compare gradient-boosted trees learned from differences with the same trees learned from soft labels.

Both see the same items: ProjectedClassifier their differences in pairs, the reference the posteriors of every item, as
a positive of weight r and a negative of weight 1 - r. The data sets must be in CONFDIFF_DATA or in the cache.
"""

import argparse
import time
from statistics import mean, stdev
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from confdiff import ProjectedClassifier
from confdiff.pairs.sparse import require_dense
from confdiff.tasks import Task, TaskSpec, make_task


def soft_labels(trees: Any, task: Task) -> Any:
    """Return the trees, fitted to the posteriors of the items of all pairs."""
    rows = np.concatenate([task.pairs.left, task.pairs.right])
    assert task.pairs.posteriors is not None
    r = task.pairs.posteriors.numpy()[rows]
    items = require_dense(task.pairs.items, "this benchmark").numpy()[rows]
    weight = np.concatenate([r, 1 - r])
    positive = weight > 1e-9
    classes = np.repeat([1, 0], len(rows))
    return trees.fit(np.concatenate([items, items])[positive], classes[positive], sample_weight=weight[positive])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--datasets", default="pendigits,letter")
    parser.add_argument("--priors", default="0.2,0.5")
    parser.add_argument("--trials", type=int, default=5)
    arguments = parser.parse_args()
    for dataset in arguments.datasets.split(","):
        for prior in map(float, arguments.priors.split(",")):
            rows = []
            for seed in range(arguments.trials):
                task = make_task(TaskSpec(dataset, prior, "authors", seed))
                truth = task.test_labels.numpy() > 0
                trees = HistGradientBoostingClassifier(random_state=0)
                start = time.perf_counter()
                model = ProjectedClassifier(trees).fit(task.pairs)
                seconds = time.perf_counter() - start
                reference = soft_labels(trees, task)
                items = task.test_items.numpy()
                ours_right = float(np.mean((model.predict(items) > 0) == truth))
                soft_right = float(np.mean((reference.predict(items) > 0) == truth))
                rows.append((ours_right, soft_right, model.n_iter_, seconds))
            ours, soft, rounds, seconds_ = zip(*rows, strict=True)
            spread = f" +- {stdev(ours):.4f}" if len(ours) > 1 else ""
            print(
                f"{dataset} at {prior:g}: differences {mean(ours):.4f}{spread}, soft labels {mean(soft):.4f}, "
                f"difference {mean(ours) - mean(soft):+.4f} ({len(ours)} trials, {mean(rounds):.1f} rounds, "
                f"{mean(seconds_):.1f} s)"
            )


if __name__ == "__main__":
    main()
