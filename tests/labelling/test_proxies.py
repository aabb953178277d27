"""A study behind nginx and Caddy with TLS, as docs/deployment.md describes: join, answer, and be refused."""

import http.client
import json
import ssl
import sys
import uuid
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from browser import CHROMIUM
from confdiff.labelling import Study, StudySettings, create_study
from labelling.browsers import ready
from labelling.proxies import COMMANDS, HOST, free_port, running

ITEMS = {"id": ["cow", "dog", "ant", "bee"], "text": ["A cow", "Two dogs", "An ant", "A bee"]}
TOO_MANY = 80


@dataclass
class Site:
    """A study behind a proxy."""

    study: Study
    token: str
    folder: Path
    port: int
    plain_port: int

    @property
    def origin(self):
        return f"https://{HOST}:{self.port}"

    def request(self, method, path, body=None, *, source="127.0.0.1", **headers):
        """Send a request through TLS, as a program would; return the response and its body."""
        context = ssl.create_default_context(cafile=self.folder / "certificate.pem")
        connection = http.client.HTTPSConnection(
            HOST, self.port, timeout=30, context=context, source_address=(source, 0)
        )
        connection._create_connection = _connect_to_loopback  # the name of the certificate leads elsewhere
        content = None if body is None else json.dumps(body)
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, content, sent)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        return response, text

    def join(self):
        """Follow the link, and return the header with the cookie."""
        response, _ = self.request("GET", f"/join/{self.token}")
        assert response.status == 303
        return {"Cookie": response.headers["Set-Cookie"].partition(";")[0]}

    def answer_with(self, **headers):
        """Answer the next question with some headers, and return the status."""
        cookie = self.join()
        self.request("POST", "/api/training", {"done": True}, Origin=self.origin, **cookie)
        _, state = self.request("GET", "/api/state", **cookie)
        body = {"assignment": json.loads(state)["next"]["id"], "client_id": str(uuid.uuid4()), "grade": 1.0}
        response, _ = self.request("POST", "/api/answers", body, **cookie, **headers)
        return response.status


def _connect_to_loopback(address, timeout, source_address):
    import socket

    return socket.create_connection(("127.0.0.1", address[1]), timeout, source_address)


@contextmanager
def served(folder, port):
    """Run the real server as the unit of systemd does."""
    command = [Path(sys.executable).with_name("confdiff"), "label", "serve", folder / "study.db"]
    with running([*command, "--port", port, "--behind-tls"], [port], folder):
        yield


@pytest.fixture(scope="module", params=COMMANDS)
def site(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    server_port = free_port()
    ports = {"port": free_port(), "plain_port": free_port()}
    proxy = COMMANDS[request.param](folder, upstream=f"127.0.0.1:{server_port}", **ports)
    study = create_study(folder / "study.db", ITEMS, StudySettings(question="Which is larger?", pairs_per_item=10))
    token = study.invite("Ann", quota=100).token
    with served(folder, server_port), running(proxy, ports.values(), folder):
        yield Site(study, token, folder, **ports)
    study.close_connections()


def test_an_annotator_joins_and_answers_in_a_browser(site, playwright):
    before = len(site.study.answers()["left"])
    flags = ["--no-sandbox", f"--host-resolver-rules=MAP {HOST} 127.0.0.1"]
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
    context = browser.new_context(ignore_https_errors=True)
    page = context.new_page()
    page.goto(f"{site.origin}/join/{site.token}")
    assert page.url == f"{site.origin}/"
    page.locator("#start").click()
    ready(page)
    with page.expect_response("**/api/answers") as response:
        page.keyboard.press("6")
    assert response.value.status == 200
    (cookie,) = context.cookies()
    browser.close()
    assert len(site.study.answers()["left"]) == before + 1
    assert cookie["name"].startswith("__Host-")
    assert cookie["secure"]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"


def test_answers_come_from_the_pages_of_the_study_only(site):
    assert site.answer_with(Origin=site.origin) == 200
    assert site.answer_with(Origin=f"https://evil.example:{site.port}") == 403
    assert site.answer_with(Origin=site.origin.replace("https", "http")) == 403
    assert site.answer_with(Origin=site.origin, Sec_Fetch_Site="cross-site") == 403


def test_an_invented_scheme_changes_nothing(site):
    response, _ = site.request("GET", f"/join/{site.token}", X_Forwarded_Proto="http")
    assert response.status == 303
    assert response.headers["Location"] == "../"
    assert "secure" in response.headers["Set-Cookie"].lower()
    assert site.answer_with(Origin=site.origin, X_Forwarded_Proto="http") == 200


def test_plain_http_leads_to_tls(site):
    connection = http.client.HTTPConnection("127.0.0.1", site.plain_port, timeout=30)
    connection.request("GET", "/", headers={"Host": HOST})
    response = connection.getresponse()
    response.read()
    connection.close()
    assert response.status in (301, 308)
    assert response.headers["Location"].startswith(f"https://{HOST}")


def test_headers_of_the_server_and_of_the_proxy_arrive(site):
    response, _ = site.request("GET", "/", **site.join())
    assert response.headers["Strict-Transport-Security"] == "max-age=31536000"
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert response.headers["Cache-Control"] == "no-store"
    assert "/" not in response.headers.get("Server", "")  # no version


def test_a_large_body_is_refused(site):
    response, _ = site.request("POST", "/api/answers", {"note": "x" * 100_000}, Origin=site.origin, **site.join())
    assert response.status == 413


def test_limits_are_per_client_and_an_invented_address_does_not_help(site):
    statuses = [
        site.request("GET", "/join/wrong", source="127.0.0.2", X_Forwarded_For=f"192.0.2.{number}")[0].status
        for number in range(TOO_MANY)
    ]
    assert 429 in statuses
    assert site.request("GET", "/join/wrong", source="127.0.0.3")[0].status == 403


def test_tokens_are_in_no_log(site, tmp_path):
    site.join()
    logs = [path for path in site.folder.iterdir() if path.suffix in (".log", ".txt")]
    texts = [path.read_text(errors="replace") for path in logs]
    assert any("/join/***" in text for text in texts)
    for path, text in zip(logs, texts, strict=True):
        assert site.token not in text, path.name


@pytest.mark.parametrize("name", COMMANDS)
def test_tokens_are_in_no_log_while_the_server_is_down(name, tmp_path):
    ports = {"port": free_port(), "plain_port": free_port()}
    proxy = COMMANDS[name](tmp_path, upstream=f"127.0.0.1:{free_port()}", **ports)
    site = Site(None, "a-token-of-a-link", tmp_path, **ports)
    with running(proxy, ports.values(), tmp_path):
        response, _ = site.request("GET", f"/join/{site.token}")
    assert response.status == 502
    for path in tmp_path.iterdir():
        if path.suffix in (".log", ".txt"):
            assert site.token not in path.read_text(errors="replace"), path.name
