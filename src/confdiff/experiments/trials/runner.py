"""Run the trials that a store does not have yet, by an engine."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from confdiff.engines import Engine, LostCall, open_engine
from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.sending import Attempted, TrialSender, run_sent
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec, make_task, why_not_made
from confdiff.threads import one_thread


class Spec(Protocol):
    """The interface of a specification: hashable, with a key."""

    @property
    def key(self) -> str:
        """A name, different for every trial."""

    @property
    def dataset(self) -> str:
        """Name of the data set."""


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
    jobs: int | None = None,
    engine: str | None = None,
    address: str | None = None,
    folder: Path | None = None,
    progress: Progress = _no_progress,
) -> list[tuple[TrialSpec, str]]:
    """Train the teachers of the missing trials, then run the trials themselves.

    Trials for which the data set is missing or has too few items fail first, before any teacher is trained.

    Parameters
    ----------
    specs, store, jobs, engine, address, folder, progress
        As in :func:`run_missing`. Progress comes in two kinds, "teachers" and "trials".

    Returns
    -------
    list of (TrialSpec, str)
        The trials that failed, with the reasons.
    """
    chosen = open_engine(engine, jobs=jobs, address=address)  # an unknown name is refused before data sets are read
    missing = _missing(specs, store)
    reasons = why_not_made(dict.fromkeys(spec.task for spec in missing), folder=folder)
    teachers = list(dict.fromkeys(_teacher_of(spec.task) for spec in missing if spec.task not in reasons))
    feasible = [spec for spec in specs if spec.task not in reasons]
    failures = [(spec, reasons[spec.task]) for spec in missing if spec.task in reasons]
    with _unless_finished(chosen, teachers) as workers:
        _train_teachers(teachers, workers, folder=folder, progress=progress)
        return failures + _run_all(feasible, run_trial, store, workers, folder=folder, progress=progress)


def run_missing(
    specs: Sequence[S],
    run: Callable[..., Any],
    store: Store,
    *,
    jobs: int | None = None,
    engine: str | None = None,
    address: str | None = None,
    folder: Path | None = None,
    progress: Progress = _no_progress,
) -> list[tuple[S, str]]:
    """Run the trials that the store does not have, and save each record as soon as it is finished.

    Parameters
    ----------
    specs : sequence
        Specifications with a ``key`` and a ``dataset``; repeated ones count once.
    run : callable
        ``run(spec, folder=folder)`` returns a record; worker processes must be able to import it.
    store : Store
        Store of the records.
    jobs : int, optional
        Number of trials at a time.
    engine, address : str, optional
        The engine; see :func:`confdiff.engines.open_engine`. Workers that share no files with this process get the
        data set from here, and their records are saved here.
    folder : Path, optional
        Folder to search first for data sets.
    progress : callable, optional
        ``progress(kind, done, total)``, called every second.

    Returns
    -------
    list of (spec, str)
        The trials that failed, with the reasons. They are not stored.
    """
    chosen = open_engine(engine, jobs=jobs, address=address)
    with _unless_finished(chosen, _missing(specs, store)) as workers:
        return _run_all(specs, run, store, workers, folder=folder, progress=progress)


def _unless_finished(engine: AbstractContextManager[Engine], missing: Sequence[Any]) -> AbstractContextManager[Engine]:
    """Return the engine to open: not one that starts workers if nothing is missing."""
    return engine if missing else open_engine("serial")


def _run_all(
    specs: Sequence[S],
    run: Callable[..., Any],
    store: Store,
    engine: Engine,
    *,
    folder: Path | None,
    progress: Progress,
) -> list[tuple[S, str]]:
    missing = _missing(specs, store)
    total = len(dict.fromkeys(specs))
    run_on = _run_here if engine.shares_files else _run_elsewhere
    with _watching(store, {spec.key for spec in missing}, total, progress):
        return [failure for failure in run_on(missing, run, store, engine, folder) if failure is not None]


def _run_here(
    specs: Sequence[S], run: Callable[..., Any], store: Store, engine: Engine, folder: Path | None
) -> Iterator[tuple[S, str] | None]:
    """Yield the failures of workers that save their records themselves."""
    yield from engine.run(_run_and_save, [(run, spec, store.folder, folder) for spec in specs])


def _run_elsewhere(
    specs: Sequence[S], run: Callable[..., Any], store: Store, engine: Engine, folder: Path | None
) -> Iterator[tuple[S, str] | None]:
    """Yield the failures of workers on other machines, and save the records that they return."""
    sender = TrialSender(engine, folder)
    teachers = {spec: _teacher_of(spec.task) if isinstance(spec, TrialSpec) else None for spec in specs}
    work = ((_attempt, run, spec, sender.files_of(spec, teacher), folder) for spec, teacher in teachers.items())
    for result in engine.run(run_sent, work):
        if isinstance(result, LostCall):
            yield result.arguments[2], result.reason
            continue
        spec, (record, reason) = result
        if reason:
            yield spec, reason
        else:
            store.save(record)


def _missing(specs: Sequence[S], store: Store) -> list[S]:
    finished = store.keys()
    return [spec for spec in dict.fromkeys(specs) if spec.key not in finished]


def _train_teachers(tasks: Sequence[TaskSpec], engine: Engine, *, folder: Path | None, progress: Progress) -> None:
    """Fill the cache of teachers, so that trials that run at the same time do not train the same one."""
    if tasks:
        progress("teachers", 0, len(tasks))
    if engine.shares_files:
        results = engine.run(_prepare, [(task, folder) for task in tasks])
    else:
        results = TrialSender(engine, folder).train_teachers(tasks)
    for count, _ in enumerate(results, start=1):
        progress("teachers", count, len(tasks))


def _teacher_of(task: TaskSpec) -> TaskSpec:
    """Return the representative of all tasks with the same teacher."""
    values = {field.name: getattr(task, field.name) for field in fields(task) if field.name in _TEACHER_FIELDS}
    return replace(TaskSpec(task.dataset, n_pairs=2), **values)


def _prepare(task: TaskSpec, folder: Path | None) -> None:
    make_task(task, folder=folder)


def _run_and_save(run: Callable[..., Any], spec: S, results: Path, folder: Path | None) -> tuple[S, str] | None:
    """Run one trial and save it; return the specification and the reason where it failed."""
    record, reason = _attempt(run, spec, folder)
    if reason:
        return spec, reason
    Store(results).save(record)
    return None


def _attempt(run: Callable[..., Any], spec: Spec, folder: Path | None) -> Attempted:
    """Run one trial with one thread."""
    try:
        with one_thread():
            return run(spec, folder=folder), ""
    except (ValueError, ArithmeticError, RuntimeError) as error:
        return None, f"{type(error).__name__}: {error}"


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
