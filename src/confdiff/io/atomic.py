"""Write files and folders completely or not at all.

These functions replace what exists; :mod:`confdiff.io.outputs` decides whether they may.
"""

import errno
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from confdiff.io.temporary import (
    is_being_written,
    is_own_temporary,
    remove_leftovers,
    replaced_folders,
    replaced_name,
    temporary_file,
    temporary_folder,
)
from confdiff.validation import warn_user

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_PATIENCE = 2.0  # seconds to wait for another process between its two renamings


def cache_folder() -> Path:
    """Return the folder for files that can be downloaded or computed again.

    It is the environment variable ``CONFDIFF_CACHE`` if that is set, otherwise the user's cache folder.
    """
    folder = os.environ.get("CONFDIFF_CACHE")
    if folder:
        return Path(folder).expanduser()
    import pooch

    return Path(pooch.os_cache("confdiff"))


@contextmanager
def naming_full_disk(path: Path) -> Iterator[None]:
    """Raise errors of a full disk with the path of the output, which the system does not name."""
    try:
        yield
    except OSError as error:
        if error.errno not in _FULL:
            raise
        raise OSError(f"{path} cannot be written: {error.strerror}. Make room, or choose another place.") from error


@contextmanager
def atomic_file(path: str | os.PathLike[str], *, private: bool = False) -> Iterator[Path]:
    """Yield a temporary path next to ``path`` to write to; it replaces ``path`` if the block succeeds.

    Readers see the old file or the complete new one, even if the writing process is killed. A symbolic link is
    followed: the file behind it is replaced.

    Parameters
    ----------
    path : path
        The file to write. Its folder is created if it is missing. A temporary file of this process is written directly.
    private : bool
        Whether only the owner of the file may read it; otherwise the umask decides.

    Yields
    ------
    Path
        The temporary file, which exists and is empty.
    """
    target = Path(os.path.realpath(path))
    if is_own_temporary(target):
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with naming_full_disk(target), temporary_file(target) as temporary:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o600 if private else 0o666 & ~_umask())
        temporary.replace(target)
        _sync_folder(target.parent)


@contextmanager
def atomic_files(files: Mapping[str, Path]) -> Iterator[dict[str, Path]]:
    """Yield temporary paths for several files that belong together; all of them are renamed if the block succeeds.

    Parameters
    ----------
    files : mapping of str to Path
        Kind -> the file to write, in the order of the renaming.

    Yields
    ------
    dict of str to Path
        Kind -> the temporary file.
    """
    with ExitStack() as stack:  # it leaves the last block first
        yield {kind: stack.enter_context(atomic_file(files[kind])) for kind in reversed(list(files))}


@contextmanager
def atomic_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary folder next to ``path`` to write into; it becomes ``path`` if the block succeeds.

    An old folder is renamed first, and removed when the new one has its name. If that fails, the old folder gets its
    name back; if the process is killed in between, :func:`recover_folder` does that.

    Parameters
    ----------
    path : path
        The folder to write or to replace. A symbolic link is followed.
    """
    target = Path(os.path.realpath(path))
    target.parent.mkdir(parents=True, exist_ok=True)
    recover_folder(target)
    with temporary_folder(target) as temporary:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        _sync_folder(temporary)
        _replace_folder(temporary, target)


def _replace_folder(temporary: Path, target: Path) -> None:
    """Rename ``temporary`` to ``target``; an old folder is removed afterwards, or put back if the renaming fails."""
    replaced = replaced_name(temporary)
    try:
        if target.exists():
            target.rename(replaced)
        temporary.rename(target)
    finally:
        if replaced.exists() and temporary.exists():
            _put_back(replaced, target)
    _sync_folder(target.parent)
    shutil.rmtree(replaced, ignore_errors=True)


def _put_back(replaced: Path, target: Path) -> None:
    if os.path.lexists(target):
        raise FileExistsError(
            f"{target} appeared while it was being replaced; the version before is in {replaced}. Rename one of them."
        )
    replaced.rename(target)


def recover_folder(path: str | os.PathLike[str]) -> None:
    """Put a folder back whose replacement was interrupted, so that only its hidden old version exists.

    Parameters
    ----------
    path : path
        The folder. Nothing is done if it exists, or if no old version does.
    """
    target = Path(os.path.realpath(path))
    if os.path.lexists(target):
        return
    old_versions = replaced_folders(target)
    if not old_versions:
        return
    deadline = time.monotonic() + _PATIENCE
    while is_being_written(old_versions[-1]) and time.monotonic() < deadline:
        time.sleep(0.01)
    if os.path.lexists(target) or is_being_written(old_versions[-1]):
        return
    _rename_back(old_versions[-1], target)
    remove_leftovers(target)


def _rename_back(replaced: Path, target: Path) -> None:
    problem = f"an earlier run was stopped while it replaced {target}"
    try:
        replaced.rename(target)
    except OSError as error:
        raise OSError(f"{problem}; the version before is in {replaced}. Rename it. {error.strerror}.") from error
    warn_user(f"{problem}; the version before was put back.")


def _sync_folder(folder: Path) -> None:
    """Make renamings in a folder survive a power failure, where the system can do that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
