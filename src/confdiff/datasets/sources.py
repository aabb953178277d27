"""Where the files of a data set are: found in a folder, or fetched from their public home.

A file is looked for in the folder given, in ``CONFDIFF_DATA``, and in the cache; only then it is downloaded. Every
file is checked before it is used, wherever it came from.
"""

import bz2
import gzip
import hashlib
import os
import re
import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from confdiff.display.progress import Update, reporting_progress
from confdiff.io.atomic import atomic_file, cache_folder

UNTOLD = ("raw", "")  # folders whose names do not tell which data set is in them
_SCRATCH = ".fetching-"
_UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}


def md5_of_bytes(contents: bytes) -> str:
    """The md5 of the contents as they are."""
    return hashlib.md5(contents, usedforsecurity=False).hexdigest()


def plain_table(contents: bytes) -> bytes:
    r"""A table of plain words and numbers with a comma between entries, whatever blanks and line ends its copy has.

    >>> plain_table(b" 1,2\r\n 3, 4\r\n") == plain_table(b"1 2\n3 4") == b"1,2\n3,4"
    True
    """
    lines = (line.strip() for line in contents.splitlines())
    return b"\n".join(re.sub(rb"[\s,]+", b",", line) for line in lines if line)


def md5_of_table(contents: bytes) -> str:
    """The md5 of the entries of a table, row by row."""
    return md5_of_bytes(plain_table(contents))


@dataclass(frozen=True)
class Source:
    """A published file.

    name: what it is called, without the ending of a packed one.
    folders: the folders it may lie in under a data folder: ours first, then those that other programs leave behind.
    md5: the checksum of its unpacked contents, as ``checksum`` computes it; None where the reader checks it otherwise.
    url: where it can be had; an archive, where ``member`` says which of its files it is.
    needed: whether the data set is nothing without it.
    namesakes: checksums of files of other data sets that have the same name and may lie in the same place.
    """

    name: str
    folders: tuple[str, ...]
    md5: str | None
    url: str
    member: str | None = None
    checksum: Callable[[bytes], str] = md5_of_bytes
    needed: bool = True
    namesakes: frozenset[str] = frozenset()

    def locate(self, roots: Iterable[Path]) -> Path | None:
        """The first place where the file is, packed or not."""
        for root, folder, end in product(roots, self.folders, _UNPACK):
            place = root / folder / f"{self.name}{end}"
            if place.is_file() and not (folder in UNTOLD and self._is_a_namesake(place)):
                return place
        return None

    def _is_a_namesake(self, path: Path) -> bool:
        """Whether a file is that of another data set, whose files have the same names."""
        if not self.namesakes:
            return False
        try:
            self.read(path)
        except DamagedFile as error:
            return any(md5 in str(error) for md5 in self.namesakes)
        return False

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


class DamagedFile(ValueError):
    """A file that is truncated, altered or another than its name says."""


def damaged(path: Path | str, why: str) -> DamagedFile:
    """The error for a damaged file."""
    return DamagedFile(f"{path} is truncated, altered or another file: {why}. Delete or replace it and try again.")


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
    named = {"the folder given": folder, "CONFDIFF_DATA": os.environ.get("CONFDIFF_DATA")}
    roots = {what: Path(root).expanduser() for what, root in named.items() if root}
    for what, root in roots.items():
        if not root.is_dir():
            raise ValueError(f"{what} must be a folder with data sets; there is no folder {root}.")
    return [*roots.values(), cache_folder() / "datasets"]


def find(forms: Sequence[Form], roots: Sequence[Path], *, incomplete: bool = False) -> list[tuple[Source, Path]] | None:
    """The files of the first form that is there; a form that is whole in an earlier folder wins."""
    return next(iter(_complete(forms, roots, incomplete)), (None, None))[1]


def _complete(
    forms: Sequence[Form], roots: Sequence[Path], incomplete: bool
) -> Iterable[tuple[Form, list[tuple[Source, Path]]]]:
    for depth in range(1, len(roots) + 1):
        for form in forms:
            found = form.locate(roots[:depth])
            if len(found) == len(form.sources):
                yield form, found
    if incomplete:
        there = [(form, form.locate(roots)) for form in forms]
        usable = [
            (form, found)
            for form, found in there
            if {source.name for source in form.sources if source.needed} <= {source.name for source, _ in found}
        ]
        yield from sorted(usable, key=lambda each: -len(each[1]))


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
        lines.append("  or go with the files that are here: incomplete=True; confdiff run and others have --incomplete")
    return "\n".join(lines)


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")


def fetch(sources: Sequence[Source], cache: Path) -> None:
    """Download files into the cache, each checked before it takes its place.

    Each process downloads into a folder of its own and renames what is whole and checked, so that processes that
    fetch the same file at once do each other no harm.
    """
    cache.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(cache)
    for url, group in groupby(sources, key=lambda source: source.url):
        with TemporaryDirectory(dir=cache, prefix=_SCRATCH) as scratch:
            download = _download(url, Path(scratch))
            try:
                for source, contents in _unpacked(list(group), download):
                    with atomic_file(cache / source.folders[0] / source.name) as temporary:
                        temporary.write_bytes(contents)
            except DamagedFile as error:
                raise DamagedFile(f"what {url} delivered is truncated or not the file that was expected") from error


def _remove_leftovers(cache: Path) -> None:
    """Folders that a process left behind when it was killed a day ago or earlier."""
    for folder in cache.glob(f"{_SCRATCH}*"):
        if time.time() - folder.stat().st_mtime > 24 * 3600:
            shutil.rmtree(folder, ignore_errors=True)


def _unpacked(sources: Sequence[Source], download: Path) -> Iterator[tuple[Source, bytes]]:
    """The checked contents of files that were downloaded, alone or in one archive."""
    if sources[0].member is None:
        yield from ((source, source.read(download)) for source in sources)
        return
    members = _members(download, [source.member or "" for source in sources])
    yield from ((source, source.checked(contents, download)) for source, contents in zip(sources, members, strict=True))


def _members(archive: Path, names: Sequence[str]) -> list[bytes]:
    """Files of an archive, by the ends of their paths, in one pass."""
    found: dict[str, bytes] = {}
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                for path in zipped.namelist():
                    found |= {name: zipped.read(path) for name in names if path.endswith(name)}
        else:
            with tarfile.open(archive) as tarred:
                for entry in tarred:
                    file = tarred.extractfile(entry) if entry.name.endswith(tuple(names)) else None
                    found |= {name: file.read() for name in names if file and entry.name.endswith(name)}
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise damaged(archive, f"it cannot be unpacked ({error})") from error
    missing = [name for name in names if name not in found]
    if missing:
        raise damaged(archive, f"{missing[0]} is not in it")
    return [found[name] for name in names]


def _download(url: str, folder: Path) -> Path:
    import pooch

    pooch.get_logger().setLevel("WARNING")
    file_name = url.rsplit("/", 1)[-1]
    getter = pooch.create(folder, base_url="", registry={file_name: None}, urls={file_name: url}, retry_if_failed=1)
    with reporting_progress(file_name, keep=True) as report:
        downloader = pooch.HTTPDownloader(progressbar=_DownloadProgress(report), timeout=30)
        try:
            return Path(getter.fetch(file_name, downloader=downloader))
        except OSError as error:  # those of the network are several lines long
            text = str(error)
            raise OSError(text if len(text) < 100 else f"{url} failed ({type(error).__name__})") from error


class _DownloadProgress:
    """Report a download, with the attribute and the methods that pooch uses."""

    total = 0

    def __init__(self, report: Update) -> None:
        self._report = report
        self._completed = 0

    def update(self, size: int) -> None:
        """Report ``size`` more bytes."""
        self._completed += size
        megabytes = f"{self._completed / 1e6:.1f}" + (f" of {self.total / 1e6:.1f}" if self.total else "")
        self._report(self._completed, total=self.total or None, detail=f"{megabytes} MB")

    def reset(self) -> None:
        """Start again, as pooch does before it reports the whole file."""
        self._completed = 0

    def close(self) -> None:
        """Do nothing: the block that made the report ends it."""
