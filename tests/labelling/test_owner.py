"""The routes of the owner: only with the link, every change at once, and nothing that slows annotators down."""

import csv
import io
import time

import pytest

from confdiff.labelling.app import create_app
from confdiff.labelling.app.owner import owner_router
from confdiff.labelling.live_report import LiveReport
from labelling.clients import client_of
from labelling.simulated import simulated_study

POSTS = {
    "invite": {"name": "Eve"},
    "revoke": {"name": "Ann"},
    "quota": {"name": "Ann", "quota": 3},
    "pause": {},
    "resume": {},
    "close": {},
}
GETS = ("owner", "owner/api/report", "owner/api/export/pairs.csv", "owner/api/export/items.csv")


@pytest.fixture
def judged(tmp_path):
    study = simulated_study(tmp_path / "sizes.db", n_answers=40)
    yield study
    study.close_connections()


@pytest.fixture
def app(judged):
    return create_app(judged)


@pytest.fixture
def stranger(app):
    return client_of(app)


@pytest.fixture
def owner(app, judged):
    client = client_of(app)
    assert client.get(f"/owner/join/{judged.owner_token()}").status_code == 303
    return client


def test_the_link_leads_to_the_page_and_leaves_no_token_in_the_address(stranger, judged):
    token = judged.owner_token()
    response = stranger.get(f"/owner/join/{token}")
    assert response.headers["location"] == "../../owner"
    cookie = response.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    page = stranger.get("/owner")
    assert page.status_code == 200
    assert "Sizes" in page.text
    assert token not in page.text


def test_pages_have_no_inline_script_or_style(owner):
    page = owner.get("/owner").text
    assert " style=" not in page
    assert "<style" not in page
    assert page.count("<script") == page.count("<script src=") + page.count('<script type="application/json"')
    assert " onclick=" not in page


@pytest.mark.parametrize("path", GETS)
def test_reading_needs_the_link(stranger, path):
    assert stranger.get(f"/{path}").status_code in (401, 403)


@pytest.mark.parametrize("name", POSTS)
def test_changes_need_the_link(stranger, judged, name):
    before = [judged.state, judged.annotators()]
    assert stranger.post(f"/owner/api/{name}", json=POSTS[name]).status_code == 401
    assert [judged.state, judged.annotators()] == before


@pytest.mark.parametrize("token", ["wrong", "a" * 300, "..", "%00"])
def test_a_wrong_link_is_refused(stranger, token):
    assert stranger.get(f"/owner/join/{token}").status_code in (403, 404)


def test_an_annotator_is_not_an_owner(stranger, judged):
    stranger.get(f"/join/{judged.invite('Eve').token}")
    assert stranger.get("/").status_code == 200
    assert stranger.get("/owner/api/report").status_code == 401
    assert stranger.post("/owner/api/close", json={}).status_code == 401


def test_a_renewed_link_ends_the_old_one(owner, judged):
    assert owner.get("/owner").status_code == 200
    judged.owner_token(renew=True)
    assert owner.get("/owner").status_code == 403
    assert owner.get("/owner/api/report").status_code == 401


def test_changes_of_another_site_are_refused(owner, judged):
    headers = {"Origin": "https://evil.example"}
    assert owner.post("/owner/api/close", json={}, headers=headers).status_code == 403
    assert judged.state == "open"


def test_an_invitation_gives_a_link_that_works(owner, stranger, judged):
    content = owner.post("/owner/api/invite", json={"name": "Eve", "quota": 7}).json()
    assert content["annotators"][-1]["name"] == content["name"] == "Eve"
    assert stranger.get(f"/{content['link']}").status_code == 303
    state = stranger.get("/api/state").json()
    assert state["progress"]["quota"] == 7
    assert judged.annotators()[-1].kind == "person"


def test_a_further_invitation_replaces_the_link(owner, stranger, judged):
    first = owner.post("/owner/api/invite", json={"name": "Eve"}).json()["link"]
    second = owner.post("/owner/api/invite", json={"name": "Eve"}).json()["link"]
    assert stranger.get(f"/{first}").status_code == 403
    assert stranger.get(f"/{second}").status_code == 303
    assert [row.name for row in judged.annotators()].count("Eve") == 1


def test_a_revoked_annotator_cannot_answer(owner, stranger, judged):
    stranger.get(f"/join/{judged.invite('Eve').token}")
    content = owner.post("/owner/api/revoke", json={"name": "Eve"}).json()
    assert content["annotators"][-1]["revoked"]
    assert stranger.get("/api/state").status_code == 401


def test_quotas_change_at_once_and_null_is_that_of_the_study(owner, judged):
    before = judged.progress("Ann").quota
    assert owner.post("/owner/api/quota", json={"name": "Ann", "quota": 3}).json()["annotators"][0]["quota"] == 3
    assert judged.next_assignment("Ann") is None
    owner.post("/owner/api/quota", json={"name": "Ann", "quota": None})
    assert judged.progress("Ann").quota == before


def test_the_state_changes(owner, judged):
    for name, state in (("pause", "paused"), ("resume", "open"), ("close", "closed"), ("resume", "open")):
        assert owner.post(f"/owner/api/{name}", json={}).json()["state"] == state == judged.state


@pytest.mark.parametrize("name", ["revoke", "quota"])
def test_unknown_annotators_are_named(owner, name):
    response = owner.post(f"/owner/api/{name}", json=POSTS[name] | {"name": "nobody"})
    assert response.status_code == 404
    assert "annotator" in response.json()["message"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "a" * 101},
        {"name": "a\x00b"},
        {"name": 3},
        {"name": "Eve", "quota": -1},
        {"name": "Eve", "quota": 1.5},
        {"name": "Eve", "more": 1},
        [],
    ],
)  # fmt: skip (one row per kind of fault)
def test_wrong_invitations_are_refused_with_a_message(owner, judged, body):
    count = len(judged.annotators())
    response = owner.post("/owner/api/invite", json=body)
    assert response.status_code == 422
    assert response.json()["message"]
    assert len(judged.annotators()) == count


def test_exports_are_the_tables_of_the_study(owner, judged):
    response = owner.get("/owner/api/export/pairs.csv")
    assert "attachment" in response.headers["content-disposition"]
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["left"] for row in rows] == judged.pairs()["left"].tolist()
    items = list(csv.DictReader(io.StringIO(owner.get("/owner/api/export/items.csv").text)))
    assert len(items) == 40
    assert owner.get("/owner/api/export/answer.csv").status_code in (404, 422)


def test_the_report_arrives_without_waiting(owner):
    began = time.monotonic()
    first = owner.get("/owner/api/report").json()
    assert time.monotonic() < began + 5
    assert first["report"] is None
    assert first["annotators"][0]["answered"] == 10
    while (content := owner.get("/owner/api/report").json())["report"] is None:
        assert time.monotonic() < began + 60
        assert content["problem"] is None
        time.sleep(0.2)
    assert content["report"]["answers"] == 40


def test_a_report_that_fails_is_a_message(judged, app):
    from fastapi import FastAPI

    from confdiff.labelling.app.limits import RateLimiter
    from confdiff.labelling.app.site import Site

    def broken():
        raise OSError("disk on fire")

    site = Site(study=judged, limiter=RateLimiter(), secure=False)
    other = FastAPI()
    other.include_router(owner_router(site, LiveReport(broken, interval=0)))
    client = client_of(other)
    client.get(f"/owner/join/{judged.owner_token()}")
    while (content := client.get("/owner/api/report").json())["problem"] is None:
        time.sleep(0.01)
    assert content["problem"] == "disk on fire"
    assert content["state"] == "open"


def test_texts_of_annotators_are_data_and_not_html(owner):
    name = "<img src=x onerror=alert(1)>"
    content = owner.post("/owner/api/invite", json={"name": name}).json()
    assert content["name"] == name
    assert owner.get("/owner").text.count("onerror") == 0
