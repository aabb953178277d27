"""Run the server until it is interrupted: one socket, one process, handlers in threads."""

import ipaddress
import re
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

import uvicorn

from confdiff.labelling.app import create_app
from confdiff.labelling.app.limits import RATES, Rate
from confdiff.labelling.refitting import background_refits

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from confdiff.labelling.study import Study

_TOKEN = re.compile(r"(/join/)[^/]+")
_PROXIES = "127.0.0.0/8,::1,10.0.0.0/8,172.16.0.0/12,192.168.0.0/16,fc00::/7"
_GRACE = 5  # seconds for requests that run when the server ends


def serve_studies(
    studies: "Mapping[str, Study] | Study",
    listener: socket.socket,
    *,
    behind_tls: bool = False,
    rates: Mapping[str, Rate] = RATES,
    on_request: Callable[[str], None] | None = None,
) -> None:
    """Answer requests until Ctrl-C or SIGTERM.

    Parameters
    ----------
    studies : Study or mapping of str to Study
        One study, or several by the names in their addresses.
    listener : socket.socket
        Where to listen, see :func:`listen`.
    behind_tls : bool
        Whether a proxy on this machine or in a private network terminates TLS. The address of the client is then taken
        from the proxy's headers, and cookies are sent through TLS only.
    rates : mapping of str to Rate
        How often one client may ask.
    on_request : callable, optional
        Called with one line per request, in which tokens are hidden.
    """
    app: ASGIApp = create_app(studies, secure=behind_tls, rates=rates)
    if on_request is not None:
        app = AccessLog(app, on_request)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,  # it would have the tokens of links
        server_header=False,
        proxy_headers=behind_tls,
        forwarded_allow_ips=_PROXIES,
        timeout_graceful_shutdown=_GRACE,
        lifespan="off",
    )
    served = list(studies.values()) if isinstance(studies, Mapping) else [studies]
    with background_refits(served), suppress(KeyboardInterrupt):
        uvicorn.Server(config).run(sockets=[listener])


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens at an address.

    Parameters
    ----------
    host : str
        Name or address of this machine.
    port : int
        Port; 0 is any free one.

    Raises
    ------
    OSError
        If the address is not one of this machine, or the port is used.

    Examples
    --------
    >>> with listen("127.0.0.1", 0) as listener:
    ...     listener.getsockname()[0]
    '127.0.0.1'
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        return socket.create_server((str(address[0]), port), family=family, backlog=512)
    except OSError as error:
        reason = error.strerror or str(error)
        raise OSError(f"cannot listen at host={host!r} and port={port}: {reason}. Choose another one.") from error


def is_loopback(host: str) -> bool:
    """Return whether a host can be reached from this machine only.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "example.org")]
    [True, True, True, False, False]
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def check_host(host: str, studies: "Iterable[Study]") -> None:
    """Refuse to serve other machines before annotators have links.

    Raises
    ------
    ValueError
        If the host is not this machine only, and a study has no annotator with a valid link.
    """
    if is_loopback(host):
        return
    for study in studies:
        if all(annotator.revoked for annotator in study.annotators()):
            raise ValueError(
                f"host={host!r} lets other machines reach the study {study.name}, of which no annotator has a link. "
                "Invite annotators with `confdiff label invite`, or use host='127.0.0.1'."
            )


class AccessLog:
    """Report every request in one line, without the tokens of links.

    Parameters
    ----------
    app : ASGI application
        The application inside.
    report : callable
        Called with the line.
    """

    def __init__(self, app: "ASGIApp", report: Callable[[str], None]) -> None:
        self.app = app
        self.report = report

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 0

        async def send_and_note(message: "Message") -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            milliseconds = 1000 * (time.perf_counter() - start)
            path = quote(_TOKEN.sub(r"\1***", scope["path"]), safe="/*")  # a line break would forge a line
            self.report(f"{scope['method']} {path} {status} {milliseconds:.0f} ms")
