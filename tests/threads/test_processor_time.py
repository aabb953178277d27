"""Small fits start no threads, so that nothing waits in busy loops."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import os, time
import numpy as np
import torch
from sklearn.ensemble import HistGradientBoostingClassifier
import confdiff

torch.set_num_threads(4)
rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 2, 40)).astype(np.float32)
c = np.tanh(X[:, 1, 0] - X[:, 0, 0])
trees = HistGradientBoostingClassifier(max_iter=2, max_leaf_nodes=4)
estimators = [
    (confdiff.ConfDiffClassifier(epochs=2, prior=0.5), (X, c)),
    (confdiff.PcompClassifier(epochs=2, prior=0.5), (X[c > 0],)),
    (confdiff.ProjectedClassifier(trees, prior=0.5, rounds=1, folds=2), (X, c)),
    (confdiff.ConfDiffLogisticRegression(prior=0.5), (X, c)),
]
torch.optim.Adam([torch.nn.Parameter(torch.zeros(1))])  # imports what any optimiser imports
import scipy.optimize
for estimator, data in estimators:
    before = len(os.listdir("/proc/self/task"))
    cpu, wall = time.process_time(), time.perf_counter()
    estimator.fit(*data).predict(X[:, 0])
    cores = (time.process_time() - cpu) / (time.perf_counter() - wall)
    started = len(os.listdir("/proc/self/task")) - before
    print(type(estimator).__name__, started, round(cores, 2), torch.get_num_threads())
"""


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="counts threads in /proc")
def test_small_fits_start_no_threads_and_use_one_core():
    environment = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in result.stdout.splitlines()]
    assert len(lines) == 4
    for name, started, cores, threads_after in lines:
        assert (name, int(started)) == (name, 0)
        assert float(cores) < 1.4, name
        assert int(threads_after) == 4, name
