"""Running trials: those that are missing, over worker processes of one thread each."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from confdiff.experiments.spec import TrialSpec
from confdiff.experiments.store import Store
from confdiff.experiments.trial import run_trial
from confdiff.randomness import one_thread
from confdiff.tasks import TaskSpec, make_task

Failure = tuple[TrialSpec, str]
Shown = Callable[[str, int, int], None]
"""Told what is being done, how much of it is done, and how much there is."""

_OF_THE_TEACHER = ("dataset", "protocol", "seed", "model", "folds", "calibrated", "incomplete")


def run_trials(
    specs: Sequence[TrialSpec],
    store: Store,
    *,
    jobs: int = 1,
    folder: Path | None = None,
    shown: Shown = lambda what, done, total: None,
) -> list[Failure]:
    """Run the trials that the store does not have. Each is kept as soon as it is done, so that a stop loses little.

    Returns: the trials that failed, and why. Nothing is kept of them.
    """
    done = store.keys()
    missing = [spec for spec in dict.fromkeys(specs) if spec.key not in done]
    shown("trials", len(specs) - len(missing), len(specs))
    teachers = list(dict.fromkeys(_teacher_of(spec.task) for spec in missing))
    failures: list[Failure] = []
    for count, _ in enumerate(_map(_prepare, [(task, folder) for task in teachers], jobs), start=1):
        shown("teachers", count, len(teachers))
    with _watching(store, {spec.key for spec in missing}, len(specs), shown):
        for failure in _map(_run, [(spec, store.folder, folder) for spec in missing], jobs):
            failures += [failure] if failure is not None else []
    return failures


def _teacher_of(task: TaskSpec) -> TaskSpec:
    """A task with the same teacher, whatever the prior, the pairs and the noise."""
    kept = {field.name: getattr(task, field.name) for field in fields(task) if field.name in _OF_THE_TEACHER}
    return replace(TaskSpec(task.dataset, n_pairs=2), **kept)


def _prepare(task: TaskSpec, folder: Path | None) -> None:
    make_task(task, folder=folder)


def _run(spec: TrialSpec, results: Path, folder: Path | None) -> Failure | None:
    try:
        with one_thread():
            Store(results).save(run_trial(spec, folder=folder))
    except (ValueError, ArithmeticError, RuntimeError) as error:
        return spec, f"{type(error).__name__}: {error}"
    return None


def _map(function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]], jobs: int) -> Iterator[Any]:
    """The results as they come; in this process for one job, else in worker processes."""
    if jobs == 1:
        yield from (function(*each) for each in arguments)
        return
    from joblib import Parallel, delayed, parallel_config

    with parallel_config(backend="loky", inner_max_num_threads=1):
        work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="2*n_jobs")
        yield from work(delayed(function)(*each) for each in arguments)


@contextmanager
def _watching(store: Store, keys: set[str], total: int, shown: Shown) -> Iterator[None]:
    """Show every second how many of the trials are there."""
    stop = threading.Event()

    def watch() -> None:
        while not stop.wait(1.0):
            there = {path.stem for path in store.trials.glob("*.json")} & keys
            shown("trials", total - len(keys) + len(there), total)

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
