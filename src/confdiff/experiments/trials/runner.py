"""Run the trials that a store does not have yet, by an engine."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from confdiff.engines import find_engine
from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec, make_task, why_not_made
from confdiff.threads import one_thread


class Spec(Protocol):
    """The interface of a specification: hashable, with a key."""

    @property
    def key(self) -> str:
        """A name, different for every trial."""


S = TypeVar("S", bound=Spec)
Progress = Callable[[str, int, int], None]
"""Called with the kind of work, the number of items done, and the total."""

_TEACHER_FIELDS = ("dataset", "protocol", "seed", "model", "folds", "calibrated", "incomplete")


def _no_progress(kind: str, done: int, total: int) -> None:
    """Report nothing."""


def run_trials(
    specs: Sequence[TrialSpec],
    store: Store,
    *,
    jobs: int = 1,
    engine: str | None = None,
    folder: Path | None = None,
    progress: Progress = _no_progress,
) -> list[tuple[TrialSpec, str]]:
    """Train the teachers of the missing trials, then run the trials themselves.

    Trials for which the data set is missing or has too few items fail first, before any teacher is trained.

    Parameters
    ----------
    specs, store, jobs, engine, folder, progress
        As in :func:`run_missing`. Progress comes in two kinds, "teachers" and "trials".

    Returns
    -------
    list of (TrialSpec, str)
        The trials that failed, with the reasons.
    """
    find_engine(engine, jobs)  # an unknown name is refused before data sets are read
    missing = _missing(specs, store)
    reasons = why_not_made(dict.fromkeys(spec.task for spec in missing), folder=folder)
    teachers = list(dict.fromkeys(_teacher_of(spec.task) for spec in missing if spec.task not in reasons))
    _train_teachers(teachers, jobs=jobs, engine=engine, folder=folder, progress=progress)
    feasible = [spec for spec in specs if spec.task not in reasons]
    failures = [(spec, reasons[spec.task]) for spec in missing if spec.task in reasons]
    return failures + run_missing(
        feasible, run_trial, store, jobs=jobs, engine=engine, folder=folder, progress=progress
    )


def run_missing(
    specs: Sequence[S],
    run: Callable[..., Any],
    store: Store,
    *,
    jobs: int = 1,
    engine: str | None = None,
    folder: Path | None = None,
    progress: Progress = _no_progress,
) -> list[tuple[S, str]]:
    """Run the trials that the store does not have, and save each record as soon as it is finished.

    Parameters
    ----------
    specs : sequence
        Specifications with a ``key``; repeated ones count once.
    run : callable
        ``run(spec, folder=folder)`` returns a record; worker processes must be able to import it.
    store : Store
        Store of the records.
    jobs : int
        Number of trials at a time.
    engine : str, optional
        A name in :data:`confdiff.engines.ENGINES`; by default the number of jobs decides.
    folder : Path, optional
        Folder to search first for data sets.
    progress : callable, optional
        ``progress(kind, done, total)``, called every second.

    Returns
    -------
    list of (spec, str)
        The trials that failed, with the reasons. They are not stored.
    """
    missing = _missing(specs, store)
    total = len(dict.fromkeys(specs))
    work = [(run, spec, store.folder, folder) for spec in missing]
    with _watching(store, {spec.key for spec in missing}, total, progress):
        outcomes = list(find_engine(engine, jobs)(_run, work, jobs))
    return [failure for failure in outcomes if failure is not None]


def _missing(specs: Sequence[S], store: Store) -> list[S]:
    finished = store.keys()
    return [spec for spec in dict.fromkeys(specs) if spec.key not in finished]


def _train_teachers(
    tasks: Sequence[TaskSpec], *, jobs: int, engine: str | None, folder: Path | None, progress: Progress
) -> None:
    """Fill the cache of teachers, so that trials that run at the same time do not train the same one."""
    if tasks:
        progress("teachers", 0, len(tasks))
    results = find_engine(engine, jobs)(_prepare, [(task, folder) for task in tasks], jobs)
    for count, _ in enumerate(results, start=1):
        progress("teachers", count, len(tasks))


def _teacher_of(task: TaskSpec) -> TaskSpec:
    """Return the representative of all tasks with the same teacher."""
    values = {field.name: getattr(task, field.name) for field in fields(task) if field.name in _TEACHER_FIELDS}
    return replace(TaskSpec(task.dataset, n_pairs=2), **values)


def _prepare(task: TaskSpec, folder: Path | None) -> None:
    make_task(task, folder=folder)


def _run(run: Callable[..., Any], spec: S, results: Path, folder: Path | None) -> tuple[S, str] | None:
    """Run one trial and save it; return the specification and the reason where it failed."""
    try:
        with one_thread():
            Store(results).save(run(spec, folder=folder))
    except (ValueError, ArithmeticError, RuntimeError) as error:
        return spec, f"{type(error).__name__}: {error}"
    return None


@contextmanager
def _watching(store: Store, keys: set[str], total: int, progress: Progress) -> Iterator[None]:
    """Report the number of finished trials every second, including those that another command has moved."""
    stop = threading.Event()
    finished: set[str] = set()

    def look() -> None:
        finished.update({path.stem for path in store.finished()} & keys)
        progress("trials", total - len(keys) + len(finished), total)

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
