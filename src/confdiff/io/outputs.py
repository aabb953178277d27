"""The rule for all outputs: what a command or a function may write, and what it must never replace.

- An output is never an input of the same run, by whatever name, and never lies in a folder that is read.
- It never lies in a model folder or among the results of trials.
- An existing file is replaced only with ``overwrite=True``; an existing folder only if it is a model folder that holds
  nothing else.
- Pages and figures bear the mark of confdiff. They are replaced by a new run; foreign files of the same name are not.
- The place is tested by writing to it before a long computation begins.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from confdiff.io.atomic import recover_folder
from confdiff.io.temporary import temporary_file

MARK = "written by confdiff"
"""Text in the header of every HTML page and figure, by which a later run recognises its own."""
MODEL_FILES = frozenset({"model.json", "weights.safetensors", "card.html", "background.safetensors", "trees.txt"})
"""The files of a model folder."""

_IGNORED = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})  # file managers write them
_MANIFEST = re.compile(rb'\s*\{\s*"format":\s*\d+,\s*"confdiff":')
_RECORD = re.compile(rb'\{"key":')
_HEAD = 4096  # bytes in which the mark of a page or figure is looked for, from the start and from the end
_PROBE = 16_384  # bytes to write where a result will be written later
_Paths = Iterable[str | os.PathLike[str]]


def check_new_file(path: Path, *, inputs: _Paths = (), overwrite: bool = False) -> None:
    """Check that a file may be written, and that it can be.

    Parameters
    ----------
    path : Path
        The file to write.
    inputs : iterable of paths
        Files and folders that the same run reads.
    overwrite : bool
        Whether an existing file may be replaced.

    Raises
    ------
    OSError
        The path breaks the rule of this module, or cannot be written.
    """
    check_new_files({"file": path}, inputs=inputs, overwrite=overwrite)


def check_new_files(files: Mapping[str, Path], *, inputs: _Paths = (), overwrite: bool = False) -> None:
    """Check that several files may be written, and that they can be; see :func:`check_new_file`."""
    inputs = list(inputs)
    for path in files.values():
        _check_place(path, inputs)
    for path in files.values():
        if _reached(path).exists() and not overwrite:
            raise FileExistsError(f"{path} already exists. Choose another name, or pass overwrite=True to replace it.")
    check_writable(*files.values())


def check_new_report(files: Mapping[str, Path], *, inputs: _Paths = (), overwrite: bool = False) -> None:
    """Check that the files of a report may be written, and that they can be.

    Parameters
    ----------
    files : mapping of str to Path
        Kind -> file. The first is a page or a figure; if it exists and bears the mark of confdiff, all files are of an
        earlier run and may be replaced.
    inputs, overwrite
        As in :func:`check_new_file`.
    """
    page = next(iter(files.values()))
    check_new_files(files, inputs=inputs, overwrite=overwrite or is_marked(page))


def check_new_folder(path: Path, *, inputs: _Paths = (), overwrite: bool = False) -> None:
    """Check that a model folder may be written, and that it can be.

    Parameters
    ----------
    path : Path
        The folder to write. It may be missing or empty, or a model folder with ``overwrite``.
    inputs, overwrite
        As in :func:`check_new_file`.

    Raises
    ------
    OSError
        The path breaks the rule of this module, or cannot be written.
    """
    _check_name(path)
    recover_folder(path)
    if _reached(path).exists() and not _reached(path).is_dir():
        raise NotADirectoryError(f"{path} is a file; a folder of that name cannot be written.")
    _check_not_read(path, list(inputs))
    check_outside_models(path)
    _check_outside_trials(path)
    if _reached(path).is_dir():
        _check_replaceable(_reached(path), overwrite=overwrite)
    check_writable(path)


def is_model_folder(folder: Path) -> bool:
    """Return whether a folder holds the manifest of a model."""
    return _begins_with(folder / "model.json", _MANIFEST)


def is_marked(path: Path) -> bool:
    """Return whether a file is a page or figure that confdiff wrote."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(max(0, path.stat().st_size - _HEAD))
            return MARK.encode() in head + b"\n" + file.read()
    except OSError:
        return False


def check_outside_models(path: Path) -> None:
    """Check that an output does not lie in a model folder."""
    for folder in _folders_of(path):
        if is_model_folder(folder):
            raise FileExistsError(f"{path} lies in the model folder {folder}, which holds nothing else: {_ELSEWHERE}")


def check_writable(*paths: Path) -> None:
    """Check that files or folders can be written: missing folders can be made, and the disk is not full."""
    by_folder = {Path(os.path.realpath(path)).parent: path for path in reversed(paths)}
    for folder, path in by_folder.items():
        _check_is_folder(path)
        with _reworded(path), _made_for_a_moment(folder), temporary_file(folder / path.name) as probe:
            probe.write_bytes(bytes(_PROBE))


def _check_is_folder(path: Path) -> None:
    """Check that the first one that exists of the folders above a path is a folder."""
    with _reworded(path):
        place = next(place for place in (*path.parents, Path.cwd()) if place.exists())
    if not place.is_dir():
        raise NotADirectoryError(f"{path} cannot be written: {place} is a file. {_ELSEWHERE.capitalize()}")


def _check_name(path: Path) -> None:
    """Check that the system can look a path up: that it is not too long, for example."""
    with _reworded(path), suppress(FileNotFoundError, NotADirectoryError):
        path.lstat()


def _check_place(path: Path, inputs: list[str | os.PathLike[str]]) -> None:
    _check_name(path)
    reached = _reached(path)
    if reached.is_dir():
        raise IsADirectoryError(f"{path} is a folder; a file of that name cannot be written.")
    if reached.exists() and (not reached.is_file() or _is_open_file(path)):
        raise OSError(f"{path} is a device or a pipe, not a file. Write to a file, and copy it from there.")
    _check_not_read(path, inputs)
    check_outside_models(path)
    _check_outside_trials(path)


def _is_open_file(path: Path) -> bool:
    """Return whether a path leads to an open file of a process, as /dev/stdout does."""
    place = path.absolute()
    for _ in range(40):
        if place.is_relative_to("/proc"):
            return True
        if not place.is_symlink():
            return False
        place = place.parent / place.readlink()
    return False


def _check_not_read(path: Path, inputs: list[str | os.PathLike[str]]) -> None:
    """Check that an output is none of the inputs and lies in none of them."""
    for source in map(Path, inputs):
        if _is_same(path, source):
            raise FileExistsError(f"{path} is an input of this run, which an output must not replace: {_ELSEWHERE}")
        if source.is_dir() and any(_is_same(folder, source) for folder in _folders_of(path)):
            raise FileExistsError(f"{path} lies in {source}, an input of this run: {_ELSEWHERE}")


_ELSEWHERE = "choose another place for the output."


def _check_outside_trials(path: Path) -> None:
    """Check that an output does not lie among the results of trials."""
    folder = Path(os.path.realpath(path)).parent
    stores = [folder, folder.parent] if folder.name == "trials" else [folder]
    if any(_holds_trials(store) for store in stores):
        raise FileExistsError(f"{path} lies in a folder of finished trials, {folder}: {_ELSEWHERE}")


def _folders_of(path: Path) -> Iterator[Path]:
    """Yield all folders that hold a path, also those behind symbolic links."""
    yield from path.absolute().parents
    yield from Path(os.path.realpath(path)).parents


def _holds_trials(folder: Path) -> bool:
    with suppress(OSError):
        files = [*folder.glob("*.jsonl"), *folder.glob("trials/*.json")]
        return any(_begins_with(file, _RECORD) for file in files)
    return False


def _check_replaceable(folder: Path, *, overwrite: bool) -> None:
    """Check that an existing folder is empty, or a model that may be replaced, and is not the current folder."""
    current = Path.cwd()
    if any(_is_same(folder, place) for place in (current, *current.parents)):
        raise FileExistsError(f"{folder} is the current folder or holds it: choose a new folder for the model.")
    names = sorted(entry.name for entry in folder.iterdir())
    if not names:
        return
    foreign = [name for name in names if name not in MODEL_FILES | _IGNORED]
    if not is_model_folder(folder):
        raise FileExistsError(f"{folder} already exists and is not a model folder of confdiff. Choose another name.")
    if foreign:
        raise FileExistsError(
            f"{folder} already exists and holds {foreign[0]!r}, which does not belong to a model. "
            "Choose another name, or move that file."
        )
    if not overwrite:
        raise FileExistsError(f"{folder} already exists. Choose another name, or pass overwrite=True to replace it.")


def _reached(path: Path) -> Path:
    """Return the path that a write reaches, for a path that does not exist.

    Missing folders are made before a file is written: ``new/../a.csv`` exists from then on, if ``a.csv`` does.
    """
    return path if path.exists() else Path(os.path.realpath(path))


def _is_same(path: Path, other: Path) -> bool:
    """Return whether two paths are one file or folder: by links, another spelling, or upper and lower case."""
    try:
        return _reached(path).samefile(_reached(other))
    except OSError:  # one of them does not exist
        return False


def _begins_with(path: Path, pattern: re.Pattern[bytes]) -> bool:
    try:
        with path.open("rb") as file:
            return pattern.match(file.read(_HEAD)) is not None
    except OSError:
        return False


@contextmanager
def _made_for_a_moment(folder: Path) -> Iterator[None]:
    """Make a folder and those above it where they are missing, and remove them after the block."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for place in missing:
            with suppress(OSError):  # another run has already written into it
                place.rmdir()


@contextmanager
def _reworded(path: Path) -> Iterator[None]:
    """Raise errors of the system with the path of the output instead of a temporary name."""
    try:
        yield
    except OSError as error:
        raise type(error)(f"{path} cannot be written: {error.strerror or error}. {_ADVICE}") from error


_ADVICE = "Choose another place, or make room and permission there."
