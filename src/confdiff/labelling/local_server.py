"""Serve studies from a thread of this process, for the demo and for tests."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import FastAPI

_SECONDS = 30.0


@contextmanager
def serving_locally(app: "FastAPI", *, port: int = 0) -> Iterator[str]:
    """Serve an application on the loopback interface while the block runs, and yield its address.

    Parameters
    ----------
    app : FastAPI
        The application.
    port : int
        The port; 0 is any free one.

    Raises
    ------
    OSError
        The port is in use, or the server does not start.
    """
    import uvicorn

    from confdiff.labelling.app.serving import listen

    listener = listen("127.0.0.1", port)
    config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=2)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="server", daemon=True)
    thread.start()
    try:
        _wait_until_started(server, thread)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


def _wait_until_started(server: "object", thread: threading.Thread) -> None:
    ends_at = time.monotonic() + _SECONDS
    while not getattr(server, "started", False):
        if not thread.is_alive() or time.monotonic() > ends_at:
            raise OSError("the server did not start.")
        time.sleep(0.01)
