"""Copy a study while it is used, by the online backup of SQLite."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from confdiff.labelling.addresses import Database


def backup_study(database: Database, target: Path, *, overwrite: bool = False) -> None:
    """Write a copy of the database to a file that does not exist.

    Raises
    ------
    ValueError
        If the study is in PostgreSQL, whose own program makes backups.
    """
    from confdiff.io.atomic import atomic_file
    from confdiff.io.outputs import check_new_file

    if database.path is None:
        raise ValueError(
            f"the study {database.address} is in PostgreSQL: make a backup with "
            f"`pg_dump -n {database.schema} -Fc -f {target.name} DATABASE`."
        )
    check_new_file(target, inputs=[database.path], overwrite=overwrite)
    with database.named_errors(), atomic_file(target, private=True) as temporary:
        copy_database(database.path, temporary)


def copy_database(source: Path, target: Path) -> None:
    """Copy a database that other processes may be writing; the copy is one file."""
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=rw", uri=True)) as reader,
        closing(sqlite3.connect(os.fspath(target))) as writer,
    ):
        reader.backup(writer, pages=1000)
        writer.execute("PRAGMA journal_mode = DELETE")
