"""Let one process at a time ask as a judge, so that no question is asked twice; a killed process holds nothing."""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout
from sqlalchemy import text

from confdiff.labelling.addresses import Database

_PATIENCE = 5.0  # seconds, in which PostgreSQL notices that a process was killed


class JudgeBusy(ValueError):
    """Another process asks as the same judge."""


@contextmanager
def asking_alone(database: Database, annotator: int, name: str) -> Iterator[None]:
    """Hold the judge for this process during the block.

    Raises
    ------
    JudgeBusy
        If another process holds it.
    """
    if database.path is None:
        with _advisory_lock(database, annotator, name):
            yield
    else:
        with _file_lock(database.path, annotator, name):
            yield


@contextmanager
def _file_lock(study: Path, annotator: int, name: str) -> Iterator[None]:
    path = study.with_name(f"{study.name}.judge-{annotator}.lock")
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise _busy(name) from error
    try:
        yield
    finally:
        with suppress(OSError):  # Windows removes no open file
            path.unlink()  # before the release: whoever locks it afterwards makes a new file
        lock.release()


@contextmanager
def _advisory_lock(database: Database, annotator: int, name: str) -> Iterator[None]:
    """Hold a lock of PostgreSQL in a connection of its own, which ends soon after its process."""
    keys = {"schema": database.schema, "annotator": annotator % 2**31}
    with database.named_errors(), database.engine.connect() as connection:
        locked = text("SELECT pg_try_advisory_lock(hashtext(:schema), :annotator)")
        ends_at = time.monotonic() + _PATIENCE
        while not connection.execute(locked, keys).scalar():
            connection.commit()
            if time.monotonic() > ends_at:
                raise _busy(name)
            time.sleep(0.1)
        connection.commit()
        try:
            yield
        finally:
            connection.execute(text("SELECT pg_advisory_unlock(hashtext(:schema), :annotator)"), keys)
            connection.commit()


def _busy(name: str) -> JudgeBusy:
    return JudgeBusy(f"another process asks the judge {name!r} at the moment: wait until it ends, or end it.")
