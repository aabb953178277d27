"""Pauses between attempts: as long as the endpoint asks, else exponentially longer, with jitter."""

import asyncio
import random
import time

_FIRST_PAUSE = 1.0  # seconds; doubled after each attempt
_LONGEST_PAUSE = 60.0


def pause_after(attempt: int, retry_after: float | None, jitter: float) -> float:
    """Return the seconds to wait after an attempt, counted from 0.

    Parameters
    ----------
    attempt : int
        Number of attempts before.
    retry_after : float or None
        Seconds that the endpoint asks to wait, which are always waited. For 0, such as of a date that the clock of this
        machine has passed, the pause is that without a header.
    jitter : float
        A random number from 0 to 1, so that requests that failed together are not sent together again.

    Examples
    --------
    >>> pause_after(0, None, 1.0), pause_after(3, None, 0.0), pause_after(9, None, 1.0), pause_after(0, 20.0, 1.0)
    (1.0, 4.0, 60.0, 20.1)
    >>> pause_after(2, 0.0, 1.0)
    4.0
    """
    if retry_after:
        return retry_after + 0.1 * jitter
    return (0.5 + 0.5 * jitter) * min(_FIRST_PAUSE * 2.0**attempt, _LONGEST_PAUSE)


class Pauses:
    """The pauses of a run, which its end interrupts."""

    def __init__(self, ended: asyncio.Event) -> None:
        self._ended = ended
        self._resumes_at = 0.0  # by the monotonic clock

    async def back_off(self, attempt: int, retry_after: float | None) -> None:
        """Wait after a failed attempt; if the endpoint asks to wait, all other requests wait, too."""
        if retry_after is not None:
            self._resumes_at = max(self._resumes_at, time.monotonic() + retry_after)
        await self._sleep(pause_after(attempt, retry_after, random.random()))

    async def wait_until_resumed(self) -> None:
        """Wait while the endpoint asked all requests to wait."""
        while not self._ended.is_set() and time.monotonic() < self._resumes_at:
            await self._sleep(self._resumes_at - time.monotonic())

    async def _sleep(self, seconds: float) -> None:
        """Sleep, but not beyond the end of the run."""
        try:
            async with asyncio.timeout(seconds):
                await self._ended.wait()
        except TimeoutError:
            return
