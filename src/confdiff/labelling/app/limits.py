"""How often one client may ask: a bucket of tokens per client, which fills again with time."""

import math
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException


@dataclass(frozen=True)
class Rate:
    """A number of requests per second, and how many may come at once.

    Attributes
    ----------
    per_second : float
        Requests per second in the long run.
    burst : int
        Requests that may come at once after a rest.
    """

    per_second: float
    burst: int


RATES: Mapping[str, Rate] = {
    "api": Rate(per_second=10, burst=60),
    "media": Rate(per_second=50, burst=400),
    "join": Rate(per_second=0.5, burst=60),
    "stranger": Rate(per_second=1, burst=60),
}
"""The rates of the server: of answers and of media per cookie; of links and of unknown cookies per address."""

_MOST_CLIENTS = 10_000


class RateLimiter:
    """Count the requests of each client and refuse those that come too fast.

    Parameters
    ----------
    rates : mapping of str to Rate
        The rate of each kind of request. Kinds without one are unlimited.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> limiter = RateLimiter({"join": Rate(per_second=1, burst=2)}, clock=lambda: 0.0)
    >>> [limiter.seconds_to_wait("join", "192.0.2.1") for _ in range(3)]
    [0.0, 0.0, 1.0]
    """

    def __init__(self, rates: Mapping[str, Rate] = RATES, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.rates = dict(rates)
        self._clock = clock
        self._lock = threading.Lock()
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}  # tokens left, at which time

    def seconds_to_wait(self, kind: str, client: str) -> float:
        """Take one token of a client; return 0, or how long to wait if it has none."""
        rate = self.rates.get(kind)
        if rate is None:
            return 0.0
        with self._lock:
            now = self._clock()
            if len(self._buckets) >= _MOST_CLIENTS:
                self._forget_full_buckets(now)
            tokens = self._tokens((kind, client), now)
            if tokens < 1:
                return (1 - tokens) / rate.per_second
            self._buckets[kind, client] = (tokens - 1, now)
            return 0.0

    def check(self, kind: str, client: str) -> None:
        """Take one token of a client; raise the HTTP error 429 if it has none."""
        seconds = math.ceil(self.seconds_to_wait(kind, client))
        if seconds:
            text = f"Too many requests. Please try again in {seconds} s."
            raise HTTPException(429, text, headers={"Retry-After": str(seconds)})

    def _tokens(self, key: tuple[str, str], now: float) -> float:
        rate = self.rates[key[0]]
        tokens, counted_at = self._buckets.get(key, (float(rate.burst), now))
        return min(float(rate.burst), tokens + (now - counted_at) * rate.per_second)

    def _forget_full_buckets(self, now: float) -> None:
        """Drop clients that have rested; if all are busy, drop everyone rather than grow without bound."""
        busy = {
            key: bucket for key, bucket in self._buckets.items() if self._tokens(key, now) < self.rates[key[0]].burst
        }
        self._buckets = busy if len(busy) < _MOST_CLIENTS else {}
