"""Measure a grid of 20 trials with one and two workers, under Ray and in processes, without and with their start."""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path

from confdiff.engines import open_engine
from confdiff.engines.ray_cluster import ray_cluster
from confdiff.experiments.trials.runner import run_trials
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec
from confdiff.threads import prepare_environment

TRIALS = 20


def load_packages(number: int) -> None:
    """Import in a worker what trials import, and keep the worker busy so that the others get calls, too."""
    import_module("torch._dynamo")
    import_module("confdiff.experiments.trials.run")
    time.sleep(0.5)


@contextmanager
def started(engine: str, jobs: int) -> Iterator[float]:
    """Start the workers for a block, and yield the seconds until all of them have imported their packages."""
    with ExitStack() as stack:
        start = time.perf_counter()
        if engine == "ray":
            stack.enter_context(ray_cluster(jobs))
        workers = stack.enter_context(open_engine(engine, jobs=jobs))
        list(workers.run(load_packages, [(number,) for number in range(jobs)]))
        yield time.perf_counter() - start


def measure(engine: str, jobs: int, epochs: int, folder: Path) -> tuple[float, float]:
    """Return the seconds of the start and of the trials; their teachers are in the cache."""
    specs = [TrialSpec(TaskSpec("digits", seed=seed), "confdiff-abs", epochs) for seed in range(TRIALS)]
    with started(engine, jobs) as start:
        begin = time.perf_counter()
        failures = run_trials(specs, Store(folder / f"{engine}-{jobs}"), jobs=jobs, engine=engine)
        assert not failures, failures
        return start, time.perf_counter() - begin


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=200)
    epochs = parser.parse_args().epochs
    with tempfile.TemporaryDirectory() as name:
        os.environ["CONFDIFF_CACHE"] = f"{name}/cache"
        folder = Path(name)
        teachers = [TrialSpec(TaskSpec("digits", seed=seed), "confdiff-abs", 1) for seed in range(TRIALS)]
        run_trials(teachers, Store(folder / "teachers"), jobs=2)
        print(f"{TRIALS} trials of digits, {epochs} epochs; load {os.getloadavg()[0]:.1f}")
        print("engine       workers   start (s)   trials (s)   speed-up")
        for engine in ("ray", "processes"):
            one = 0.0
            for jobs in (1, 2):
                start, seconds = measure(engine, jobs, epochs, folder)
                one = one or seconds
                print(f"{engine:12s} {jobs:7d} {start:11.1f} {seconds:12.1f} {one / seconds:10.2f}", flush=True)
        print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    prepare_environment()
    main()
