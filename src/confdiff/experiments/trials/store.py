"""The store of finished trials: first one small file for each, later one line each in a file per data set."""

import json
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from confdiff.experiments.trials.record import Record, record_from_json
from confdiff.io.atomic import atomic_file
from confdiff.io.damage import DamagedFile, reporting_damage
from confdiff.io.documents import check_plain_name, inside, open_regular, parse_document
from confdiff.io.outputs import check_outside_models, check_writable

_Line = tuple[str, Record]
"""A line of a result file as it is, and the record in it."""


@dataclass(frozen=True)
class Unreadable:
    """A file, or a line of a file, that holds no trial that this version of confdiff can read.

    Attributes
    ----------
    path : Path
        The file.
    line : int or None
        The number of the line, from 1; None for a whole file.
    reason : str
        What is wrong with it.
    text : str
        The line as it is, without its end; empty for a whole file.
    """

    path: Path
    line: int | None
    reason: str
    text: str = ""

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}, line {self.line},"
        return f"{place} is damaged or not the record of a trial: {self.reason}"


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
        self.trials = inside(folder, "trials")

    def make_room(self) -> None:
        """Make the folder and check that it can be written, before hours are spent on a trial."""
        check_outside_models(self.trials)
        check_writable(self.trials / "trial.json")
        self.trials.mkdir(parents=True, exist_ok=True)

    def save(self, record: Record) -> None:
        """Save a finished trial."""
        with atomic_file(inside(self.trials, f"{record.key}.json")) as temporary:
            temporary.write_text(json.dumps(record.to_json(), separators=(",", ":")) + "\n")

    def finished(self) -> list[Path]:
        """Return the files of trials that were not moved yet."""
        return _complete_files(self.trials, "*.json")

    def keys(self) -> set[str]:
        """Return the keys of all trials that can be read."""
        return {record.key for record in self.records()}

    def records(self) -> list[Record]:
        """Return all trials that can be read, sorted by data set, protocol, method, prior and seed."""
        return [record for _, record in self._lines()]

    def unreadable(self) -> list[Unreadable]:
        """Return the files, and the lines of files, that are damaged or not the record of a trial."""
        return [entry for path in (*self.finished(), *self._packed()) for entry in _read(path)[1]]

    def compact(self) -> list[Path]:
        """Move trials from their single files to the file of their data set, and return the changed files.

        Files that cannot be read stay where they are, and so do lines that cannot be read.
        """
        self.trials.mkdir(parents=True, exist_ok=True)
        with FileLock(self.trials / ".lock"):
            single = {path: lines for path, (lines, unreadable) in self._uncompacted().items() if not unreadable}
            datasets = {record.dataset for lines in single.values() for _, record in lines}
            lines = self._lines()
            unreadable = {dataset: _read(self._file_of(dataset))[1] for dataset in sorted(datasets)}
            packed = [name for name, entries in unreadable.items() if all(entry.line for entry in entries)]
            for dataset in packed:
                texts = [line for line, record in lines if record.dataset == dataset]
                texts += [entry.text for entry in unreadable[dataset]]
                with atomic_file(self._file_of(dataset)) as temporary:
                    temporary.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
            for path, lines in single.items():
                if lines and all(record.dataset in packed for _, record in lines):
                    path.unlink(missing_ok=True)
        return [self._file_of(dataset) for dataset in packed]

    def _file_of(self, dataset: str) -> Path:
        """Return the packed file of a data set; its name must not lead out of the folder."""
        return self.folder / check_plain_name("data set", f"{dataset}.jsonl")

    def _lines(self) -> list[_Line]:
        """Return each stored trial once, with its line in the file, sorted."""
        by_key = {record.key: (line, record) for lines, _ in self._uncompacted().values() for line, record in lines}
        by_key |= {record.key: (line, record) for path in self._packed() for line, record in _read(path)[0]}
        return sorted(by_key.values(), key=_position)

    def _uncompacted(self) -> dict[Path, tuple[list[_Line], list[Unreadable]]]:
        """Return the contents of each file in ``trials/``; files that are being moved are empty."""
        return {path: _read(path) for path in self.finished()}

    def _packed(self) -> list[Path]:
        return _complete_files(self.folder, "*.jsonl")


def _complete_files(folder: Path, pattern: str) -> list[Path]:
    """List files, without those that a killed process left half-written: their names begin with a dot."""
    return sorted(path for path in folder.glob(pattern) if not path.name.startswith("."))


def _read(path: Path) -> tuple[list[_Line], list[Unreadable]]:
    """Return the trials of a file, and what in it is not a trial; a file that was moved meanwhile is empty."""
    try:
        with open_regular(inside(path.parent, path.name)) as file:
            text = file.read().decode("utf-8")
    except FileNotFoundError:
        return [], []
    except (OSError, ValueError) as error:  # not text, or a link that leaves the folder
        return [], [Unreadable(path, None, str(error))]
    lines: list[_Line] = []
    unreadable: list[Unreadable] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            with reporting_damage(path, ""):
                lines.append((line, record_from_json(parse_document(line))))
        except DamagedFile as error:
            unreadable.append(Unreadable(path, number, error.reason, line))
    return lines, unreadable


def _position(line: _Line) -> tuple[object, ...]:
    record = line[1]
    return tuple(getattr(record, name) for name in ("dataset", "protocol", "method", "prior", "seed", "epochs", "key"))
