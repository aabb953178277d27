"""The routes of annotators over HTTP, without a browser."""

import json
import uuid

import httpx
import pytest

from confdiff.labelling.app import create_app
from labelling.browsers import serving
from labelling.sites import answer_to, image_study, stored, text_study


@pytest.fixture
def served(study):
    """A study over each kind of database, served; Ann has a client."""
    study.invite("Ann")
    study.finish_training("Ann")
    with serving(study, rates={}) as server, server.client("Ann") as client:
        yield server.study, client


def test_a_study_from_the_first_to_the_last_question(served):
    study, client = served
    state = client.get("/api/state").json()
    assert (state["state"], state["training"]) == ("open", {"done": True, "examples": []})
    quota = state["progress"]["quota"]
    view = state["next"]
    for number in range(1, quota + 1):
        reply = client.post("/api/answers", json=answer_to(view)).json()
        assert reply["stored"]
        assert reply["progress"]["answered"] == number
        assert reply["next"] is None or reply["next"]["id"] != view["id"]
        view = reply["next"]
    assert view is None
    assert stored(study) == quota


def test_a_view_hides_everything_but_the_items(served):
    study, client = served
    view = client.get("/api/state").json()["next"]
    assert set(view) == {"id", "question", "left", "right"}
    assert [cell["column"] for cell in view["left"]["cells"]] == ["text", "size"]
    for side in ("left", "right"):
        assert all(set(cell) == {"column", "kind", "text"} for cell in view[side]["cells"])
    assert not set(study.item_ids()) & set(json.dumps(view).split('"'))


def test_the_left_of_the_screen_is_the_item_that_was_tossed(served):
    study, client = served
    for _ in range(6):
        assignment = study.next_assignment("Ann")
        view = client.get("/api/state").json()["next"]
        assert view["left"]["cells"][0]["text"] == study.item(assignment.shown_left)["text"]
        other = assignment.left + assignment.right - assignment.shown_left
        assert view["right"]["cells"][0]["text"] == study.item(other)["text"]
        client.post("/api/answers", json=answer_to(view, grade=1))
    answers = study.answers()
    favoured = answers["difference"] > 0
    right = answers["shown_first"] == answers["left"]
    assert (favoured == right).all()


def test_sending_an_answer_twice_stores_it_once(served):
    study, client = served
    body = answer_to(client.get("/api/state").json()["next"])
    replies = [client.post("/api/answers", json=body).json() for _ in range(3)]
    assert [reply["next"]["id"] for reply in replies] == [replies[0]["next"]["id"]] * 3
    assert [reply["progress"]["answered"] for reply in replies] == [1, 1, 1]
    assert stored(study) == 1


def test_undo_returns_the_question(served):
    study, client = served
    view = client.get("/api/state").json()["next"]
    client.post("/api/answers", json=answer_to(view))
    reply = client.post("/api/undo", json={}).json()
    assert reply["next"] == view
    assert reply["progress"]["answered"] == 0
    assert client.get("/api/state").json()["next"] == view
    assert client.post("/api/answers", json=answer_to(view, grade=-1)).json()["progress"]["answered"] == 1
    assert stored(study) == 1


def test_undo_of_nothing(served):
    _, client = served
    assert client.post("/api/undo", json={}).json()["next"] is None


def test_cannot_say_and_a_note_are_stored(served):
    study, client = served
    body = answer_to(
        client.get("/api/state").json()["next"], grade=None, same=None, reason="cannot say", note="B\u00e4h \U0001f600"
    )
    assert client.post("/api/answers", json=body).status_code == 200
    answers = study.answers()
    assert (answers["reason"][0], answers["note"][0]) == ("cannot say", "B\u00e4h \U0001f600")


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_pause_and_an_end(served, state):
    study, client = served
    view = client.get("/api/state").json()["next"]
    (study.pause if state == "paused" else study.close)()
    body = client.get("/api/state").json()
    assert (body["state"], body["next"]) == (state, None)
    status = client.post("/api/answers", json=answer_to(view)).status_code
    assert status == (200 if state == "paused" else 409)


def test_questions_come_after_the_training(tmp_path, closing_engines):
    study = text_study(tmp_path, trained=False, examples=(("t1", "t0", -1 / 3),))
    with serving(study) as server, server.client("Ann") as client:
        state = client.get("/api/state").json()
        assert state["next"] is None
        (example,) = state["training"]["examples"]
        assert example["left"]["cells"][0]["text"] == "Argument 1 for a longer break."
        assert (example["right"]["cells"][0]["text"], example["expected"]) == ("Argument 0 for a longer break.", -1 / 3)
        assert client.post("/api/training", json={"done": False}).status_code == 422
        assert client.post("/api/training", json={"done": True}).json()["next"] is not None
        assert client.get("/api/state").json()["training"] == {"done": True, "examples": []}


def test_media_can_be_read_in_parts(tmp_path, closing_engines):
    study = image_study(tmp_path)
    with serving(study) as server, server.client("Ann") as client:
        cell = client.get("/api/state").json()["next"]["left"]["cells"][0]
        assert set(cell) == {"column", "kind", "src"}
        whole = client.get(f"/{cell['src']}").content
        part = client.get(f"/{cell['src']}", headers={"Range": "bytes=2-9"})
    assert part.status_code == 206
    assert part.content == whole[2:10]


def test_several_studies_on_one_server(tmp_path, closing_engines):
    studies = {name: text_study(tmp_path, name=name, question=f"Which {name}?") for name in ("one", "two")}
    with serving(studies) as server, httpx.Client(base_url=server.url) as client:
        for name, study in studies.items():
            response = client.get(f"/s/{name}/join/{study.invite('Ann').token}")
            assert response.headers["location"] == "../"
            assert f"Which {name}?" in client.get(f"/s/{name}/").text
        for name, study in studies.items():
            view = client.get(f"/s/{name}/api/state").json()["next"]
            assert client.post(f"/s/{name}/api/answers", json=answer_to(view)).status_code == 200
            assert stored(study) == 1
        assert client.get("/s/one").headers["location"] == "one/"
        front = client.get("/").text
        assert "You need a link" in front
        assert "one" not in front.split()
        assert client.get("/s/three/").status_code == 404


def test_names_of_studies_in_addresses(tmp_path, closing_engines):
    study = text_study(tmp_path)
    for name in ("", "a/b", "..", "a b", "\u00e9"):
        with pytest.raises(ValueError, match="name of a study in an address"):
            create_app({name: study})


def test_the_server_says_that_it_runs(served):
    assert served[1].get("/healthz").json() == {"status": "ok"}


def test_the_next_question_comes_fast(served):
    """A generous bound: an answer is a few milliseconds of work."""
    _, client = served
    view = client.get("/api/state").json()["next"]
    reply = client.post("/api/answers", json=answer_to(view, client_id=str(uuid.uuid4())))
    assert reply.elapsed.total_seconds() < 2
