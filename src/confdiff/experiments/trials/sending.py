"""Trials on workers that share no files: what is sent to them, and what comes back."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confdiff.datasets import portable_files
from confdiff.engines.engine import Engine
from confdiff.engines.worker_files import FileSender, SentFiles
from confdiff.io.atomic import atomic_file, cache_folder
from confdiff.tasks import TaskSpec, make_task, teacher_file

_DATASETS = "datasets"
_TEACHERS = "teachers"
Attempted = tuple[Any, str]
"""A record and an empty text, or None and the reason of a failure."""


@dataclass(frozen=True)
class TrialSender:
    """Sends the files of trials: data sets, and the grades of their teachers.

    Parameters
    ----------
    engine : Engine
        An open engine.
    folder : Path or None
        Folder to search first for data sets.
    """

    engine: Engine
    folder: Path | None
    _teachers: dict[TaskSpec, Path | None] = field(default_factory=dict)
    _sender: FileSender = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sender", FileSender(self.engine))

    def files_of(self, spec: Any, teacher: TaskSpec | None = None) -> SentFiles:
        """Send the data set of a trial or a task, and the grades of a teacher if they are in the cache."""
        files = portable_files(spec.dataset, folder=self.folder)
        paths = {f"{_DATASETS}/{name}": path for name, path in files.items()}
        grades = None if teacher is None else self.grades_of(teacher)
        if grades is not None and grades.exists():
            paths[f"{_TEACHERS}/{grades.name}"] = grades
        return self._sender.send(paths)

    def grades_of(self, teacher: TaskSpec) -> Path | None:
        """Return the file for the grades of a teacher in the cache of this machine; None if it has none."""
        if teacher not in self._teachers:
            self._teachers[teacher] = teacher_file(teacher, folder=self.folder)
        return self._teachers[teacher]

    def train_teachers(self, teachers: Sequence[TaskSpec]) -> Iterator[None]:
        """Train the teachers whose grades are not in the cache of this machine, and put the grades there.

        A teacher that is lost with its workers is left to the trials, which report it.
        """
        paths = {teacher: self.grades_of(teacher) for teacher in teachers}
        missing = {teacher: path for teacher, path in paths.items() if path is not None and not path.exists()}
        yield from [None] * (len(teachers) - len(missing))
        work = ((teacher, path.name, self.files_of(teacher), self.folder) for teacher, path in missing.items())
        for result in self.engine.run(_train_teacher, work):
            if isinstance(result, tuple):
                name, grades = result
                _cache(next(path for path in missing.values() if path.name == name), grades)
            yield None


def _cache(path: Path, grades: bytes) -> None:
    if not path.exists():
        with atomic_file(path) as temporary:
            temporary.write_bytes(grades)


def _train_teacher(task: TaskSpec, name: str, files: SentFiles, folder: Path | None) -> tuple[str, bytes]:
    """Train a teacher in a worker, and return its grades as the file of a cache."""
    datasets, cache = _use(files, folder)
    make_task(task, folder=datasets)
    return name, (cache / _TEACHERS / name).read_bytes()


def run_sent(
    attempt: Callable[..., Attempted],
    run: Callable[..., Any],
    spec: Any,
    files: SentFiles,
    folder: Path | None,
) -> tuple[Any, Attempted]:
    """Run a trial in a worker, and return its specification with the outcome."""
    datasets, _ = _use(files, folder)
    return spec, attempt(run, spec, datasets)


def _use(files: SentFiles, folder: Path | None) -> tuple[Path | None, Path]:
    """Return the folder of data sets and the cache for this worker, from now on: those of the sender in its process."""
    if files.is_sender:
        return folder, cache_folder()
    own = files.unpack()
    (own / _DATASETS).mkdir(exist_ok=True)
    os.environ["CONFDIFF_CACHE"] = str(own)
    os.environ.pop("CONFDIFF_DATA", None)
    return own / _DATASETS, own
