import pytest

from confdiff.labelling import create_study, open_study
from confdiff.labelling.addresses import find_database
from labelling.studies import ITEMS, SETTINGS


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://me:secret@host/data",
        "postgresql://me:secret@host/data?study=",
        "postgresql://me:secret@host/data?study=My Study",
        "postgresql://me:secret@host/data?study=a&study=b",
        "postgresql://me:secret@host:port/data?study=a",
        "mysql://me:secret@host/data?study=a",
    ],
)
def test_bad_addresses_are_refused_without_their_password(address):
    with pytest.raises(ValueError, match="address") as error:
        find_database(address)
    assert "secret" not in str(error.value)
    assert "me@host" in str(error.value)


def test_passwords_are_not_shown(closing_engines):
    database = find_database("postgres://me:se%20cret@127.0.0.1:1/data?connect_timeout=2&study=jokes")
    assert database.address == "postgresql://me@127.0.0.1:1/data?connect_timeout=2&study=jokes"
    assert database.engine.url.password == "se cret"
    assert (database.name, database.schema) == ("jokes", "confdiff_jokes")
    with pytest.raises(OSError, match=r"the study postgresql://me@127\.0\.0\.1:1/data.* cannot be used") as error:
        open_study("postgres://me:se%20cret@127.0.0.1:1/data?connect_timeout=2&study=jokes")
    assert "cret" not in str(error.value).replace("secret", "")


def test_a_study_is_reopened_by_its_address(study):
    assert open_study(study.address).item_ids() == study.item_ids()


@pytest.mark.parametrize(("file", "name"), [("My jokes.db", "my-jokes"), ("2026.db", "study-2026"), ("ü.db", "study")])
def test_names_of_files(tmp_path, closing_engines, file, name):
    assert create_study(tmp_path / file, ITEMS, SETTINGS).name == name


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="cannot be written"):
        create_study(tmp_path / "file" / "animals.db", ITEMS, SETTINGS)
