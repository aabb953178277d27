import os
import re
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import inspect

from confdiff.labelling import create_study, open_study, opening
from confdiff.labelling.addresses import find_database
from confdiff.labelling.schema import VERSION, metadata
from confdiff.labelling.tokens import digest
from labelling import schema_1, schema_2
from labelling.schema_1 import OWNER, TOKEN
from labelling.studies import ITEMS, SETTINGS, new_answer


def schema_of(database):
    """Return table -> its columns and indexes."""
    with database.reading() as connection:
        inspector = inspect(connection)
        tables = inspector.get_table_names(schema=database.schema)
        return {
            table: (
                {column["name"] for column in inspector.get_columns(table, schema=database.schema)},
                {tuple(index["column_names"]) for index in inspector.get_indexes(table, schema=database.schema)},
            )
            for table in tables
        }


def write_version(address, statements=schema_1.statements):
    database = find_database(address)
    key = "INTEGER PRIMARY KEY" if database.path else "BIGSERIAL PRIMARY KEY"
    with database.writing() as connection:
        if database.schema:
            connection.exec_driver_sql(f'CREATE SCHEMA "{database.schema}"')
            connection.exec_driver_sql(f'SET LOCAL search_path TO "{database.schema}"')
        for statement in statements(digest, key=key):
            connection.exec_driver_sql(statement)
    database.close()


@pytest.mark.parametrize("version", [schema_1, schema_2], ids=["1", "2"])
def test_a_study_of_an_older_version_is_upgraded(study_address, version):
    write_version(study_address, version.statements)
    study = open_study(study_address)
    schema = schema_of(study._database)
    assert set(schema) == {table.name for table in metadata.sorted_tables}
    for table in metadata.sorted_tables:
        columns, indexes = schema[table.name]
        assert columns == {column.name for column in table.columns}
        assert indexes >= {tuple(column.name for column in index.columns) for index in table.indexes}
    assert study.settings.question == "Which is larger?"
    assert study.is_owner(OWNER)
    assert study.annotator_of(study.exchange(TOKEN)).kind == "person"
    columns = study.answers(superseded=True)
    assert columns["difference"].tolist() == [1.0, -1.0]
    assert columns["superseded"].tolist() == [True, False]
    assert columns["note"].tolist() == [None, None]
    study.answer("Ann", new_answer(study.next_assignment("Ann"), note="new"))
    assert study.answers()["note"].tolist() == [None, "new"]
    again = open_study(study_address)
    assert len(again.answers()["left"]) == 2


def test_a_file_is_copied_before_the_upgrade(tmp_path, closing_engines):
    path = tmp_path / "animals.db"
    write_version(str(path))
    open_study(path)
    copy = tmp_path / "animals.db.version-1"
    assert copy.stat().st_mode & 0o777 == 0o600
    with sqlite3.connect(copy) as connection:
        assert connection.execute("SELECT version, owner_hash FROM study").fetchone() == (1, digest(OWNER))
        assert connection.execute("SELECT count(*) FROM answer").fetchone() == (3,)
    connection.close()
    assert {file.name for file in tmp_path.iterdir()} <= {
        "animals.db",
        "animals.db-wal",
        "animals.db-shm",
        "animals.db.version-1",
    }


def test_an_upgrade_that_fails_changes_nothing(study_address, monkeypatch):
    write_version(study_address)

    def failing(connection, prefix):
        connection.exec_driver_sql(f"ALTER TABLE {prefix}answer ADD COLUMN note TEXT")
        raise RuntimeError("no power")

    with monkeypatch.context() as patch:
        patch.setitem(opening.upgrade.__globals__["_STEPS"], 1, failing)
        with pytest.raises(RuntimeError, match="no power"):
            open_study(study_address)
    assert open_study(study_address).annotators()[0].answered == 1


def test_threads_that_open_an_old_study_upgrade_it_once(study_address):
    write_version(study_address)
    errors = []

    def open_it():
        try:
            open_study(study_address)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert open_study(study_address).annotators()[0].answered == 1


def test_a_study_of_a_later_version_is_refused(study):
    with study._database.writing() as connection:
        connection.exec_driver_sql(
            f"UPDATE {(study._database.schema and chr(34) + study._database.schema + chr(34) + '.') or ''}study "
            f"SET version = {VERSION + 1}"
        )
    address = study.address
    with pytest.raises(ValueError, match=r"written by a later version of confdiff.*Update confdiff"):
        open_study(address)


def test_an_existing_study_is_refused_and_unchanged(study):
    study.invite("Ann")
    with pytest.raises(FileExistsError, match="already exists"):
        create_study(study.address, ITEMS, SETTINGS)
    assert [annotator.name for annotator in study.annotators()] == ["Ann"]


def test_creation_is_whole_or_not_at_all(study_address, tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(opening, "insert_questions", lambda *_, **__: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            create_study(study_address, ITEMS, SETTINGS)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Create it with `confdiff label new`"):
        open_study(study_address)
    assert len(create_study(study_address, ITEMS, SETTINGS).plan()) > 0


def test_of_two_creations_at_once_one_succeeds(study_address):
    results = []

    def create():
        try:
            results.append(create_study(study_address, ITEMS, SETTINGS))
        except FileExistsError as error:
            results.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(result, FileExistsError) for result in results) == 3
    assert len(open_study(study_address).item_ids()) == len(ITEMS["id"])


def test_a_new_file_is_private_and_the_only_one(tmp_path, closing_engines):
    study = create_study(tmp_path / "animals.db", ITEMS, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["animals.db"]
    assert (tmp_path / "animals.db").stat().st_mode & 0o777 == 0o600
    study.invite("Ann")
    study.close_connections()
    assert [path.name for path in tmp_path.iterdir()] == ["animals.db"]


def test_file_systems_without_hard_links(tmp_path, closing_engines, monkeypatch):
    def no_links(source, target):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(opening.os, "link", no_links)
    create_study(tmp_path / "animals.db", ITEMS, SETTINGS)
    assert [path.name for path in tmp_path.iterdir()] == ["animals.db"]
    assert open_study(tmp_path / "animals.db").item_ids() == ITEMS["id"]
    with pytest.raises(FileExistsError):
        opening._publish(tmp_path / "other.db", tmp_path / "animals.db")


def test_several_studies_in_one_database(postgresql_server, closing_engines):
    first = create_study(f"{postgresql_server}&study=several-1", ITEMS, SETTINGS)
    second = create_study(f"{postgresql_server}&study=several-2", {"id": [1, 2], "x": [1, 2]}, SETTINGS)
    first.invite("Ann")
    assert (len(first.item_ids()), len(second.item_ids())) == (8, 2)
    assert second.annotators() == []
    second.close()
    assert (first.state, second.state) == ("open", "closed")


@pytest.mark.parametrize("contents", [b"", b"id,text\na,b\n", b"SQLite format 3\x00 and then nothing"])
def test_files_that_are_no_studies(tmp_path, contents, closing_engines):
    path = tmp_path / "animals.db"
    path.write_bytes(contents)
    with pytest.raises((ValueError, OSError), match=re.escape(str(path))):
        open_study(path)
    assert path.read_bytes() == contents
    with pytest.raises(FileExistsError, match="already exists"):
        create_study(path, ITEMS, SETTINGS)


def test_a_database_of_another_program(tmp_path, closing_engines):
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE study (id INTEGER)")
    connection.close()
    with pytest.raises(ValueError, match="is not a study of `confdiff label new`"):
        open_study(path)


def test_a_study_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"does not exist\. Create it with `confdiff label new`"):
        open_study(tmp_path / "animals.db")
    assert list(tmp_path.iterdir()) == []


def test_acknowledged_answers_survive_a_kill(tmp_path, closing_engines):
    path = tmp_path / "animals.db"
    study = create_study(path, ITEMS, SETTINGS)
    study.invite("Ann", quota=100)
    script = tmp_path / "answers.py"
    script.write_text(
        "import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent.parent)!r})\n"
        "from confdiff.labelling import open_study\n"
        "from labelling.studies import new_answer\n"
        "study = open_study(sys.argv[1])\n"
        "while assignment := study.next_assignment('Ann'):\n"
        "    answer = new_answer(assignment)\n"
        "    study.answer('Ann', answer)\n"
        "    print(answer.client_id, flush=True)\n"
    )
    process = subprocess.Popen([sys.executable, str(script), str(path)], stdout=subprocess.PIPE, text=True)
    acknowledged = [process.stdout.readline().strip() for _ in range(3)]
    os.kill(process.pid, signal.SIGKILL)
    acknowledged += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    stored = study.answers()["client_id"].tolist()
    assert len(stored) == len(set(stored))
    assert set(acknowledged) <= set(stored)
    assert len(stored) <= len(acknowledged) + 1
