"""A live server in a thread, and a real browser without a window."""

import shutil
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import pytest
import uvicorn

from confdiff.labelling.app import create_app

CHROMIUM = shutil.which("chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="needs the browser chromium")


@dataclass
class Server:
    """A server that runs: its address, and its study."""

    url: str
    study: object

    def link(self, name, **options):
        """Return the full link of a new annotator."""
        return f"{self.url}/join/{self.study.invite(name, **options).token}"

    @contextmanager
    def client(self, name=None):
        """Yield an HTTP client; with a name, it has the cookie of that annotator."""
        with httpx.Client(base_url=self.url) as client:
            if name is not None:
                assert client.get(self.link(name)).status_code == 303
            yield client


@contextmanager
def serving(studies, *, app=None, **options):
    """Serve one study, or several by name, on a free port of this machine."""
    app = app or create_app(studies, **options)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        config = uvicorn.Config(app, log_level="warning", access_log=False, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.005)
            yield Server(f"http://127.0.0.1:{port}", studies)
        finally:
            server.should_exit = True
            thread.join(timeout=10)


@pytest.fixture(scope="session")
def playwright():
    """The one Playwright of a worker: a second one in the same process cannot start."""
    if CHROMIUM is None:
        pytest.skip("needs the browser chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(playwright):
    """One browser for all tests of a worker."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def context(browser):
    """A context of its own: its cookies and its storage begin empty."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(10_000)
    yield context
    context.close()


@pytest.fixture
def tab(context):
    """A page that fails the test if a script fails, a dialog opens, or it asks another host for anything."""
    return watched(context.new_page())


def watched(page):
    """Record errors, dialogs and requests of a page as lists."""
    page.problems = []
    page.asked = []
    page.on("pageerror", lambda error: page.problems.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (page.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
    page.on("request", lambda request: page.asked.append(request.url))
    return page


def ready(page):
    """Wait until the question on the screen can be answered."""
    page.wait_for_selector("#judging[data-answerable] #form:visible")
