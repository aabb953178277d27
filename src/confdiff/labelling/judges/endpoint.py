"""Send requests to an OpenAI-compatible chat-completions endpoint, and classify what comes back."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from confdiff.labelling.judges.api_key import ApiKey
from confdiff.labelling.judges.judge_settings import JudgeSettings

_MOST_BYTES = 1_000_000  # of a reply
_LONGEST_STORED = 20_000  # characters of a reply that are stored
_LONGEST_MESSAGE = 300
_RETRIED = (408, 409, 425)
_CONNECT_SECONDS = 10.0


@dataclass(frozen=True)
class HttpReply:
    """What came back from a request.

    Attributes
    ----------
    text : str
        The body, without the key; for lost connections what happened.
    seconds : float
        Time of the request.
    status : int or None
        Status of HTTP; None if there was no complete reply.
    fault : str or None
        Code of the fault; None for status 200.
    retry_after : float or None
        Seconds that the endpoint asks to wait.
    was_sent : bool
        Whether the endpoint may have received the request.
    """

    text: str
    seconds: float
    status: int | None = None
    fault: str | None = None
    retry_after: float | None = None
    was_sent: bool = True

    @property
    def stored(self) -> str:
        """The body, or the beginning and the end of a long one: the thoughts of a model come before its answer."""
        if len(self.text) <= _LONGEST_STORED:
            return self.text
        half = _LONGEST_STORED // 2
        return f"{self.text[:half]}\n[...]\n{self.text[-half:]}"

    @property
    def message(self) -> str:
        """The error message of the endpoint in one line, shortened."""
        text = " ".join(_error_message(self.text).split())
        return text if len(text) <= _LONGEST_MESSAGE else f"{text[:_LONGEST_MESSAGE]}…"


class Endpoint:
    """A connection to the endpoint of a judge; see :func:`connected`."""

    def __init__(self, settings: JudgeSettings, key: ApiKey | None, client: httpx.AsyncClient) -> None:
        self._url = f"{settings.base_url}/chat/completions"
        self._timeout = settings.timeout
        self._key = key
        self._client = client

    async def send(self, body: Mapping[str, Any]) -> HttpReply:
        """Send a request once, and return what came back; faults are values, not exceptions."""
        start = time.monotonic()
        try:
            async with asyncio.timeout(self._timeout):
                status, text, headers = await self._post(body)
        except (TimeoutError, httpx.TimeoutException) as error:
            was_sent = not isinstance(error, httpx.ConnectTimeout)
            return self._lost("time-out", f"no reply in {self._timeout:g} seconds", start, was_sent=was_sent)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            text = str(error) or type(error).__name__
            return self._lost("connection", text, start, was_sent=not isinstance(error, httpx.ConnectError))
        return HttpReply(
            text=self._cleaned(text),
            seconds=time.monotonic() - start,
            status=status,
            fault=fault_of(status),
            retry_after=retry_after(headers.get("Retry-After")),
        )

    async def _post(self, body: Mapping[str, Any]) -> tuple[int, str, httpx.Headers]:
        content = json.dumps(body).encode()
        received = bytearray()
        async with self._client.stream("POST", self._url, content=content) as response:
            async for chunk in response.aiter_bytes():
                received += chunk
                if len(received) > _MOST_BYTES:
                    break
        return response.status_code, received.decode("utf-8", "replace"), response.headers

    def _lost(self, fault: str, text: str, start: float, *, was_sent: bool) -> HttpReply:
        seconds = time.monotonic() - start
        return HttpReply(text=self._cleaned(text), seconds=seconds, fault=fault, was_sent=was_sent)

    def _cleaned(self, text: str) -> str:
        """Return a text without the key, and without what databases cannot store."""
        if self._key is not None:
            text = self._key.removed_from(text)
        return text.replace("\0", "�")


@asynccontextmanager
async def connected(settings: JudgeSettings, key: ApiKey | None) -> AsyncIterator[Endpoint]:
    """Yield the endpoint of a judge, with connections that are kept open."""
    with _quiet_libraries():
        async with _client(settings, key) as client:
            yield Endpoint(settings, key, client)


def _client(settings: JudgeSettings, key: ApiKey | None) -> httpx.AsyncClient:
    headers = {"Content-Type": "application/json"} | ({} if key is None else key.header())
    timeout = httpx.Timeout(settings.timeout, connect=min(settings.timeout, _CONNECT_SECONDS))
    limits = httpx.Limits(max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency)
    is_direct = settings.is_local and settings.base_url.startswith("http:")  # a proxy would read the items
    try:
        return httpx.AsyncClient(headers=headers, timeout=timeout, limits=limits, trust_env=not is_direct)
    except (ImportError, ValueError, httpx.InvalidURL) as error:  # of the variables HTTPS_PROXY, ALL_PROXY ...
        raise ValueError(f"the proxy or the certificates that the environment names cannot be used: {error}") from error


@contextmanager
def _quiet_libraries() -> Iterator[None]:
    """Keep the libraries from logging headers, in which an endpoint may repeat the key."""
    loggers = [logging.getLogger(name) for name in ("httpx", "httpcore")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def fault_of(status: int) -> str | None:
    """Return the code of the fault of a status of HTTP; None for 200.

    >>> [fault_of(status) for status in (200, 429, 503, 408, 400)]
    [None, 'rate-limit', 'server-error', 'server-error', 'bad-request']
    """
    if status == 200:
        return None
    if status == 429:
        return "rate-limit"
    return "server-error" if status >= 500 or status in _RETRIED else "bad-request"


def retry_after(header: str | None) -> float | None:
    """Return the seconds of a header ``Retry-After``, which has seconds or a date; None without a valid one.

    >>> retry_after("2.5"), retry_after("soon"), retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (2.5, None, 0.0)
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            at = parsedate_to_datetime(header)
        except (ValueError, OverflowError):
            return None
        seconds = (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if seconds == seconds else None


def _error_message(text: str) -> str:
    """Return the message in an error of the endpoint, or the text if it has another form."""
    try:
        error = json.loads(text)["error"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return text
    return str(error.get("message", error)) if isinstance(error, dict) else str(error)
