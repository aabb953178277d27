"""Write files and folders completely or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


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
def atomic_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path next to ``path`` to write to; it replaces ``path`` if the block succeeds.

    Readers see the old file or the complete new one, even if the writing process is killed.

    Parameters
    ----------
    path : path
        The file to write. Its folder is created if it is missing.

    Yields
    ------
    Path
        The temporary file, which exists and is empty.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=f".tmp{target.suffix}")
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | os.PathLike[str], *, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary folder next to ``path`` to write into; it becomes ``path`` if the block succeeds.

    Parameters
    ----------
    path : path
        The folder to write.
    overwrite : bool
        Whether to replace a folder that already exists.

    Raises
    ------
    FileExistsError
        If the folder exists, is not empty, and ``overwrite`` is false.
    NotADirectoryError
        If ``path`` is a file.
    """
    target = Path(path)
    check_new_folder(target, overwrite=overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp"))
    replaced = temporary.with_suffix(".old")
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        if target.exists():
            target.rename(replaced)
        temporary.rename(target)
    finally:
        if replaced.exists() and not target.exists():  # interrupted between the two renamings
            replaced.rename(target)
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(replaced, ignore_errors=True)


def check_new_folder(path: Path, *, overwrite: bool = False) -> None:
    """Check that a folder can be written: it is missing or empty, or may be overwritten."""
    if path.exists() and not path.is_dir():
        raise NotADirectoryError(f"{path} is a file; a folder of that name cannot be written.")
    if path.is_dir() and any(path.iterdir()) and not overwrite:
        raise _already_exists(path)


def check_new_file(path: Path, *, overwrite: bool = False) -> None:
    """Check that a file can be written: it is missing, or may be overwritten."""
    if path.exists() and not overwrite:
        raise _already_exists(path)


def _already_exists(path: Path) -> FileExistsError:
    return FileExistsError(f"{path} already exists. Choose another name, or pass overwrite=True to replace it.")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write_text(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with atomic_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
