"""Create the database of a study whole or not at all, and open it with the tables of this version."""

import json
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, text

from confdiff.labelling.addresses import Database, find_database, sqlite_database
from confdiff.labelling.backup import copy_database
from confdiff.labelling.checking import checked_settings
from confdiff.labelling.planning import insert_questions, planned_questions
from confdiff.labelling.recognising import Address, is_study_address
from confdiff.labelling.schema import VERSION, check_version, has_study, metadata, studies, upgrade, version_of
from confdiff.labelling.settings import StudySettings
from confdiff.labelling.stored_items import insert_items, types_of
from confdiff.tabular.tables import ItemTable, read_items

if TYPE_CHECKING:
    from confdiff.labelling.design import PlannedQuestion


def create_database(address: Address, source: Any, settings: StudySettings) -> Database:
    """Create the database of a study; see :func:`~confdiff.labelling.study.create_study`."""
    database = find_database(address)
    try:
        check_new(database)
        items = source if isinstance(source, ItemTable) else read_items(source)
        settings = checked_settings(settings, items)
        plan = planned_questions(settings, list(map(str, items.ids.tolist())))
        if database.path is None:
            _fill(database, items, settings, plan)
        else:
            _create_file(database, database.path, items, settings, plan)
    except BaseException:
        database.close()
        raise
    return database


def check_new(database: Database) -> None:
    """Refuse a study that exists."""
    path = database.path
    if path is not None:
        from confdiff.io.outputs import check_new_file

        if os.path.lexists(path):
            raise FileExistsError(f"{path} already exists. Choose another name for the new study.")
        check_new_file(path)
        return
    with database.reading() as connection:
        if has_study(connection, database.schema):
            raise _exists(database)


def _exists(database: Database) -> FileExistsError:
    return FileExistsError(f"the study {database.address} already exists. Choose another name for the new study.")


def _create_file(
    database: Database, path: Path, items: ItemTable, settings: StudySettings, plan: "list[PlannedQuestion]"
) -> None:
    """Fill a temporary file next to the path, and link it there, which fails if the path exists by now."""
    from confdiff.io.temporary import temporary_file

    path.parent.mkdir(parents=True, exist_ok=True)
    with temporary_file(path) as temporary:
        filled = sqlite_database(temporary, name=database.name)
        try:
            _fill(filled, items, settings, plan)
        finally:
            filled.close()
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        try:
            _publish(temporary, path)
        except FileExistsError as error:
            raise _exists(database) from error


def _publish(temporary: Path, path: Path) -> None:
    """Give a finished file its name, which must be free; only its owner can read it, because answers are personal."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        raise
    except OSError:  # the file system has no hard links
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
        temporary.replace(path)


def _fill(database: Database, items: ItemTable, settings: StudySettings, plan: "list[PlannedQuestion]") -> None:
    """Create and fill the tables in one transaction."""
    with database.writing() as connection:
        _lock_tables(connection, database)
        if database.schema is not None:
            if has_study(connection, database.schema):
                raise _exists(database)
            connection.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{database.schema}"')
        metadata.create_all(connection, checkfirst=False)
        connection.execute(
            insert(studies).values(
                id=1,
                version=VERSION,
                name=database.name,
                settings=settings.to_json(),
                id_column=items.id_name,
                columns=json.dumps(types_of(items)),
                state="open",
                created_at=time.time(),
            )
        )
        insert_items(connection, items)
        insert_questions(connection, plan, first=0, n_items=len(items))


def open_database(address: Address) -> Database:
    """Open the database of a study, and upgrade its tables."""
    database = find_database(address)
    path = database.path
    if path is not None:
        _check_file(path)
    with database.reading() as connection:
        if not has_study(connection, database.schema):
            raise _not_a_study(database)
        version = version_of(connection)
    check_version(database.address, version)
    if version < VERSION:
        _upgrade(database, version)
    return database


def _check_file(path: Path) -> None:
    if not path.exists():
        raise FileNotFoundError(f"the study {path} does not exist. Create it with `confdiff label new`.")
    if not is_study_address(path):
        raise ValueError(f"{path} is not a study of `confdiff label new`.")


def _not_a_study(database: Database) -> Exception:
    if database.path is not None:
        return ValueError(f"{database.path} is not a study of `confdiff label new`.")
    return FileNotFoundError(f"the study {database.address} does not exist. Create it with `confdiff label new`.")


def _upgrade(database: Database, version: int) -> None:
    """Upgrade older tables, unless another process does; a file is copied first, to a name with the version."""
    with database.writing() as connection:
        _lock_tables(connection, database)
        if version_of(connection) == VERSION:
            return
        if database.path is not None:
            _keep_copy(database.path, version)
        upgrade(connection, database.schema)


def _lock_tables(connection: Connection, database: Database) -> None:
    """Wait for other processes that create or upgrade the tables; in SQLite every transaction that writes does that."""
    if database.schema is not None:
        connection.execute(text("SELECT pg_advisory_xact_lock(hashtext(:name))"), {"name": database.schema})


def _keep_copy(path: Path, version: int) -> None:
    from confdiff.io.atomic import atomic_file

    copy = path.with_name(f"{path.name}.version-{version}")
    if not copy.exists():
        with atomic_file(copy, private=True) as temporary:
            copy_database(path, temporary)
