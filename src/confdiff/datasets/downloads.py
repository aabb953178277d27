"""Download the files of data sets, and check them before they are used."""

import shutil
import tarfile
import time
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from confdiff.datasets.sources import SourceFile, damaged_source
from confdiff.display.progress import Update, reporting_progress
from confdiff.io.atomic import atomic_file
from confdiff.io.damage import DamagedFile

_SCRATCH = ".fetching-"
_THIS_MACHINE = ("127.0.0.1", "::1", "localhost")


def download(sources: Sequence[SourceFile], cache: Path) -> None:
    """Download files into the cache; each is checked before it takes its final name.

    Each process downloads into its own folder and renames complete, checked files. Several processes may therefore
    download the same file at once.
    """
    cache.mkdir(parents=True, exist_ok=True)
    _remove_leftovers(cache)
    for url, group in groupby(sources, key=lambda source: source.url):
        with TemporaryDirectory(dir=cache, prefix=_SCRATCH) as scratch:
            archive = _download_url(url, Path(scratch))
            try:
                for source, contents in _unpacked(list(group), archive):
                    with atomic_file(cache / source.folders[0] / source.name) as temporary:
                        temporary.write_bytes(contents)
            except DamagedFile as error:
                raise DamagedFile(f"the file that {url} delivered is truncated or not the expected one") from error


def _remove_leftovers(cache: Path) -> None:
    """Remove folders that a process left behind when it was killed a day ago or earlier."""
    for folder in cache.glob(f"{_SCRATCH}*"):
        if time.time() - folder.stat().st_mtime > 24 * 3600:
            shutil.rmtree(folder, ignore_errors=True)


def _unpacked(sources: Sequence[SourceFile], archive: Path) -> Iterator[tuple[SourceFile, bytes]]:
    """Yield the checked contents of files that were downloaded, alone or in one archive."""
    if sources[0].member is None:
        yield from ((source, source.read(archive)) for source in sources)
        return
    members = _members(archive, [source.member or "" for source in sources])
    for source, contents in zip(sources, members, strict=True):
        yield source, source.checked(contents, archive)


def _members(archive: Path, names: Sequence[str]) -> list[bytes]:
    """Return files of an archive, by the ends of their paths, in one pass."""
    contents: dict[str, bytes] = {}
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as zipped:
                for path in zipped.namelist():
                    contents |= {name: zipped.read(path) for name in names if path.endswith(name)}
        else:
            with tarfile.open(archive) as tarred:
                for entry in tarred:
                    file = tarred.extractfile(entry) if entry.name.endswith(tuple(names)) else None
                    contents |= {name: file.read() for name in names if file and entry.name.endswith(name)}
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, zlib.error) as error:
        raise damaged_source(archive, f"it cannot be unpacked ({error})") from error
    missing = [name for name in names if name not in contents]
    if missing:
        raise damaged_source(archive, f"{missing[0]} is missing in it")
    return [contents[name] for name in names]


def _check_secure(url: str) -> None:
    """Check that an address is encrypted, or on this machine: others on the way could read and replace the file."""
    address = urlsplit(url)
    if address.scheme != "https" and address.hostname not in _THIS_MACHINE:
        raise ValueError(f"files are downloaded over https only; got {url}.")


def _download_url(url: str, folder: Path) -> Path:
    import pooch

    _check_secure(url)
    pooch.get_logger().setLevel("WARNING")
    file_name = url.rsplit("/", 1)[-1]
    getter = pooch.create(folder, base_url="", registry={file_name: None}, urls={file_name: url}, retry_if_failed=1)
    with reporting_progress(file_name, keep=True) as report:
        downloader = pooch.HTTPDownloader(progressbar=_DownloadProgress(report), timeout=30)
        try:
            return Path(getter.fetch(file_name, downloader=downloader))
        except OSError as error:  # network errors span several lines
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
