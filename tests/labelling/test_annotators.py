import hashlib
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from confdiff.labelling import open_study, tokens
from confdiff.labelling.schema import annotators, metadata, sessions
from labelling.studies import answer_all, new_answer


def rows(study, table):
    with study._database.reading() as connection:
        return connection.execute(select(table)).all()


def everything(study):
    """Return all values of all tables as one text."""
    return " ".join(str(row) for table in metadata.sorted_tables for row in rows(study, table))


def test_a_link_becomes_a_session(study):
    invitation = study.invite("Ann", quota=7, kind="llm")
    session = study.exchange(invitation.token)
    annotator = study.annotator_of(session)
    assert (annotator.name, annotator.kind, annotator.quota, annotator.answered) == ("Ann", "llm", 7, 0)
    assert not annotator.training_done
    study.finish_training("Ann")
    assert study.annotator_of(session).training_done


def test_unknown_tokens_open_nothing(study):
    invitation = study.invite("Ann")
    for token in ("", "x", invitation.token + "x", invitation.token[:-1], "\x00", "\ud800", "' OR 1=1 --"):
        assert study.exchange(token) is None
        assert study.annotator_of(token) is None
        assert not study.is_owner(token)
    assert study.annotator_of(invitation.token) is None


def test_only_digests_of_secrets_are_stored(study):
    invitation = study.invite("Ann")
    session = study.exchange(invitation.token)
    owner = study.owner_token()
    stored = everything(study)
    for secret in (invitation.token, session, owner):
        assert len(secret) >= 22  # 128 bits in base 64
        assert secret not in stored
        assert hashlib.sha256(secret.encode()).hexdigest() in stored
    assert len({study.invite(f"annotator {k}").token for k in range(20)}) == 20


def test_tokens_of_the_owner(study, monkeypatch):
    first = study.owner_token()
    second = study.owner_token()
    assert study.is_owner(first)
    assert study.is_owner(second)
    third = study.owner_token(renew=True)
    assert [study.is_owner(token) for token in (first, second, third)] == [False, False, True]
    monkeypatch.setattr(tokens, "_MOST_OWNER_TOKENS", 20)
    for _ in range(25):
        last = study.owner_token()
    assert study.is_owner(last)
    assert not study.is_owner(third)


def test_a_revoked_link_and_its_sessions_end(study):
    invitation = study.invite("Ann")
    session = study.exchange(invitation.token)
    study.answer("Ann", new_answer(study.next_assignment("Ann")))
    study.revoke("Ann")
    assert study.exchange(invitation.token) is None
    assert study.annotator_of(session) is None
    assert rows(study, sessions) == []
    assert study.annotators()[0].revoked
    assert len(study.answers()["left"]) == 1


def test_a_further_invitation_replaces_the_link(study):
    first = study.invite("Ann", quota=5)
    session = study.exchange(first.token)
    study.answer("Ann", new_answer(study.next_assignment("Ann")))
    study.revoke("Ann")
    second = study.invite("Ann")
    assert study.exchange(first.token) is None
    assert study.annotator_of(session) is None
    annotator = study.annotator_of(study.exchange(second.token))
    assert (annotator.quota, annotator.answered, annotator.revoked) == (5, 1, False)
    assert len(study.annotators()) == 1


def test_concurrent_invitations_of_one_name_make_one_annotator(study):
    threads = [threading.Thread(target=study.invite, args=("Ann",)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [annotator.name for annotator in study.annotators()] == ["Ann"]


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x00b", "x" * 101, None, 7])
def test_bad_names_are_refused(study, name):
    with pytest.raises(ValueError, match="name must be a text of 1 to 100 printable characters"):
        study.invite(name)
    assert study.annotators() == []


@pytest.mark.parametrize(
    ("values", "message"),
    [({"quota": -1}, "quota must be"), ({"quota": 1.5}, "quota must be"), ({"kind": "robot"}, "unknown kind 'robot'")],
)
def test_bad_invitations_are_refused(study, values, message):
    with pytest.raises(ValueError, match=message):
        study.invite("Ann", **values)


@pytest.mark.parametrize("method", ["revoke", "delete_annotator", "progress", "finish_training", "next_assignment"])
@pytest.mark.parametrize("name", ["Bob", "B\x00b", "\ud800"])
def test_unknown_annotators_are_refused(study, method, name):
    with pytest.raises(ValueError, match="no annotator is named"):
        getattr(study, method)(name)


def test_progress(study):
    study.invite("Ann", quota=4)
    assert study.progress("Ann").seconds_per_answer is None
    for seconds in (1.0, 2.0, 30.0):
        study.answer("Ann", new_answer(study.next_assignment("Ann"), seconds=seconds))
    progress = study.progress("Ann")
    assert (progress.answered, progress.quota, progress.seconds_per_answer) == (3, 4, 2.0)


def test_the_default_quota_is_an_equal_part(study):
    names = ["Ann", "Ben", "Eva"]
    for name in names:
        study.invite(name)
    plan = study.plan()
    assert {annotator.quota for annotator in study.annotators()} == {-(-len(plan) // 2)}
    study.next_assignment("Ann")
    assert study.annotators()[0].quota == sum(question.slot == 0 for question in plan)


def test_deletion_removes_every_trace_and_frees_the_questions(study):
    study.invite("Ann")
    invitation = study.invite("Zebulon Quix", quota=100)
    session = study.exchange(invitation.token)
    given = answer_all(study, "Zebulon Quix")
    study.undo("Zebulon Quix")
    study.answer("Zebulon Quix", new_answer(given[-1], note="unmistakable remark"))
    count = study.delete_annotator("Zebulon Quix")
    assert count == len(given)
    assert study.annotator_of(session) is None
    assert [annotator.name for annotator in study.annotators()] == ["Ann"]
    stored = everything(study)
    assert "Zebulon" not in stored
    assert "unmistakable" not in stored
    assert "Zebulon Quix" not in study.answers(superseded=True)["annotator"].tolist()
    if study._database.path is not None:
        for path in Path(study.address).parent.glob("animals.db*"):
            assert b"Zebulon" not in path.read_bytes(), path
            assert b"unmistakable" not in path.read_bytes(), path
    study.set_quota("Ann", 100)
    answer_all(study, "Ann")
    columns = study.answers()
    pairs = {frozenset(pair) for pair in zip(columns["left"], columns["right"], strict=True)}
    ids = study.item_ids()
    assert pairs == {frozenset((ids[q.left], ids[q.right])) for q in study.plan()}


def test_deletion_while_another_process_has_the_study_open(study):
    other = open_study(study.address)
    study.invite("Ann")
    answer_all(other, "Ann")
    assert study.delete_annotator("Ann") > 0
    assert other.annotators() == []
    assert rows(other, annotators) == []
