"""Simulated judges, who answer the questions of a study through its HTTP interface as a browser does."""

import http.client
import json
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import numpy as np

_TIMEOUT = 60.0
_MOST_ATTEMPTS = 200
_PAUSE = 0.1  # seconds, before an attempt that follows a lost connection

Values = Callable[[Mapping[str, Any]], float]
"""Item as the page receives it -> its true value from 0 to 1."""


@dataclass(frozen=True)
class SimulatedJudge:
    """A judge with an individual scale, side bias and noise.

    Attributes
    ----------
    name : str
        Name of the annotator.
    scale : float
        How much of the scale the judge uses.
    side_bias : float
        Shift of all grades towards the item on the right.
    noise : float
        Standard deviation of the noise of a grade.
    cannot_say : float
        Probability of no answer.
    seconds : float
        Typical time of an answer.
    """

    name: str
    scale: float = 1.0
    side_bias: float = 0.0
    noise: float = 0.15
    cannot_say: float = 0.0
    seconds: float = 4.0

    def answer(self, left: float, right: float, question: str, points: int, rng: np.random.Generator) -> dict[str, Any]:
        """Return the answer to a question about two items.

        Parameters
        ----------
        left, right : float
            True values, from 0 to 1, of the items on the screen.
        question : {"difference", "same"}
            Whether to grade the difference, or to say whether both items are on one side of 1/2.
        points : int
            Number of points of the scale; 0 for a fine scale.
        rng : Generator
            For the noise.

        Examples
        --------
        >>> judge = SimulatedJudge("Ann", noise=0.0)
        >>> round(judge.answer(0.2, 0.9, "difference", 7, np.random.default_rng(0))["grade"], 2)
        0.67
        """
        seconds = float(self.seconds * rng.lognormal(sigma=0.4))
        if rng.random() < self.cannot_say:
            return {"reason": "cannot say", "seconds": seconds}
        if question == "same":
            return {"same": float((left >= 0.5) == (right >= 0.5)), "seconds": seconds}
        noise = self.noise * rng.standard_normal()
        grade = float(np.clip(self.scale * (right - left) + self.side_bias + noise, -1, 1))
        steps = (points - 1) / 2
        return {"grade": round(grade * steps) / steps if points else grade, "seconds": seconds}


class AnnotatorClient:
    """The connection of one annotator to a study, with the cookie of the annotator.

    Parameters
    ----------
    address : str
        Address of the study, such as ``"http://127.0.0.1:8765/"``.
    """

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._host = parts.netloc
        self._root = parts.path.rstrip("/")
        self._cookies: SimpleCookie = SimpleCookie()
        self._connection = http.client.HTTPConnection(self._host, timeout=_TIMEOUT)

    def join(self, path: str) -> None:
        """Follow the link of an annotator or of the owner, such as ``"join/TOKEN"``, and keep the cookie."""
        status, _ = self.request("GET", path)
        if status != 303:
            raise ValueError(f"the link was refused with status {status}; it may be revoked.")

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
        """Send a request; return the status, and the body if it is JSON.

        Raises
        ------
        OSError, HTTPException
            The connection failed. The next request opens a new one.
        """
        headers = {"Cookie": "; ".join(f"{name}={morsel.value}" for name, morsel in self._cookies.items())}
        if method != "GET":
            headers["Content-Type"] = "application/json"
            headers["Origin"] = f"http://{self._host}"
        try:
            self._connection.request(method, f"{self._root}/{path}", _json_bytes(body), headers)
            with self._connection.getresponse() as response:
                content = response.read()
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise
        for cookie in response.headers.get_all("Set-Cookie", []):
            self._cookies.load(cookie)
        is_json = response.headers.get("Content-Type", "").startswith("application/json")
        return response.status, json.loads(content) if is_json else None

    def patient_request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request until it is answered, also while the server restarts or asks to wait.

        Sending an answer twice is harmless, because it carries a UUID.

        Raises
        ------
        ConnectionError
            The server refused the request, or did not answer for a long time.
        """
        for _ in range(_MOST_ATTEMPTS):
            try:
                status, content = self.request(method, path, body)
            except (OSError, http.client.HTTPException):
                time.sleep(_PAUSE)
                continue
            if status == 429:
                time.sleep(_PAUSE)
                continue
            if status != 200:
                raise ConnectionError(f"{method} {path} was refused with status {status}: {content}")
            return content
        raise ConnectionError(f"{method} {path} was not answered.")

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _json_bytes(body: Mapping[str, Any] | None) -> bytes | None:
    return None if body is None else json.dumps(body).encode()


class _Budget:
    """The number of answers that all judges still may give."""

    def __init__(self, count: int | None, on_answer: Callable[[int], None]) -> None:
        self._count = count
        self._taken = 0
        self.stored = 0
        self._on_answer = on_answer
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Take one answer; return False if none is left."""
        with self._lock:
            if self._count is not None and self._taken >= self._count:
                return False
            self._taken += 1
            return True

    def count_stored(self) -> None:
        """Count an acknowledged answer."""
        with self._lock:
            self.stored += 1
            self._on_answer(self.stored)


def simulate_answers(
    address: str,
    judges: Mapping[str, SimulatedJudge],
    values: Values,
    *,
    points: int = 7,
    n_answers: int | None = None,
    pace: float = 0.0,
    stop: threading.Event | None = None,
    on_answer: Callable[[int], None] = lambda stored: None,
    seed: int = 0,
) -> int:
    """Let simulated judges answer the questions of a running server, each in a thread.

    Parameters
    ----------
    address : str
        Address of the study, such as ``"http://127.0.0.1:8765/"``.
    judges : mapping
        Token of a link -> the judge who has it.
    values : callable
        Item as the page receives it -> its true value from 0 to 1.
    points : int
        Number of points of the scale.
    n_answers : int, optional
        Number of answers of all judges together; by default until the quotas are reached.
    pace : float
        Mean time between two answers of a judge, in seconds.
    stop : Event, optional
        Ends the work when it is set.
    on_answer : callable
        Receives the number of answers after each one.
    seed : int
        Seed of the noise.

    Returns
    -------
    int
        Number of answers that the server acknowledged.

    Raises
    ------
    ConnectionError
        The server refused a judge, or did not answer for a long time.
    """
    budget = _Budget(n_answers, on_answer)
    stop = stop or threading.Event()
    failures: list[Exception] = []
    threads = []
    for number, (token, judge) in enumerate(judges.items()):
        rng = np.random.default_rng([seed, number])

        def work(token: str = token, judge: SimulatedJudge = judge, rng: np.random.Generator = rng) -> None:
            try:
                with closing(AnnotatorClient(address)) as client:
                    _work(client, token, judge, values, points, pace, budget, stop, rng)
            except (OSError, ValueError, http.client.HTTPException) as error:
                failures.append(error)

        threads.append(threading.Thread(target=work, name=f"judge {judge.name}", daemon=True))
    _run(threads)
    if failures:
        raise failures[0]
    return budget.stored


def _run(threads: Sequence[threading.Thread]) -> None:
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def _work(
    client: AnnotatorClient,
    token: str,
    judge: SimulatedJudge,
    values: Values,
    points: int,
    pace: float,
    budget: _Budget,
    stop: threading.Event,
    rng: np.random.Generator,
) -> None:
    """Answer the questions of one judge until there are none, or the work is stopped."""
    client.join(f"join/{token}")
    state = client.patient_request("GET", "api/state")
    if state["next"] is None and state.get("training"):
        state = client.patient_request("POST", "api/training", {"done": True})
    while state["next"] is not None and not stop.wait(pace * rng.lognormal(sigma=0.4)) and budget.take():
        question = state["next"]
        answer = judge.answer(values(question["left"]), values(question["right"]), question["question"], points, rng)
        body = {"assignment": question["id"], "client_id": str(uuid.UUID(bytes=rng.bytes(16), version=4)), **answer}
        state = client.patient_request("POST", "api/answers", body)
        budget.count_stored()
