"""Temporary files and folders next to an output, whose hidden names record the process that writes them.

The name is ``.NAME.HOST-PID-RANDOM.tmp``, so that a later run can remove what a killed process left behind, and nothing
that another process still writes.
"""

import hashlib
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

TEMPORARY = "tmp"
"""Ending of what is being written."""
REPLACED = "old"
"""Ending of the old version of a folder while it is being replaced."""
_LONGEST_NAME = 160  # bytes; file systems allow 255, and the rest of a temporary name needs up to 60
_LONGEST_SUFFIX = 16
_active: set[str] = set()  # paths that this process is writing


@contextmanager
def temporary_file(target: Path) -> Iterator[Path]:
    """Yield the path of a new empty file next to ``target``, with its suffix; the file is removed at the end."""
    remove_leftovers(target)
    suffix = f".{TEMPORARY}{_format_suffix(target)}"
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target), suffix=suffix)
    os.close(handle)
    with _registered(name):
        try:
            yield Path(name)
        finally:
            Path(name).unlink(missing_ok=True)


@contextmanager
def temporary_folder(target: Path) -> Iterator[Path]:
    """Yield a new empty folder next to ``target``; the folder and its contents are removed at the end."""
    remove_leftovers(target)
    name = tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target), suffix=f".{TEMPORARY}")
    with _registered(name), _registered(str(replaced_name(Path(name)))):
        try:
            yield Path(name)
        finally:
            shutil.rmtree(name, ignore_errors=True)


def replaced_name(temporary: Path) -> Path:
    """Return the hidden name of the old version while the folder ``temporary`` takes its place."""
    return temporary.with_suffix(f".{REPLACED}")


def remove_leftovers(target: Path) -> None:
    """Remove temporary files and folders that processes which no longer run left next to ``target``.

    The old version of a folder is kept if ``target`` is missing: its replacement was interrupted, and
    :func:`~confdiff.io.atomic.recover_folder` puts it back.
    """
    for path, ending in _leftovers(target):
        if ending == TEMPORARY or os.path.lexists(target):
            _remove(path)


def replaced_folders(target: Path) -> list[Path]:
    """Return old versions of the folder ``target`` under their hidden names, the latest last."""
    folders = [path for path, ending in _named_after(target) if ending == REPLACED and path.is_dir()]
    return sorted(folders, key=lambda folder: folder.stat().st_mtime)


def is_own_temporary(path: Path) -> bool:
    """Return whether this process made the temporary file, and has not finished it."""
    return str(path) in _active


def is_being_written(path: Path) -> bool:
    """Return whether the process in the name of a temporary file still runs, or may run on another machine."""
    match = _PATTERN.fullmatch(path.name)
    if match is None or match["host"] != _host():
        return True
    pid = int(match["pid"])
    return is_own_temporary(path) if pid == os.getpid() else _is_running(pid)


_PATTERN = re.compile(
    rf"(?P<prefix>\..+\.)(?P<host>[0-9a-f]{{8}})-(?P<pid>[0-9]+)-[a-z0-9_]{{8}}"
    rf"\.(?P<ending>{TEMPORARY}|{REPLACED})(?:\.[^.]*){{0,2}}"
)


def _format_suffix(target: Path) -> str:
    """Return the ending by which writers recognise the format: two suffixes if the file is compressed."""
    suffixes = target.suffixes[-2:] if target.suffix == ".gz" else target.suffixes[-1:]
    return "".join(suffix for suffix in suffixes if len(suffix) <= _LONGEST_SUFFIX)


def _prefix(target: Path) -> str:
    return f"{_start(target)}{_host()}-{os.getpid()}-"


def _start(target: Path) -> str:
    """Return the start of the names of all temporary files of a target."""
    name = target.name
    if len(os.fsencode(name)) > _LONGEST_NAME:
        name = hashlib.blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return f".{name}."


def _host() -> str:
    """Return a short text for this machine: on a shared file system, processes of others cannot be checked."""
    return hashlib.blake2b(platform.node().encode(), digest_size=4).hexdigest()


def _named_after(target: Path) -> Iterator[tuple[Path, str]]:
    """Yield the temporary files and folders of a target, each with its ending."""
    start = _start(target)
    try:
        paths = list(target.parent.iterdir())
    except OSError:
        return
    for path in paths:
        match = _PATTERN.fullmatch(path.name) if path.name.startswith(start) else None
        if match is not None and match["prefix"] == start:
            yield path, match["ending"]


def _leftovers(target: Path) -> Iterator[tuple[Path, str]]:
    for path, ending in _named_after(target):
        if not is_being_written(path):
            yield path, ending


def _is_running(pid: int) -> bool:
    if sys.platform == "win32":  # there, a signal of 0 would end the process
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def _registered(name: str) -> Iterator[None]:
    _active.add(name)
    try:
        yield
    finally:
        _active.discard(name)
