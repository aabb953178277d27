"""What every response and every request has to satisfy, as two layers around the application.

:class:`SecureResponses` adds the headers that confine the pages, and turns an unexpected error into a message.
:class:`CheckedRequests` refuses bodies that are too large or not JSON, and requests that another site sent.
"""

import json
import logging
from typing import TYPE_CHECKING

from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGE_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "media-src 'self'",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
"""The Content-Security-Policy of pages: everything comes from the server itself, and scripts from files only."""

IMAGE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'"
"""The policy of SVG images: as a document of its own, an SVG image runs nothing and loads nothing."""

_HEADERS = {
    "Content-Security-Policy": PAGE_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "X-Robots-Tag": "noindex, nofollow",
}
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_LARGEST_BODY = 64 * 1024
_LOG = logging.getLogger(__name__)


class SecureResponses:
    """Add the headers of security to every response; report an unexpected error without its details.

    Parameters
    ----------
    app : ASGI application
        The application inside.
    """

    def __init__(self, app: "ASGIApp") -> None:
        self.app = app

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        has_started = False

        async def send_with_headers(message: "Message") -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self.app(scope, receive, send_with_headers)
        except Exception:
            _LOG.exception("a request failed")
            if has_started:
                raise
            await _refuse(send_with_headers, 500, "The server met an unexpected error. Please try again.")


class CheckedRequests:
    """Refuse changes that another site sent, that are not JSON, or whose body is too large.

    Parameters
    ----------
    app : ASGI application
        The application inside.
    secure : bool
        Whether browsers reach the server through TLS, so that their origin begins with ``https``.
    """

    def __init__(self, app: "ASGIApp", *, secure: bool) -> None:
        self.app = app
        self.scheme = "https" if secure else "http"

    async def __call__(self, scope: "Scope", receive: "Receive", send: "Send") -> None:
        """Handle a request."""
        if scope["type"] != "http" or scope["method"] in _SAFE_METHODS:
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        problem = self._foreign_origin(headers) or _wrong_type(headers) or _wrong_length(headers)
        body = b"" if problem else await _body(receive)
        if problem is None and len(body) > _LARGEST_BODY:
            problem = _TOO_LARGE
        if problem is not None:
            await _refuse(send, *problem)
            return
        await self.app(scope, _received(body, receive), send)

    def _foreign_origin(self, headers: Headers) -> tuple[int, str] | None:
        """Return a problem if a browser says that a page of another site sent the request.

        Browsers send the origin with every POST; programs without a browser need not.
        """
        own = f"{self.scheme}://{headers.get('host', '')}"
        origin = headers.get("origin")
        if origin is not None and origin.lower() != own.lower():
            advice = "Behind a proxy with TLS, start the server with its option for that."
            return 403, f"The request must come from {own}, not from {origin[:100]}. {advice}"
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return 403, f"The request must come from {own}, not from another site."
        return None


_TOO_LARGE = (413, f"The body must have at most {_LARGEST_BODY:,} bytes.")


def _wrong_type(headers: Headers) -> tuple[int, str] | None:
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        return None
    return 415, f"The body must be JSON with the content type application/json, not {kind[:100] or 'without one'}."


def _wrong_length(headers: Headers) -> tuple[int, str] | None:
    length = headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()):
        return 400, "The length of the body must be a whole number."
    return _TOO_LARGE if len(length) > 9 or int(length) > _LARGEST_BODY else None


async def _body(receive: "Receive") -> bytes:
    """Return the body of a request; reading ends as soon as it is too large."""
    body = b""
    while len(body) <= _LARGEST_BODY:
        message = await receive()
        body += message.get("body", b"")
        if not message.get("more_body"):
            break
    return body


def _received(body: bytes, receive: "Receive") -> "Receive":
    """Return a function that hands out a body that was read already, and then what comes after it."""
    is_pending = True

    async def receive_again() -> "Message":
        nonlocal is_pending
        if is_pending:
            is_pending = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return receive_again


async def _refuse(send: "Send", status: int, message: str) -> None:
    body = json.dumps({"message": message}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
