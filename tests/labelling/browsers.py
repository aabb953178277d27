"""A live server in a thread, and its pages in a browser."""

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import uvicorn

from confdiff.labelling.app import create_app


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


def ready(page):
    """Wait until the question on the screen can be answered."""
    page.wait_for_selector("#judging[data-answerable] #form:visible")
