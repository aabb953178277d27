"""Score folders of Parquet files, several files at a time, by any engine."""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.engines import Engine, Fetch, LostCall, open_engine
from confdiff.engines.worker_files import FileSender, SentFiles
from confdiff.io.atomic import atomic_file
from confdiff.io.batches import count_rows
from confdiff.io.outputs import MODEL_FILES
from confdiff.tabular.model.model import load_model
from confdiff.tabular.model.parts import (
    ScoringRun,
    file_state,
    item_files,
    mark_complete,
    missing_parts,
    prepare_output,
)
from confdiff.tabular.model.scoring import predict_file, set_target_prior
from confdiff.threads import one_thread
from confdiff.validation import warn_user


@dataclass(frozen=True)
class FolderScores:
    """The result of :func:`predict_folder`.

    Attributes
    ----------
    n_items : int
        Number of items in all parts, those of earlier runs included.
    n_parts, n_earlier : int
        Number of files of items, and of those that an earlier run had scored.
    failures : dict
        File of items -> why it was not scored.
    """

    n_items: int
    n_parts: int
    n_earlier: int
    failures: dict[str, str] = field(default_factory=dict)


def predict_folder(
    model: Path,
    items: Path,
    output: Path,
    *,
    id: str | None = None,
    threshold: float | None = None,
    target_prior: float | None = None,
    engine: str | None = None,
    jobs: int | None = None,
    address: str | None = None,
    overwrite: bool = False,
    done: Callable[[int], None] | None = None,
) -> FolderScores:
    """Score all Parquet files below a folder; each becomes one file of the same name, with its rows in their order.

    A part is written whole or not at all. The same call again scores the parts that are missing. When all of them
    exist, a file ``_SUCCESS`` is written. There are no ranks, which would need all scores at once.

    Parameters
    ----------
    model : Path
        A model folder.
    items : Path
        A folder of Parquet files.
    output : Path
        The folder to write.
    id, threshold
        As in :func:`~confdiff.tabular.model.scoring.predict_file`.
    target_prior : float, optional
        The fraction of positives among these items, if it differs from training.
    engine, jobs, address
        Where the files are scored; see :func:`confdiff.engines.open_engine`. Workers on other machines read files that
        they see under the same path, and the others are sent to them; the scores come back and are written here.
    overwrite : bool
        Replace the parts of an earlier run.
    done : callable, optional
        Called with the number of items after each part.
    """
    files = item_files(items)
    rows = {name: count_rows(path) or 0 for name, path in files.items()}
    options = {"id": id, "threshold": threshold, "target_prior": target_prior}
    run = ScoringRun(
        model=hashlib.sha256((model / "model.json").read_bytes()).hexdigest(),
        options=options,
        parts={name: file_state(path) for name, path in files.items()},
    )
    opened = open_engine(engine, jobs=jobs, address=address)
    prepare_output(output, run, items=items, model=model, overwrite=overwrite)
    missing = [name for name in missing_parts(output, run) if rows[name]]
    count = sum(rows.values()) - sum(rows[name] for name in missing)
    n_earlier = len(files) - len(missing)
    failures: dict[str, str] = {}
    with opened if missing else open_engine("serial") as workers:
        scoring = _FolderScoring(workers, model, options, files, run.parts, output)
        for name, problem in scoring.outcomes(missing):
            if problem:
                failures[name] = problem
                continue
            count += rows[name]
            if done is not None:
                done(count)
    if not failures:
        mark_complete(output, count, len(files))
    return FolderScores(n_items=count, n_parts=len(files), n_earlier=n_earlier, failures=failures)


@dataclass(frozen=True)
class _Part:
    """A file of items for a worker.

    Attributes
    ----------
    name : str
        Its path in the folder of items.
    path : Path
        Where the caller has it.
    state : list of int
        Its size and time, by which a worker recognises the same file under the same path.
    contents : callable, optional
        Fetches its contents for workers that do not see it.
    """

    name: str
    path: Path
    state: list[int]
    contents: Fetch | None = None


@dataclass(frozen=True)
class _Scored:
    """The answer of a worker.

    Attributes
    ----------
    name : str
        The part.
    is_seen : bool
        Whether the worker had the file of items.
    problem : str
        Why it was not scored, or an empty text.
    table : bytes, optional
        The scores as a file, if the worker does not write it.
    warnings : tuple of str
        What the worker warned of.
    """

    name: str
    is_seen: bool = True
    problem: str = ""
    table: bytes | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class _FolderScoring:
    engine: Engine
    model: Path
    options: Mapping[str, Any]
    files: Mapping[str, Path]
    states: Mapping[str, list[int]]
    output: Path

    def outcomes(self, names: list[str]) -> Iterator[tuple[str, str]]:
        """Score parts, and yield the name of each with the reason if it failed."""
        sender = FileSender(self.engine)
        models = {f"model/{name}": self.model / name for name in MODEL_FILES if (self.model / name).exists()}
        sent = None if self.engine.shares_files else sender.send(models)
        unseen: list[str] = []
        for scored in self._scored(names, sent, with_contents=False):
            path = self.files[scored.name]
            if scored.is_seen:
                yield self._finished(scored)
            elif file_state(path) != self.states[scored.name]:
                yield scored.name, f"{path} has changed since the run began. Run the command again."
            else:
                unseen.append(scored.name)
        for scored in self._scored(unseen, sent, with_contents=True):
            yield self._finished(scored)

    def _scored(self, names: list[str], sent: SentFiles | None, *, with_contents: bool) -> Iterator[_Scored]:
        output = self.output if sent is None else None
        arguments = (
            (self._part(name, with_contents=with_contents), self.model, sent, dict(self.options), output)
            for name in names
        )
        for result in self.engine.run(_score, arguments):
            if isinstance(result, LostCall):
                part = result.arguments[0]
                yield _Scored(part.name, problem=f"{part.path}: {result.reason}")
            else:
                yield result

    def _part(self, name: str, *, with_contents: bool) -> _Part:
        path = self.files[name]
        contents = self.engine.send(np.frombuffer(path.read_bytes(), dtype=np.uint8)) if with_contents else None
        return _Part(name=name, path=path.absolute(), state=self.states[name], contents=contents)

    def _finished(self, scored: _Scored) -> tuple[str, str]:
        """Write a part that came back, repeat the warnings of its worker, and return its name and problem."""
        if scored.table is not None:
            with atomic_file(self.output / scored.name) as temporary:
                temporary.write_bytes(scored.table)
        for message in scored.warnings:
            warn_user(message)
        return scored.name, scored.problem


def _score(part: _Part, model: Path, sent: SentFiles | None, options: dict[str, Any], output: Path | None) -> _Scored:
    """Score a file in a worker, which keeps the model for its next files."""
    folder = model if sent is None or sent.is_sender else sent.unpack() / "model"
    with _items(part) as items:
        if items is None:
            return _Scored(part.name, is_seen=False)
        with warnings.catch_warnings(record=True) as caught, one_thread():
            warnings.simplefilter("always")
            table, problem = _attempt(items, part, folder, options, output)
        messages = tuple(f"{part.path}: {warning.message}" for warning in caught)
        return _Scored(part.name, problem=problem, table=table, warnings=messages)


def _attempt(
    items: Path, part: _Part, folder: Path, options: dict[str, Any], output: Path | None
) -> tuple[bytes | None, str]:
    """Score a file, and return its scores if they are not written here, and the reason if it failed."""
    try:
        scorer = _scorer(folder, options["target_prior"])
        settings = {"id": options["id"], "threshold": options["threshold"], "with_ranks": False, "overwrite": True}
        if output is not None:
            predict_file(scorer, items, output / part.name, **settings)
            return None, ""
        with tempfile.TemporaryDirectory() as place:
            scores = Path(place, "scores.parquet")
            predict_file(scorer, items, scores, **settings)
            return scores.read_bytes(), ""
    except (ValueError, ArithmeticError, OSError) as error:
        return None, str(error).replace(str(items), str(part.path))


@lru_cache(maxsize=1)
def _scorer(folder: Path, target_prior: float | None) -> Any:
    """Load the model of a folder once per worker."""
    scorer = load_model(folder)
    if target_prior is not None:
        set_target_prior(scorer, target_prior)
    return scorer


@contextmanager
def _items(part: _Part) -> Iterator[Path | None]:
    """Yield the file of items: under the path of the caller, or as it was sent; None if neither is possible."""
    if _is_same(part):
        yield part.path
    elif part.contents is None:
        yield None
    else:
        handle, name = tempfile.mkstemp(suffix=".parquet")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(part.contents().data)
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)


def _is_same(part: _Part) -> bool:
    try:
        return file_state(part.path) == part.state
    except OSError:
        return False
