import threading

import pytest

from confdiff.labelling import create_study, open_study
from labelling.studies import ITEMS, SETTINGS, answer_all


@pytest.fixture
def on_file(tmp_path, closing_engines):
    return create_study(tmp_path / "animals.db", ITEMS, SETTINGS)


def test_a_backup_while_answers_come_in(on_file, tmp_path):
    for k in range(3):
        on_file.invite(f"annotator {k}", quota=100)
    threads = [threading.Thread(target=answer_all, args=(on_file, f"annotator {k}")) for k in range(3)]
    for thread in threads:
        thread.start()
    on_file.backup(tmp_path / "copy.db")
    for thread in threads:
        thread.join()
    on_file.backup(tmp_path / "later.db")
    ids = on_file.answers()["client_id"].tolist()
    early = open_study(tmp_path / "copy.db").answers()["client_id"].tolist()
    assert early == ids[: len(early)]
    assert open_study(tmp_path / "later.db").answers()["client_id"].tolist() == ids
    assert open_study(tmp_path / "later.db").settings == on_file.settings


def test_a_backup_is_as_private_as_the_study(on_file, tmp_path):
    on_file.backup(tmp_path / "copy.db")
    assert (tmp_path / "copy.db").stat().st_mode & 0o777 == 0o600


def test_an_existing_file_is_not_replaced(on_file, tmp_path):
    on_file.backup(tmp_path / "copy.db")
    with pytest.raises(FileExistsError, match="already exists"):
        on_file.backup(tmp_path / "copy.db")
    on_file.backup(tmp_path / "copy.db", overwrite=True)
    with pytest.raises(OSError, match="is an input of this run"):
        on_file.backup(tmp_path / "animals.db", overwrite=True)
    assert on_file.item_ids() == ITEMS["id"]


@pytest.mark.parametrize("study_address", ["postgresql"], indirect=True)
def test_postgresql_has_its_own_program(study_address, tmp_path):
    study = create_study(study_address, ITEMS, SETTINGS)
    with pytest.raises(ValueError, match="is in PostgreSQL: make a backup with `pg_dump -n confdiff_animals"):
        study.backup(tmp_path / "copy.db")
    assert list(tmp_path.iterdir()) == []
