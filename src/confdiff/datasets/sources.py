"""Where the files of a data set are: found in a folder, or fetched from their public home.

A file is looked for in the folder given, in ``CONFDIFF_DATA``, and in the cache; only then it is downloaded. Every
file is checked before it is used, wherever it came from.
"""

import bz2
import gzip
import hashlib
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from confdiff.storage import cache_folder, replacing

_UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}


def md5_of_bytes(contents: bytes) -> str:
    """The md5 of the contents as they are."""
    return hashlib.md5(contents, usedforsecurity=False).hexdigest()


def md5_of_table(contents: bytes) -> str:
    r"""The md5 of the entries of a table, whatever blanks and line ends its copies have.

    >>> md5_of_table(b"1, 2\n3,4") == md5_of_table(b" 1,2\r\n 3, 4\r\n") != md5_of_table(b"1,2\n3,5")
    True
    """
    return md5_of_bytes(b",".join(re.split(rb"[\s,]+", contents.strip())))


@dataclass(frozen=True)
class Source:
    """A published file.

    name: what it is called, without the ending of a packed one.
    folders: the folders it may lie in under a data folder: ours first, then those that other programs leave behind.
    md5: the checksum of its unpacked contents, as ``checksum`` computes it; None where the reader checks it otherwise.
    url: where it can be had; an archive, where ``member`` says which of its files it is.
    needed: whether the data set is nothing without it.
    """

    name: str
    folders: tuple[str, ...]
    md5: str | None
    url: str
    member: str | None = None
    checksum: Callable[[bytes], str] = md5_of_bytes
    needed: bool = True

    def locate(self, roots: Iterable[Path]) -> Path | None:
        """The first place where the file is, packed or not."""
        places = (root / folder / f"{self.name}{end}" for root in roots for folder in self.folders for end in _UNPACK)
        return next((place for place in places if place.is_file()), None)

    def read(self, path: Path) -> bytes:
        """The unpacked contents of the file at ``path``, checked."""
        try:
            contents = _UNPACK.get(path.suffix, bytes)(path.read_bytes())
        except (EOFError, zlib.error, ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # it could not be read, which says nothing of it
                raise
            raise damaged(path, f"it cannot be unpacked ({error})") from error
        return self.checked(contents, path)

    def checked(self, contents: bytes, path: Path) -> bytes:
        """The contents, if they have the checksum that they should have."""
        if self.md5 is not None and (found := self.checksum(contents)) != self.md5:
            of = f"the checksum of {self.name} is {found}, expected {self.md5}"
            raise damaged(path, f"{of} ({len(contents):,} bytes unpacked)")
        return contents


def damaged(path: Path, why: str) -> ValueError:
    """The error for a file that is truncated, altered or another than its name says."""
    return ValueError(f"{path} is truncated, altered or another file: {why}. Delete or replace it and try again.")


@dataclass(frozen=True)
class Form:
    """One form in which a data set is published: its files, and the function that reads them, in their order."""

    sources: tuple[Source, ...]
    read: Callable[[Sequence[tuple[Source, Path]]], Any]

    def locate(self, roots: Sequence[Path]) -> list[tuple[Source, Path]]:
        """Those of the files that are there."""
        found = ((source, source.locate(roots)) for source in self.sources)
        return [(source, path) for source, path in found if path is not None]


def data_roots(folder: str | os.PathLike[str] | None = None) -> list[Path]:
    """Where to look, in this order: the folder given, ``CONFDIFF_DATA``, the cache."""
    if folder is not None and not Path(folder).is_dir():
        raise ValueError(f"the data folder must be a folder; there is none called {os.fspath(folder)!r}.")
    named = [folder, os.environ.get("CONFDIFF_DATA")]
    return [Path(root).expanduser() for root in named if root] + [cache_folder() / "datasets"]


def find(forms: Sequence[Form], roots: Sequence[Path], *, incomplete: bool = False) -> list[tuple[Source, Path]] | None:
    """The files of the first form that is there; a form that is whole in an earlier folder wins."""
    return next(iter(_complete(forms, roots, incomplete)), (None, None))[1]


def _complete(
    forms: Sequence[Form], roots: Sequence[Path], incomplete: bool
) -> Iterable[tuple[Form, list[tuple[Source, Path]]]]:
    for depth in range(1, len(roots) + 1):
        for form in forms:
            found = form.locate(roots[:depth])
            wanted = [source for source in form.sources if source.needed or not incomplete]
            if {source.name for source in wanted} <= {source.name for source, _ in found} and found:
                yield form, found


def obtain(
    name: str, forms: Sequence[Form], folder: str | os.PathLike[str] | None = None, *, incomplete: bool = False
) -> tuple[Form, list[tuple[Source, Path]]]:
    """A form of the data set whose files are all there, fetching those that are not."""
    roots = data_roots(folder)
    there = next(iter(_complete(forms, roots, incomplete)), None)
    if there is not None:
        return there
    form = next(form for form in forms if all(source.url for source in form.sources))
    found = {source.name for source, _ in form.locate(roots)}
    missing = [source for source in form.sources if source.name not in found]
    try:
        fetch(missing, roots[-1])
    except (OSError, ValueError) as error:
        raise FileNotFoundError(_absent(name, missing, roots, error, form)) from error
    return form, form.locate(roots)


def _absent(name: str, missing: Sequence[Source], roots: Sequence[Path], error: Exception, form: Form) -> str:
    """What is missing, where it can be had and where to put it."""
    homes = dict.fromkeys(source.url if source.member else source.url.rsplit("/", 1)[0] for source in missing)
    folder, data = missing[0].folders[0], os.environ.get("CONFDIFF_DATA")
    lines = [
        f"{name} is not {'all ' if len(missing) < len(form.sources) else ''}here and could not be downloaded: {error}",
        f"  missing:  {_few([source.name for source in missing])}",
        f"  found at: {', '.join(homes)}",
        f"  put them, packed or not, into: {roots[-1] / folder}",
        f"  or into {folder}/ of the folder that CONFDIFF_DATA names ({f'now {data}' if data else 'not set'})",
    ]
    if not any(source.needed for source in missing):
        lines.append("  or go with the files that are here: incomplete=True, on the command line --incomplete")
    return "\n".join(lines)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def fetch(sources: Sequence[Source], cache: Path) -> None:
    """Download files into the cache, each checked before it takes its place.

    Each process downloads into a folder of its own and renames what is whole and checked, so that processes that
    fetch the same file at once do each other no harm.
    """
    cache.mkdir(parents=True, exist_ok=True)
    for url, group in groupby(sources, key=lambda source: source.url):
        with TemporaryDirectory(dir=cache, prefix=".fetching-") as scratch:
            download = _download(url, Path(scratch))
            for source in group:
                _put(source, download, cache / source.folders[0])


def _put(source: Source, download: Path, folder: Path) -> None:
    """Check a file that was downloaded, alone or in an archive, and put it, unpacked, into the cache."""
    if source.member is None:
        contents = source.read(download)
    else:
        contents = source.checked(_member(download, source.member), download)
    with replacing(folder / source.name) as temporary:
        temporary.write_bytes(contents)


def _member(archive: Path, name: str) -> bytes:
    """One file of an archive, by the end of its path."""
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                return zipped.read(next(path for path in zipped.namelist() if path.endswith(name)))
        with tarfile.open(archive) as tarred:
            member = next(entry for entry in tarred if entry.isfile() and entry.name.endswith(name))
            file = tarred.extractfile(member)
            return file.read() if file else b""
    except (StopIteration, tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise damaged(archive, f"{name} cannot be taken out of it") from error


def _download(url: str, folder: Path) -> Path:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    file_name = url.rsplit("/", 1)[-1]
    getter = pooch.create(folder, base_url="", registry={file_name: None}, urls={file_name: url}, retry_if_failed=1)
    with _Bar(file_name) as bar:
        try:
            return Path(getter.fetch(file_name, downloader=pooch.HTTPDownloader(progressbar=bar, timeout=30)))
        except OSError as error:  # those of the network are several lines long
            text = str(error)
            raise OSError(text if len(text) < 100 else f"{url} cannot be reached ({type(error).__name__})") from error


class _Bar:
    """A progress bar of rich, with the methods that pooch calls."""

    total = 0

    def __init__(self, title: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task(title, total=None)

    def __enter__(self) -> "_Bar":
        self._bar.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._bar.stop()

    def update(self, size: int) -> None:
        """So many bytes more."""
        self._bar.update(self._task, advance=size, total=self.total or None)

    def reset(self) -> None:
        """Back to nothing, as pooch does before it reports the whole."""
        self._bar.update(self._task, completed=0)

    def close(self) -> None:
        """Nothing is left to close: leaving the block stops the bar."""
