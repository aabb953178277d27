"""The store of finished trials: first one small file for each, later one line each in a file per data set."""

import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from filelock import FileLock

from confdiff.experiments.trials.record import Record, record_from_json
from confdiff.io.atomic import atomic_file
from confdiff.io.outputs import check_outside_models, check_writable

_Line = tuple[str, Record]
"""A line of a result file as it is, and the record in it."""


class Store:
    """A folder of results, which several commands may use at once.

    ``trials/KEY.json`` is a finished trial, written whole or not at all. ``DATASET.jsonl`` has the trials that
    :meth:`compact` moved, one line each. Lookups read ``trials/`` first: a trial that another command moves in the
    meantime is then found in its new place.

    Parameters
    ----------
    folder : Path
        The folder; it is made when the first trial is saved.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise NotADirectoryError(f"results are kept in a folder; {folder} is a file.")
        self.folder = folder
        self.trials = folder / "trials"

    def make_room(self) -> None:
        """Make the folder and check that it can be written, before hours are spent on a trial."""
        check_outside_models(self.trials)
        check_writable(self.trials / "trial.json")
        self.trials.mkdir(parents=True, exist_ok=True)

    def save(self, record: Record) -> None:
        """Save a finished trial."""
        with atomic_file(self.trials / f"{record.key}.json") as temporary:
            temporary.write_text(json.dumps(record.to_json(), separators=(",", ":")) + "\n")

    def finished(self) -> list[Path]:
        """Return the files of trials that were not moved yet."""
        return _complete_files(self.trials, "*.json")

    def keys(self) -> set[str]:
        """Return the keys of all trials."""
        finished = {path.stem for path in self.finished()}
        return finished | {record.key for _, record in self._compacted()}

    def records(self) -> list[Record]:
        """Return all trials, sorted by data set, protocol, method, prior and seed."""
        return [record for _, record in self._lines()]

    def compact(self) -> list[Path]:
        """Move trials from their single files to the file of their data set, and return the changed files."""
        self.trials.mkdir(parents=True, exist_ok=True)
        with FileLock(self.trials / ".lock"):
            moved = self._uncompacted()
            datasets = {record.dataset for lines in moved.values() for _, record in lines}
            lines = self._lines()
            files = [self.folder / f"{dataset}.jsonl" for dataset in sorted(datasets)]
            for file in files:
                with atomic_file(file) as temporary:
                    temporary.write_text("".join(f"{line}\n" for line, record in lines if record.dataset == file.stem))
            for path in moved:
                path.unlink()
        return files

    def _lines(self) -> list[_Line]:
        """Return each stored trial once, with its line in the file, sorted."""
        by_key = {record.key: (line, record) for lines in self._uncompacted().values() for line, record in lines}
        by_key |= {record.key: (line, record) for line, record in self._compacted()}
        return sorted(by_key.values(), key=_position)

    def _uncompacted(self) -> dict[Path, list[_Line]]:
        """Return the contents of each file in ``trials/``, except for files that are being moved."""
        contents = {}
        for path in self.finished():
            with suppress(FileNotFoundError):
                contents[path] = list(_read(path))
        return contents

    def _compacted(self) -> Iterator[_Line]:
        for path in _complete_files(self.folder, "*.jsonl"):
            yield from _read(path)


def _complete_files(folder: Path, pattern: str) -> list[Path]:
    """List files, without those that a killed process left half-written: their names begin with a dot."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _read(path: Path) -> Iterator[_Line]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} holds no records of trials: {error}.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            record = record_from_json(json.loads(line))
        except (ValueError, TypeError) as error:
            raise ValueError(f"{path}, line {number}, is not the record of a trial: {error}.") from error
        yield line, record


def _position(line: _Line) -> tuple[object, ...]:
    record = line[1]
    return tuple(getattr(record, name) for name in ("dataset", "protocol", "method", "prior", "seed", "epochs", "key"))
