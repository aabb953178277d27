"""Running trials: those that are missing, over worker processes of one thread each."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from confdiff.experiments.trials.run import Record, run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec, make_task, why_not_made
from confdiff.threads import one_thread


class Spec(Protocol):
    """What a run asks of a specification: to be hashable, and to have a key."""

    @property
    def key(self) -> str:
        """A name that says everything."""


S = TypeVar("S", bound=Spec)
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
    """Run the trials that the store does not have, when their teachers are there; see :func:`run_missing`.

    Those for which there are too few items are told apart first, before any teacher is trained.
    """
    missing = _missing(specs, store)
    reasons = why_not_made(dict.fromkeys(spec.task for spec in missing), folder=folder)
    sound = [spec for spec in specs if spec.task not in reasons]
    teachers = list(dict.fromkeys(_teacher_of(spec.task) for spec in missing if spec.task not in reasons))
    if teachers:
        shown("teachers", 0, len(teachers))
    for count, _ in enumerate(_map(_prepare, [(task, folder) for task in teachers], jobs), start=1):
        shown("teachers", count, len(teachers))
    failures = [(spec, reasons[spec.task]) for spec in missing if spec.task in reasons]
    return failures + run_missing(sound, run_trial, store, jobs=jobs, folder=folder, shown=shown)


def run_missing(
    specs: Sequence[S],
    run: Callable[..., Record],
    store: Store,
    *,
    jobs: int = 1,
    folder: Path | None = None,
    shown: Shown = lambda what, done, total: None,
) -> list[tuple[S, str]]:
    """Run what the store does not have. Each record is kept as soon as it is there, so that a stop loses little.

    run: (spec, folder=) -> record, a function that worker processes can import.

    Returns: the specifications that failed, and why. Nothing is kept of them.
    """
    total, missing = len(dict.fromkeys(specs)), _missing(specs, store)
    starter = os.getpid() if jobs > 1 else None
    with _watching(store, {spec.key for spec in missing}, total, shown):
        found = list(_map(_run, [(run, spec, store.folder, folder, starter) for spec in missing], jobs))
    return [failure for failure in found if failure is not None]


def _missing(specs: Sequence[S], store: Store) -> list[S]:
    done = store.keys()
    return [spec for spec in dict.fromkeys(specs) if spec.key not in done]


def _teacher_of(task: TaskSpec) -> TaskSpec:
    """A task with the same teacher, whatever the prior, the pairs and the noise."""
    kept = {field.name: getattr(task, field.name) for field in fields(task) if field.name in _OF_THE_TEACHER}
    return replace(TaskSpec(task.dataset, n_pairs=2), **kept)


def _prepare(task: TaskSpec, folder: Path | None) -> None:
    make_task(task, folder=folder)


def _run(
    run: Callable[..., Record], spec: S, results: Path, folder: Path | None, starter: int | None
) -> tuple[S, str] | None:
    """One trial, in a worker of the process ``starter``, or in this one. A worker that outlives it starts no other."""
    if starter is not None and os.getppid() != starter:
        return None
    try:
        with one_thread():
            Store(results).save(run(spec, folder=folder))
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
        work = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, pre_dispatch="n_jobs")
        yield from work(delayed(function)(*each) for each in arguments)


@contextmanager
def _watching(store: Store, keys: set[str], total: int, shown: Shown) -> Iterator[None]:
    """Show every second how many of the trials are there; one that another command has packed meanwhile stays so."""
    stop, there = threading.Event(), set[str]()

    def look() -> None:
        there.update({path.stem for path in store.finished()} & keys)
        shown("trials", total - len(keys) + len(there), total)

    def watch() -> None:
        while not stop.wait(1.0):
            look()

    look()
    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        look()
