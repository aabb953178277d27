"""Files for workers on other machines: sent once, and unpacked by each worker into a folder of its own."""

import atexit
import hashlib
import os
import platform
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.engines.engine import Engine, Fetch
from confdiff.io.atomic import atomic_file
from confdiff.io.temporary import temporary_folder


@dataclass(frozen=True)
class SentFile:
    """A file that was sent.

    Attributes
    ----------
    digest : str
        SHA-256 of its contents.
    fetch : callable
        Returns its contents in a worker, as an array of bytes.
    """

    digest: str
    fetch: Fetch


@dataclass(frozen=True)
class SentFiles:
    """Files that a call needs.

    Attributes
    ----------
    files : mapping
        Path in the folder of a worker, such as ``datasets/letter/letter.data`` -> file.
    sender : tuple
        The machine and process that sent them.
    """

    files: Mapping[str, SentFile]
    sender: tuple[str, int]

    @property
    def is_sender(self) -> bool:
        """Whether this process is the one that sent the files: a joblib backend may call functions there."""
        return self.sender == _this_process()

    def unpack(self) -> Path:
        """Write the files that this worker does not have, and return its folder."""
        folder = _own_folder()
        for name, file in self.files.items():
            if _unpacked.get(name) != file.digest:
                with atomic_file(folder / name) as temporary:
                    file.fetch().tofile(temporary)
                _unpacked[name] = file.digest
        return folder


_unpacked: dict[str, str] = {}
"""Path in the folder of this worker -> digest of its file."""


@dataclass(frozen=True)
class FileSender:
    """Sends each file once, however many calls need it.

    Parameters
    ----------
    engine : Engine
        An open engine.
    """

    engine: Engine
    _sent: dict[Path, SentFile] = field(default_factory=dict)

    def send(self, files: Mapping[str, Path]) -> SentFiles:
        """Return files for a call, by their paths in the folder of the worker."""
        return SentFiles(files={name: self._send(path) for name, path in files.items()}, sender=_this_process())

    def _send(self, path: Path) -> SentFile:
        if path not in self._sent:
            contents: Any = np.frombuffer(path.read_bytes(), dtype=np.uint8)
            digest = hashlib.sha256(contents.data).hexdigest()
            self._sent[path] = SentFile(digest=digest, fetch=self.engine.send(contents))
        return self._sent[path]


@cache
def _own_folder() -> Path:
    """Make the folder of this worker, which is removed when the worker ends, or by a later one if it was killed."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack.enter_context(temporary_folder(Path(tempfile.gettempdir()) / "confdiff-worker"))


def _this_process() -> tuple[str, int]:
    return platform.node(), os.getpid()
