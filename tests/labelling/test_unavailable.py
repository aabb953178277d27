"""A database that cannot be used for a moment delays answers, and loses none."""

import sqlite3
from dataclasses import asdict

import pytest

from confdiff.labelling import addresses
from confdiff.labelling.addresses import StudyUnavailable
from confdiff.labelling.annotators import UnknownAnnotator
from confdiff.labelling.app import create_app
from labelling.clients import client_of
from labelling.sites import text_study
from labelling.studies import new_answer


@pytest.fixture
def study(tmp_path, monkeypatch, closing_engines):
    monkeypatch.setattr(addresses, "_BUSY_MILLISECONDS", 50)
    return text_study(tmp_path)


@pytest.fixture
def client(study):
    client = client_of(create_app(study))
    client.get(f"/join/{study.invite('Ann').token}")
    return client


@pytest.fixture
def locked(study):
    """Another program that writes to the file."""
    connection = sqlite3.connect(study.address, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    yield connection
    connection.close()


def test_a_locked_file_is_named(study, locked):
    with pytest.raises(StudyUnavailable, match=r"the study .*texts\.db cannot be used: database is locked"):
        study.pause()
    locked.execute("ROLLBACK")
    study.pause()
    assert study.state == "paused"


def test_traces_that_cannot_be_removed_now_are_one_message(study, locked):
    with pytest.raises(StudyUnavailable, match=r"the study .*texts\.db cannot be used: database is locked"):
        study._database.remove_traces()
    locked.execute("ROLLBACK")
    study._database.remove_traces()


def test_the_page_sends_answers_again(study, client, locked):
    locked.execute("ROLLBACK")
    body = asdict(new_answer(study.next_assignment("Ann")))
    locked.execute("BEGIN IMMEDIATE")
    refused = client.post("/api/answers", json=body)
    assert refused.status_code == 503
    assert refused.headers["retry-after"] == "2"
    assert study.address not in refused.text
    locked.execute("ROLLBACK")
    stored = client.post("/api/answers", json=body)
    assert stored.status_code == 200
    assert len(study.answers()["left"]) == 1


def test_an_annotator_who_is_deleted_during_a_request(study, client, monkeypatch):
    body = asdict(new_answer(study.next_assignment("Ann")))

    def deleted(*_):
        raise UnknownAnnotator("no annotator is named 'Ann'; the study has none.")

    monkeypatch.setattr(study, "answer_and_next", deleted)
    assert client.post("/api/answers", json=body).status_code == 401
