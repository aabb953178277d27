"""Keep computed vectors in the user's cache folder, so that a text or a picture is encoded once.

The cache is one SQLite file: it is shared by processes, and a killed process leaves no half-written vector. It is
bounded: the vectors that have not been used for the longest time are dropped first. Nothing depends on it; a cache
that cannot be used only costs time.
"""

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from confdiff.io.atomic import cache_folder
from confdiff.validation import warn_user

MOST_BYTES = 2**31
"""The maximum size of the cache."""
_LEFT = 0.75  # fraction of the vectors that remain when the cache is full
_PATIENCE = 60.0  # seconds to wait for the writes of other processes
_KEYS = 500  # in one query
_DAY = 86_400
_DIGEST = 8  # bytes behind the numbers of a vector
_TABLE = """
CREATE TABLE IF NOT EXISTS vectors (
    encoder TEXT NOT NULL, content TEXT NOT NULL, day INTEGER NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (encoder, content)
)"""


def cached_vectors(encoder: str, contents: Sequence[str]) -> dict[str, NDArray[np.float32]]:
    """Return the vectors that an encoder has computed before, for those of some contents that are in the cache.

    Damaged vectors are not returned, and replaced when they are computed again.

    Parameters
    ----------
    encoder : str
        The fingerprint of the encoder.
    contents : sequence of str
        The digests of the texts or files.
    """
    vectors: dict[str, NDArray[np.float32]] = {}
    not_of_today = []
    today = _today()
    with _ignoring_errors(), closing(_open()) as connection, connection:
        for start in range(0, len(contents), _KEYS):
            part = contents[start : start + _KEYS]
            query = f"SELECT content, day, vector FROM vectors {_where(part)}"
            for content, day, blob in connection.execute(query, [encoder, *part]):
                vector = _unpacked(encoder, content, blob)
                if vector is not None:
                    vectors[content] = vector
                    not_of_today += [content] if day < today else []
        for start in range(0, len(not_of_today), _KEYS):
            part = not_of_today[start : start + _KEYS]
            connection.execute(f"UPDATE vectors SET day = ? {_where(part)}", [today, encoder, *part])
    return vectors


def cache_vectors(encoder: str, contents: Sequence[str], vectors: NDArray[np.float32]) -> None:
    """Add the vectors of some contents, (N, d), to the cache."""
    rows = [
        (encoder, content, _today(), _packed(encoder, content, vector))
        for content, vector in zip(contents, vectors, strict=True)
    ]
    with _ignoring_errors(), closing(_open()) as connection, connection:
        connection.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)", rows)
        if _used_bytes(connection) > MOST_BYTES:
            _drop_oldest(connection)


def cache_file() -> Path:
    """Return the file of the cache."""
    return cache_folder() / "vectors" / "vectors.sqlite"


def _where(contents: Sequence[str]) -> str:
    return f"WHERE encoder = ? AND content IN ({','.join('?' * len(contents))})"


def _packed(encoder: str, content: str, vector: NDArray[np.float32]) -> bytes:
    """Return the bytes of a vector, with a digest of them and of what it is the vector of."""
    numbers = vector.astype("<f4").tobytes()
    return numbers + _digest(encoder, content, numbers)


def _unpacked(encoder: str, content: str, blob: object) -> NDArray[np.float32] | None:
    """Return the vector of some bytes, or None if they are damaged or the numbers are not finite."""
    if not isinstance(blob, bytes) or len(blob) % 4 or len(blob) <= _DIGEST:
        return None
    numbers = blob[:-_DIGEST]
    vector = np.frombuffer(numbers, dtype="<f4")
    is_whole = blob[-_DIGEST:] == _digest(encoder, content, numbers) and np.isfinite(vector).all()
    return vector if is_whole else None


def _digest(encoder: str, content: str, numbers: bytes) -> bytes:
    return hashlib.blake2b(f"{encoder}\0{content}\0".encode() + numbers, digest_size=_DIGEST).digest()


def _open() -> sqlite3.Connection:
    path = cache_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=_PATIENCE)
    try:
        connection.execute(_TABLE)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _ignoring_errors() -> Iterator[None]:
    """Warn of a cache that cannot be used: locked, read-only, damaged, or on a full disk."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        warn_user(
            f"the cache {cache_file()} cannot be used: {error}. Vectors are computed again. Delete the file if it is "
            "damaged, or set CONFDIFF_CACHE to another folder."
        )


def _today() -> int:
    return int(time.time() // _DAY)


def _used_bytes(connection: sqlite3.Connection) -> int:
    """Return the size of the data in the file, without pages that are free to be used again."""
    size, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    return int(size * (pages - free))


def _drop_oldest(connection: sqlite3.Connection) -> None:
    (count,) = connection.execute("SELECT COUNT(*) FROM vectors").fetchone()
    oldest = "SELECT rowid FROM vectors ORDER BY day, rowid LIMIT ?"
    connection.execute(f"DELETE FROM vectors WHERE rowid IN ({oldest})", [int((1 - _LEFT) * count)])
