"""Find the database of a study: a file of SQLite, or a schema of a PostgreSQL database."""

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from confdiff.labelling.recognising import Address, is_postgresql

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,39}")
_BUSY_MILLISECONDS = 30_000
_CONNECTIONS = 20  # of a process to a study; more threads wait
_WRITE = "confdiff_write"


class StudyUnavailable(OSError):
    """The database of a study cannot be used now: it is locked, its disk is full, or its server does not answer."""


class Database:
    """The database of one study, with short transactions.

    Parameters
    ----------
    engine : Engine
        The engine of SQLAlchemy.
    address : str
        The address for messages, without a password.
    name : str
        Name of the study.
    path : Path or None
        The file, for SQLite.
    schema : str or None
        The schema, for PostgreSQL.
    """

    def __init__(self, engine: Engine, *, address: str, name: str, path: Path | None, schema: str | None) -> None:
        self.engine = engine
        self.address = address
        self.name = name
        self.path = path
        self.schema = schema
        self._write_lock = threading.Lock()  # waiting threads take turns, without polling SQLite

    @property
    def private_address(self) -> str:
        """The address with the password, for another process of this program; never shown."""
        if self.path is not None:
            return str(self.path.absolute())
        url = self.engine.url.set(drivername="postgresql").update_query_dict({"study": self.name})
        return url.render_as_string(hide_password=False)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection inside a transaction that reads."""
        with self.named_errors(), self.engine.connect() as connection, connection.begin():
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection inside a transaction that is committed if the block succeeds."""
        with ExitStack() as stack:
            stack.enter_context(self.named_errors())
            if self.path is not None:
                stack.enter_context(self._write_lock)
            connection = stack.enter_context(self.engine.connect())
            stack.enter_context(connection.execution_options(**{_WRITE: True}).begin())
            yield connection

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Raise errors of the database with the address of the study."""
        try:
            yield
        except IntegrityError:
            raise
        except (DBAPIError, PoolTimeout, sqlite3.Error) as error:
            text = " ".join(str(getattr(error, "orig", error)).split())
            raise StudyUnavailable(f"the study {self.address} cannot be used: {text}.") from error

    def remove_traces(self) -> None:
        """Remove deleted values from the file of SQLite, where they would remain until they are overwritten."""
        if self.path is None:
            return
        with self.named_errors(), self._write_lock, self.engine.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("VACUUM")
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            cursor.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()


def find_database(address: Address) -> Database:
    """Return the database of an address, which need not exist yet.

    Parameters
    ----------
    address : str or path
        The path of a file, or ``postgresql://user@host/database?study=NAME``.

    Raises
    ------
    ValueError
        If the address is not valid.
    """
    if is_postgresql(address):
        return _postgresql(str(address))
    if "://" in str(address):
        raise ValueError(
            "the address of a study must be a file or postgresql://user@host/database?study=NAME; "
            f"got {_masked(address)!r}."
        )
    return sqlite_database(Path(address))


def sqlite_database(path: Path, *, name: str | None = None) -> Database:
    """Return the database of a file of SQLite."""
    engine = create_engine(URL.create("sqlite", database=str(path.absolute())), pool_size=_CONNECTIONS, max_overflow=0)
    event.listen(engine, "connect", _set_up_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return Database(engine, address=str(path), name=name or study_name(path.stem), path=path, schema=None)


def _set_up_sqlite(connection: Any, _: Any) -> None:
    connection.isolation_level = None  # transactions begin where _begin_sqlite begins them
    cursor = connection.cursor()
    for setting in (
        f"busy_timeout = {_BUSY_MILLISECONDS}",
        "journal_mode = WAL",
        "synchronous = FULL",
        "foreign_keys = ON",
        "secure_delete = ON",
    ):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


def _begin_sqlite(connection: Connection) -> None:
    writes = connection.get_execution_options().get(_WRITE, False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _postgresql(address: str) -> Database:
    url = _parsed(address)
    name = url.query.get("study")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ValueError(
            f"the address of a study must end in ?study=NAME, a name of at most 40 lower-case letters, digits, _ and "
            f"-; got {_masked(address)!r}."
        )
    plain = url.difference_update_query(["study"]).set(drivername="postgresql+psycopg")
    shown = url._replace(password=None).set(drivername="postgresql")  # set() cannot remove a password
    schema = f"confdiff_{name}"
    try:
        engine = create_engine(
            plain,
            pool_size=_CONNECTIONS,
            max_overflow=0,
            pool_pre_ping=True,
            execution_options={"schema_translate_map": {None: schema}},
        )
    except ModuleNotFoundError as error:
        raise ValueError(
            "studies in PostgreSQL need the package psycopg: install it with `pip install 'confdiff[postgresql]'`."
        ) from error
    return Database(engine, address=shown.render_as_string(), name=name, path=None, schema=schema)


def _parsed(address: str) -> URL:
    try:
        return make_url(re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql://", address))
    except (ArgumentError, ValueError) as error:
        raise ValueError(f"{_masked(address)!r} cannot be read as an address of PostgreSQL.") from error


def _masked(address: Address) -> str:
    """Return an address without its password."""
    return re.sub(r"(//[^:/@]*):[^@]*@", r"\1@", str(address))


def study_name(text: str) -> str:
    """Return a name for addresses of pages: lower-case letters, digits, _ and -.

    >>> study_name("My study (2)"), study_name("2.db")
    ('my-study-2', 'study-2-db')
    """
    name = re.sub(r"[^a-z0-9_]+", "-", text.lower()).strip("-_")[:40]
    return name if _NAME.fullmatch(name) else f"study-{name}".strip("-")[:40]
