"""Describe the files that a data set is published as, and check their contents."""

import bz2
import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

from confdiff.io.damage import DamagedFile, damaged

SHARED_FOLDERS = ("raw", "")  # folders whose names do not identify a data set
_UNPACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.decompress, ".bz2": bz2.decompress}


def md5_of_bytes(contents: bytes) -> str:
    """Return the md5 of the contents as they are."""
    return hashlib.md5(contents, usedforsecurity=False).hexdigest()


def plain_table(contents: bytes) -> bytes:
    r"""Return a table of words and numbers as comma-separated entries, independent of its blanks and line ends.

    >>> plain_table(b" 1,2\r\n 3, 4\r\n") == plain_table(b"1 2\n3 4") == b"1,2\n3,4"
    True
    """
    lines = (line.strip() for line in contents.splitlines())
    return b"\n".join(re.sub(rb"[\s,]+", b",", line) for line in lines if line)


def md5_of_table(contents: bytes) -> str:
    """Return the md5 of the entries of a table, row by row."""
    return md5_of_bytes(plain_table(contents))


@dataclass(frozen=True)
class SourceFile:
    """A published file.

    Parameters
    ----------
    name : str
        File name, without the ending of a compressed copy.
    folders : tuple of str
        The folders it may be in below a data folder: ours first, then those that other programs create.
    md5 : str or None
        The checksum of its uncompressed contents, as ``checksum`` computes it; None if the reader checks them.
    url : str
        Address of the file, or of an archive that contains it; empty if it cannot be downloaded.
    member : str or None
        The end of its path in the archive.
    checksum : callable
        Computes the checksum of uncompressed contents.
    needed : bool
        Whether the data set cannot be used without it.
    namesakes : frozenset of str
        Checksums of files of other data sets that have the same name and may be in the same folder.
    endings : tuple of str
        The endings of compressed copies that can be read, and the empty one.
    """

    name: str
    folders: tuple[str, ...]
    md5: str | None
    url: str
    member: str | None = None
    checksum: Callable[[bytes], str] = md5_of_bytes
    needed: bool = True
    namesakes: frozenset[str] = frozenset()
    endings: tuple[str, ...] = tuple(_UNPACK)

    def locate(self, roots: Iterable[Path]) -> Path | None:
        """Return the first path at which the file exists, compressed or not."""
        for root, folder, ending in product(roots, self.folders, self.endings):
            path = root / folder / f"{self.name}{ending}"
            if path.is_file() and not (folder in SHARED_FOLDERS and self._is_a_namesake(path)):
                return path
        return None

    def _is_a_namesake(self, path: Path) -> bool:
        """Return whether a file belongs to another data set, whose files have the same names."""
        if not self.namesakes:
            return False
        try:
            self.read(path)
        except DamagedFile as error:
            return any(md5 in str(error) for md5 in self.namesakes)
        return False

    def read(self, path: Path) -> bytes:
        """Return the checked, uncompressed contents of the file at ``path``."""
        try:
            contents = _UNPACK.get(path.suffix, bytes)(path.read_bytes())
        except (EOFError, zlib.error, ValueError, OSError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # the disk is at fault, not the contents
                raise
            raise damaged_source(path, f"it cannot be unpacked ({error})") from error
        return self.checked(contents, path)

    def checked(self, contents: bytes, path: Path) -> bytes:
        """Return the contents if they have the expected checksum; raise :class:`DamagedFile` otherwise."""
        if self.md5 is None:
            return contents
        checksum = self.checksum(contents)
        if checksum != self.md5:
            mismatch = f"the checksum of {self.name} is {checksum}, expected {self.md5}"
            raise damaged_source(path, f"{mismatch} ({len(contents):,} bytes unpacked)")
        return contents


def damaged_source(path: Path | str, why: str) -> DamagedFile:
    """Return the error for a damaged file of a data set."""
    return damaged(path, why, "It may be truncated, altered or another file: delete or replace it and try again.")


LocatedFiles = Sequence[tuple[SourceFile, Path]]
"""Files that exist, with their paths."""


@dataclass(frozen=True)
class Form:
    """One form in which a data set is published.

    Parameters
    ----------
    sources : tuple of SourceFile
        Its files.
    read : callable
        Reads the existing files, in order, and returns the data set.
    """

    sources: tuple[SourceFile, ...]
    read: Callable[[LocatedFiles], Any]

    def locate(self, roots: Sequence[Path]) -> list[tuple[SourceFile, Path]]:
        """Return the files that exist, with their paths."""
        located = ((source, source.locate(roots)) for source in self.sources)
        return [(source, path) for source, path in located if path is not None]

    @property
    def needed(self) -> set[str]:
        """The names of the files without which the form cannot be used."""
        return {source.name for source in self.sources if source.needed}
