"""Where finished trials are kept: a small file each as they come, later one line each in a file for each data set."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from filelock import FileLock

from confdiff.experiments.trials.run import Record
from confdiff.io.atomic import atomic_file
from confdiff.methods import METHODS
from confdiff.validation import check_choice, check_number, check_prior


class Store:
    """A folder of results, which several commands may use at once.

    trials/KEY.json: a finished trial, written whole or not at all.
    DATASET.jsonl: what :meth:`compact` makes of them, a line each.

    Who looks for trials looks into trials/ first: one that another command moves meanwhile is then found where it goes.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"results are kept in a folder; {folder} is a file.")
        self.folder = folder
        self.trials = folder / "trials"

    def make_room(self) -> None:
        """Make the folder, so that one that cannot be written is known before hours are spent on a trial."""
        try:
            self.trials.mkdir(parents=True, exist_ok=True)
            TemporaryFile(dir=self.trials).close()
        except OSError as error:
            raise OSError(
                f"results cannot be kept in {self.folder}: {error}. Choose another with --results."
            ) from error

    def save(self, record: Record) -> None:
        """Keep a finished trial."""
        with atomic_file(self.trials / f"{record['key']}.json") as temporary:
            temporary.write_text(_line(record))

    def finished(self) -> list[Path]:
        """The files of finished trials."""
        return _whole(self.trials, "*.json")

    def keys(self) -> set[str]:
        """The keys of all trials that are here."""
        finished = {path.stem for path in self.finished()}
        return finished | {record["key"] for record in self._compacted()}

    def records(self) -> list[Record]:
        """All trials, by data set, protocol, method, prior and seed."""
        found = {record["key"]: record for records in self._own().values() for record in records}
        found |= {record["key"]: record for record in self._compacted()}
        return sorted(found.values(), key=_place)

    def compact(self) -> list[Path]:
        """Move the trials that came in files of their own to the file of their data set. Returns: the files changed."""
        self.trials.mkdir(parents=True, exist_ok=True)
        with FileLock(self.trials / ".lock"):
            moved = self._own()
            changed = {record["dataset"] for records in moved.values() for record in records}
            records = self.records()
            files = [self.folder / f"{dataset}.jsonl" for dataset in sorted(changed)]
            for file in files:
                with atomic_file(file) as temporary:
                    temporary.write_text("".join(_line(r) for r in records if r["dataset"] == file.stem))
            for path in moved:
                path.unlink()
        return files

    def _own(self) -> dict[Path, list[Record]]:
        """File -> what it holds, of the trials that have a file of their own and are not moved this very moment."""
        found = {}
        for path in self.finished():
            with suppress(FileNotFoundError):
                found[path] = list(_read(path))
        return found

    def _compacted(self) -> Iterator[Record]:
        for path in _whole(self.folder, "*.jsonl"):
            yield from _read(path)


def _whole(folder: Path, pattern: str) -> list[Path]:
    """Files, but not what a process that was killed left half-written: their names begin with a dot."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _read(path: Path) -> Iterable[Record]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} holds no records of trials: {error}.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = _checked(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {number}, is not the record of a trial: {error}.") from error
        yield record


def _checked(record: Any) -> Record:
    """A record with what reports take from it."""
    _place(record)
    if "ndcg@10" not in record:
        check_choice("method", record["method"], METHODS)
        check_prior(record["prior"])
        for name in ("accuracy", "seconds", "teacher_accuracy"):
            check_number(name, record[name])
        if not record["curve"] or not record["network"]:
            raise ValueError("its curve is empty, or its network has no name")
    return dict(record)


def _line(record: Record) -> str:
    return json.dumps(record, separators=(",", ":")) + "\n"


def _place(record: Record) -> tuple[object, ...]:
    return tuple(record[name] for name in ("dataset", "protocol", "method", "prior", "seed", "epochs", "key"))
