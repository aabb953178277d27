"""Each point of the list in the threat model, as a request to a live server."""

import json
import re
import socket
import subprocess
import sys
import uuid
from pathlib import Path

import httpx
import pytest

import confdiff.labelling
from confdiff.labelling.app.limits import RATES, Rate
from confdiff.labelling.app.security import PAGE_POLICY
from confdiff.labelling.app.serving import AccessLog, check_host, is_loopback, listen
from labelling.browsers import serving
from labelling.sites import answer_to, hostile_study, image_study, stored, text_study

PAGES = Path(confdiff.labelling.__file__).parent / "pages"


@pytest.fixture
def server(tmp_path, closing_engines):
    with serving(text_study(tmp_path)) as server:
        yield server


@pytest.fixture
def ann(server):
    with server.client("Ann") as client:
        yield client


@pytest.fixture(scope="module")
def untouched(tmp_path_factory):
    """A server for tests that change nothing, with a client."""
    study = text_study(tmp_path_factory.mktemp("untouched"))
    with serving(study, rates={}) as server, server.client("Ann") as client:
        yield server, client
    study.close_connections()


def answer_body(client):
    return answer_to(client.get("/api/state").json()["next"])


def raw_post(client, path, content, **headers):
    return client.post(path, content=content, headers={"Content-Type": "application/json"} | headers)


# Texts


def test_templates_escape_every_value(tmp_path, closing_engines):
    with serving(hostile_study(tmp_path)) as server, server.client("Ann") as ann:
        page = ann.get("/").text
    assert "<img" not in re.sub(r'<img[^>]*src="static/icon.svg"[^>]*>|<img id="zoom-image" alt="">', "", page)
    scripts = re.findall(r"<script[^>]*>", page)
    assert scripts == ['<script src="static/judge.js" defer>', '<script type="application/json" id="texts">']
    assert "<b>" not in page
    assert "javascript:" not in re.sub(r'title="[^"]*"', "", page).replace("[x](javascript:alert(6))", "")


def test_values_in_the_json_of_a_page_cannot_end_it(tmp_path, closing_engines):
    with serving(hostile_study(tmp_path)) as server, server.client("Ann") as ann:
        page = ann.get("/").text
    inside = re.search(r'id="texts">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(inside)["question"] == "<img src=x onerror=alert('question')>"
    assert "<" not in inside


def test_scripts_of_the_pages_write_texts_and_never_html():
    for path in (PAGES / "static").glob("*.js"):
        source = path.read_text()
        for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
            assert forbidden not in source, f"{path.name}: {forbidden}"


def test_templates_switch_escaping_nowhere_off():
    templates = list(PAGES.glob("*.html"))
    assert templates
    for path in templates:
        assert not re.search(r"\|\s*safe|autoescape|Markup", path.read_text()), path.name


def test_pages_have_no_scripts_or_styles_of_their_own():
    for path in PAGES.glob("*.html"):
        source = path.read_text()
        assert not re.search(r"\son\w+=|\sstyle=|<style|javascript:|https?://", source), path.name


# Headers


@pytest.mark.parametrize(
    "path", ["/", "/api/state", "/healthz", "/static/judge.js", "/nothing", "/join/x", "/owner", "/media/0/0"]
)
def test_headers_of_every_response(untouched, path):
    server, ann = untouched
    for response in (ann.get(path), httpx.get(server.url + path)):
        headers = response.headers
        assert headers["content-security-policy"] == PAGE_POLICY
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in headers


def test_the_policy_allows_the_server_itself_and_nothing_else():
    policy = dict(part.split(" ", 1) for part in PAGE_POLICY.split("; "))
    assert policy.pop("default-src") == "'none'"
    own = {name for name, value in policy.items() if value == "'self'"}
    assert own == {"script-src", "style-src", "img-src", "media-src", "connect-src"}
    assert {name for name, value in policy.items() if value == "'none'"} == {
        "frame-ancestors",
        "base-uri",
        "form-action",
    }
    assert len(policy) == 8


def test_an_unexpected_error_shows_no_details(server, ann, monkeypatch, caplog):
    def fail(name):
        raise RuntimeError("a secret")

    monkeypatch.setattr(server.study, "progress", fail)
    response = ann.get("/api/state")
    assert response.status_code == 500
    assert "secret" not in response.text
    assert set(response.json()) == {"message"}
    assert response.headers["content-security-policy"] == PAGE_POLICY
    assert "a secret" in caplog.text


# Media


@pytest.fixture
def images(tmp_path, closing_engines):
    study = image_study(tmp_path)
    with serving(study) as server, server.client("Ann") as client:
        client.get(f"/owner/join/{study.owner_token()}")  # the owner sees all media
        yield client, tmp_path / "media", server


def test_media_are_served_by_the_number_of_the_item(images):
    client, media, _ = images
    response = client.get("/media/3/0")
    assert response.content == (media / "3.png").read_bytes()
    assert response.headers["content-type"] == "image/png"


@pytest.mark.parametrize(
    "path",
    ["/media/8/0", "/media/-1/0", "/media/0/1", "/media/0/-1", "/media/99999999999999999999/0", "/media/0/photo"],
)
def test_media_that_do_not_exist(images, path):
    response = images[0].get(path)
    assert response.status_code in (404, 422)
    assert set(response.json()) == {"message"}


@pytest.mark.parametrize(
    "path", ["/media/0/..%2f..%2fetc%2fpasswd", "/media/..%2f0/0", "/media/0/0/../../x", "/media//0"]
)
def test_a_path_in_the_address_is_never_a_path_of_a_file(images, path):
    assert images[0].get(path).status_code in (404, 422)


def test_annotators_see_the_media_of_their_questions_only(images):
    _, _, server = images
    with server.client("Bob") as bob:
        assert {bob.get(f"/media/{item}/0").status_code for item in range(8)} == {404}
        assignment = server.study.next_assignment("Bob")
        shown = {item for item in range(8) if bob.get(f"/media/{item}/0").status_code == 200}
        assert shown == {assignment.left, assignment.right}


def test_media_need_a_cookie(images):
    client, _, server = images
    assert client.get("/media/0/0").status_code == 200
    assert httpx.get(f"{server.url}/media/0/0").status_code == 401


def test_a_link_out_of_the_folder_is_not_followed(images):
    client, media, _ = images
    outside = media.parent / "secret.png"
    outside.write_bytes(b"secret")
    (media / "2.png").unlink()
    (media / "2.png").symlink_to(outside)
    assert client.get("/media/2/0").status_code == 404
    (media / "4.png").unlink()
    (media / "4.png").symlink_to(media / "5.png")
    assert client.get("/media/4/0").content == (media / "5.png").read_bytes()


def test_a_cell_that_leads_out_of_the_folder_is_not_served(images, monkeypatch):
    client, media, server = images
    (media.parent / "outside.png").write_bytes(b"secret")
    for cell in ("../outside.png", str(media.parent / "outside.png"), "\x00.png", "", "a" * 5000, None):
        monkeypatch.setattr(server.study, "item", lambda number, cell=cell: {"id": "x", "photo": cell})
        assert client.get("/media/0/0").status_code == 404, cell


def test_only_images_and_sounds_are_served(images, monkeypatch):
    client, media, server = images
    for name in ("page.html", "study.db", "script.js", "image.PNG.exe", "noending"):
        (media / name).write_text("<script>alert(1)</script>")
        monkeypatch.setattr(server.study, "item", lambda number, name=name: {"id": "x", "photo": name})
        assert client.get("/media/0/0").status_code == 404, name


def test_svg_runs_nothing_and_opens_only_inside_pages(images, monkeypatch):
    client, media, server = images
    (media / "x.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')
    monkeypatch.setattr(server.study, "item", lambda number: {"id": "x", "photo": "x.svg"})
    response = client.get("/media/0/0", headers={"Sec-Fetch-Dest": "image"})
    assert response.headers["content-type"] == "image/svg+xml"
    policy = response.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "sandbox" in policy
    for place in ("document", "iframe", "object", "embed"):
        assert client.get("/media/0/0", headers={"Sec-Fetch-Dest": place}).status_code == 403


# Cookies, tokens and origins


def test_the_cookie_is_invisible_to_scripts_and_to_other_sites(server):
    response = httpx.get(server.link("Ben"))
    cookie = response.headers["set-cookie"]
    assert response.status_code == 303
    assert "; HttpOnly" in cookie
    assert "; SameSite=strict" in cookie
    assert "Domain" not in cookie


def test_behind_tls_the_cookie_is_sent_through_tls_only(tmp_path, closing_engines):
    with serving(text_study(tmp_path), secure=True) as server:
        cookie = httpx.get(server.link("Ben")).headers["set-cookie"]
    assert cookie.startswith("__Host-")
    assert "; Secure" in cookie
    assert "; Path=/;" in cookie


def test_the_link_leads_to_an_address_without_the_token(server):
    link = server.link("Ben")
    response = httpx.get(link)
    assert response.headers["location"] == "../"
    assert link.rsplit("/", 1)[1] not in response.text + str(response.headers)


def test_the_cookie_is_not_the_token_of_the_link(server):
    link = server.link("Ben")
    assert link.rsplit("/", 1)[1] not in httpx.get(link).headers["set-cookie"]


@pytest.mark.parametrize("token", ["x", "a" * 5000, "%00", "..%2f", "%F0%9F%98%80", "' OR 1=1 --"])
def test_unknown_tokens_open_nothing(untouched, token):
    server = untouched[0]
    response = httpx.get(f"{server.url}/join/{token}")
    assert response.status_code in (403, 404)
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", None])
def test_only_json_is_accepted(untouched, kind):
    server, ann = untouched
    body = json.dumps(answer_body(ann))
    response = ann.post("/api/answers", content=body, headers={"Content-Type": kind} if kind else {})
    assert response.status_code == 415
    assert stored(server.study) == 0


@pytest.mark.parametrize("origin", ["https://example.org", "null", "http://127.0.0.1", "http://127.0.0.1:1", "x\u00e9"])
@pytest.mark.parametrize("path", ["/api/answers", "/api/undo", "/api/training", "/owner/api/pause"])
def test_another_origin_changes_nothing(untouched, origin, path):
    server, ann = untouched
    response = ann.post(path, json=answer_body(ann), headers={"Origin": origin.encode()})
    assert response.status_code == 403
    assert stored(server.study) == 0
    assert server.study.state == "open"


def test_the_own_origin_is_accepted(server, ann):
    assert ann.post("/api/answers", json=answer_body(ann), headers={"Origin": server.url}).json()["stored"]


def test_a_browser_that_reports_another_site_is_refused(ann):
    for site in ("cross-site", "same-site"):
        response = ann.post("/api/answers", json=answer_body(ann), headers={"Sec-Fetch-Site": site})
        assert response.status_code == 403


def test_behind_tls_the_origin_is_the_one_with_tls(tmp_path, closing_engines):
    with serving(text_study(tmp_path), secure=True) as server, httpx.Client(base_url=server.url) as client:
        own = server.url.replace("http", "https")
        for origin, status in ((server.url, 403), (own, 401)):
            assert client.post("/api/undo", json={}, headers={"Origin": origin}).status_code == status


# Limits


def test_fast_requests_of_one_cookie_have_to_wait(tmp_path, closing_engines):
    rates = dict(RATES) | {"api": Rate(per_second=0.5, burst=3)}
    with serving(text_study(tmp_path), rates=rates) as server, server.client("Ann") as ann, server.client("Ben") as ben:
        statuses = [ann.get("/api/state").status_code for _ in range(4)]
        response = ann.get("/api/state")
        other = ben.get("/api/state").status_code
    assert statuses == [200, 200, 200, 429]
    assert 1 <= int(response.headers["retry-after"]) <= 2
    assert "try again" in response.json()["message"]
    assert other == 200


def test_guessing_links_is_slow(tmp_path, closing_engines):
    rates = dict(RATES) | {"join": Rate(per_second=0.1, burst=2)}
    with serving(text_study(tmp_path), rates=rates) as server:
        responses = [httpx.get(f"{server.url}/join/guess{k}") for k in range(3)]
        owner = httpx.get(f"{server.url}/owner/join/guess")
    assert [response.status_code for response in responses] == [403, 403, 429]
    assert int(responses[-1].headers["retry-after"]) <= 10
    assert owner.status_code == 429


def test_guessing_cookies_is_slow(tmp_path, closing_engines):
    rates = dict(RATES) | {"stranger": Rate(per_second=0.1, burst=2)}
    with serving(text_study(tmp_path), rates=rates) as server, server.client("Ann") as ann:
        name = next(iter(ann.cookies.keys()))
        guesses = [{"Cookie": f"{name}=guess{k}"} for k in range(3)]
        statuses = [httpx.get(f"{server.url}/api/state", headers=guess).status_code for guess in guesses]
        assert ann.get("/api/state").status_code == 200
    assert statuses == [401, 401, 429]


def test_a_large_body_is_refused(server, ann):
    body = json.dumps(answer_body(ann) | {"note": "x" * 70_000})
    assert raw_post(ann, "/api/answers", body).status_code == 413
    chunks = (b"[" * 1000 for _ in range(100))
    assert raw_post(ann, "/api/answers", chunks).status_code == 413
    assert stored(server.study) == 0


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "99999999999999999999999"])
def test_a_wrong_length_is_refused(server, length):
    port = int(server.url.rsplit(":", 1)[1])
    request = (
        f"POST /api/undo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(request.encode())
        status = int(connection.recv(4096).split()[1])
    assert 400 <= status < 500


# Bodies


def with_value(name, value):
    """Return the JSON of an answer with one value as written."""
    body = {"assignment": 1, "client_id": str(uuid.uuid4()), "grade": 0, "note": None, "seconds": 1}
    parts = {key: json.dumps(part) for key, part in body.items()} | {name: value}
    return "{" + ", ".join(f'"{key}": {part}' for key, part in parts.items()) + "}"


BODIES = {
    "nothing": "",
    "no JSON": "{",
    "an array": "[]",
    "a number": "1",
    "null": "null",
    "deep": "[" * 30_000,
    "deep value": with_value("note", "[" * 20_000 + "]" * 20_000),
    "no UTF-8": b'{"note": "\xff"}',
    "NaN": with_value("grade", "NaN"),
    "Infinity": with_value("grade", "Infinity"),
    "large number": with_value("grade", "1e400"),
    "outside": with_value("grade", "1.01"),
    "between the points": with_value("grade", "0.5"),
    "text as grade": with_value("grade", '"1"'),
    "true as grade": with_value("grade", "true"),
    "many digits": with_value("assignment", "9" * 5000),
    "huge id": with_value("assignment", "9" * 30),
    "negative id": with_value("assignment", "-1"),
    "text as id": with_value("assignment", '"1"'),
    "fraction as id": with_value("assignment", "1.5"),
    "no UUID": with_value("client_id", '"1"'),
    "long UUID": with_value("client_id", json.dumps("0" * 10_000)),
    "surrogate": with_value("note", '"\\ud800"'),
    "NUL": with_value("note", '"a\\u0000b"'),
    "long note": with_value("note", json.dumps("x" * 3000)),
    "note of a number": with_value("note", "1"),
    "negative seconds": with_value("seconds", "-1"),
    "NaN seconds": with_value("seconds", "NaN"),
    "another reason": with_value("reason", '"tired"'),
    "two answers": with_value("reason", '"cannot say"'),
    "unknown field": with_value("extra", "1"),
    "foreign assignment": with_value("assignment", "999999"),
    "answer to another question": with_value("same", "1"),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_a_wrong_body_gets_one_clear_message(untouched, body):
    server, ann = untouched
    ann.get("/api/state")
    response = raw_post(ann, "/api/answers", body)
    assert 400 <= response.status_code < 500
    message = response.json()["message"]
    assert set(response.json()) == {"message"}
    assert message.isascii()
    assert 10 < len(message) < 300
    assert stored(server.study) == 0


def test_the_assignment_of_another_annotator_cannot_be_answered(server, ann):
    with server.client("Ben") as ben:
        ben.post("/api/training", json={"done": True})
        foreign = answer_body(ben)
        assert ann.post("/api/answers", json=foreign).status_code == 409
        assert stored(server.study) == 0
        assert ben.post("/api/answers", json=foreign).status_code == 200


# The owner, registration and documentation


@pytest.mark.parametrize(
    "path", ["/owner", "/owner/api/report", "/owner/api/export/pairs.csv", "/owner/api/export/items.csv"]
)
def test_pages_of_the_owner_need_the_owner(untouched, path):
    ann = untouched[1]
    assert ann.get(path).status_code in (401, 403)


@pytest.mark.parametrize("action", ["invite", "revoke", "quota", "pause", "resume", "close"])
def test_actions_of_the_owner_need_the_owner(untouched, action):
    server, ann = untouched
    body = (
        {"name": "Eve", "quota": 5} if action in ("invite", "quota") else {"name": "Ann"} if action == "revoke" else {}
    )
    assert ann.post(f"/owner/api/{action}", json=body).status_code == 401
    assert [annotator.name for annotator in server.study.annotators()] == ["Ann"]
    assert server.study.state == "open"


def test_nobody_can_register(server):
    with httpx.Client(base_url=server.url) as client:
        assert client.get("/").status_code == 403
        for path in ("/api/state", "/media/0/0"):
            assert client.get(path).status_code == 401
        for path in ("/api/answers", "/api/undo", "/api/training"):
            body = {"done": True} if "training" in path else {}
            body = {"assignment": 1, "client_id": str(uuid.uuid4()), "grade": 0} if "answers" in path else body
            assert client.post(path, json=body).status_code == 401
    assert [annotator.name for annotator in server.study.annotators()] == ["Ann"]


def test_a_revoked_annotator_is_out_at_once(server, ann):
    body = answer_body(ann)
    server.study.revoke("Ann")
    assert ann.post("/api/answers", json=body).status_code == 401
    assert ann.get("/api/state").status_code == 401
    page = ann.get("/")
    assert page.status_code == 403
    assert "not valid any more" in page.text


@pytest.mark.parametrize("path", ["/docs", "/redoc", "/openapi.json", "/docs/oauth2-redirect"])
def test_no_documentation_with_scripts_of_others(untouched, path):
    server = untouched[0]
    assert httpx.get(server.url + path).status_code == 404


@pytest.mark.parametrize("path", ["/static/../judge.html", "/static/..%2fjudge.html", "/static/en.json", "/static/"])
def test_static_files_are_a_closed_list(untouched, path):
    server = untouched[0]
    assert httpx.get(server.url + path).status_code == 404


# Serving


def test_other_machines_need_annotators_with_links(tmp_path, closing_engines):
    study = text_study(tmp_path, trained=False)
    check_host("127.0.0.1", [study])
    with pytest.raises(ValueError, match=r"host='0.0.0.0' lets other machines .* no annotator has a link"):
        check_host("0.0.0.0", [study])
    study.invite("Ann")
    check_host("0.0.0.0", [study])
    study.revoke("Ann")
    with pytest.raises(ValueError, match="no annotator has a link"):
        check_host("::", [study])


def test_only_loopback_addresses_are_this_machine():
    assert [is_loopback(host) for host in ("127.0.0.1", "127.9.9.9", "::1", "localhost")] == [True] * 4
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "192.168.0.1", "localhost.example.org", ""))


def test_a_used_port_is_one_clear_message():
    with (
        listen("127.0.0.1", 0) as listener,
        pytest.raises(OSError, match=r"cannot listen at host='127.0.0.1' and port=\d+: .* Choose another one"),
    ):
        listen("127.0.0.1", listener.getsockname()[1])


def test_the_log_of_requests_has_no_tokens(tmp_path, closing_engines):
    from confdiff.labelling.app import create_app

    lines = []
    study = text_study(tmp_path)
    with serving(study, app=AccessLog(create_app(study), lines.append)) as server:
        link = server.link("Ben")
        httpx.get(link)
        httpx.get(f"{server.url}/owner/join/{study.owner_token()}")
        httpx.get(f"{server.url}/%0Aowner:%20forged")
    expected = ["GET /join/*** 303", "GET /owner/join/*** 303", "GET /%0Aowner%3A%20forged 404"]
    assert [line.rsplit(" ", 2)[0] for line in lines] == expected


def test_serving_ends_cleanly_and_writes_no_token_to_the_log(tmp_path, closing_engines):
    import signal

    text_study(tmp_path).close_connections()
    command = [
        Path(sys.executable).with_name("confdiff"),
        "-v",
        "label",
        "serve",
        str(tmp_path / "texts.db"),
        "--port",
        "0",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "study: texts\n"
        owner = process.stdout.readline().removeprefix("owner: ").strip()
        assert httpx.get(owner).status_code == 303
        process.send_signal(signal.SIGINT)
        printed, logged = process.communicate(timeout=30)
    assert process.returncode == 0
    assert printed == ""
    assert "GET /owner/join/*** 303" in logged
    assert owner.rsplit("/", 1)[1] not in logged
    assert "Traceback" not in logged
