"""Requests that schemathesis makes from the schema of the interface: none may be answered with an error of the server.

``CONFDIFF_FUZZ_MINUTES`` is the number of minutes; without it, a few requests per operation.
"""

import itertools
import os
import time
import uuid

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from confdiff.labelling import StudySettings
from confdiff.labelling.app import create_app
from labelling.clients import client_of
from labelling.simulated import simulated_study

MINUTES = float(os.environ.get("CONFDIFF_FUZZ_MINUTES", "0"))
EXAMPLES = 25
MODES = {"stranger": "nobody", "annotator": "an annotator", "owner": "the owner"}
SETTINGS = StudySettings(
    question="Which is larger?",
    judges=4,
    same_class=0.2,
    quota=100_000,
    examples=(("item-001", "item-002", 0.5),),
    gold=(("item-003", "item-004", -1.0),),
)

LIMITS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    study = simulated_study(tmp_path_factory.mktemp("fuzz") / "s.db", n_items=12, n_answers=6, settings=SETTINGS)
    yield study
    study.close_connections()


@pytest.fixture(scope="module", params=MODES)
def client(request, study):
    """A client without a cookie, with that of an annotator, or with both cookies."""
    client = client_of(create_app(study, rates={}))
    if request.param != "stranger":
        token = study.invite(f"fuzzed {request.param}").token
        assert client.get(f"/join/{token}").status_code == 303
        study.finish_training(f"fuzzed {request.param}")
    if request.param == "owner":
        assert client.get(f"/owner/join/{study.owner_token()}").status_code == 303
    return client


def operations(study):
    schema = schemathesis.openapi.from_dict(create_app(study).openapi())
    return [result.ok() for result in schema.get_all_operations()]


def call(client, case):
    """Send a case, and return the response."""
    arguments = case.as_transport_kwargs(base_url="http://testserver")
    names = ("method", "url", "params", "json", "data", "headers", "content")
    return client.request(**{name: arguments[name] for name in names if arguments.get(name) is not None})


def check(response, text):
    assert response.status_code < 500, text
    if response.headers.get("content-type", "").startswith("application/json"):
        response.json()
    assert "Traceback" not in response.text
    assert response.headers["x-content-type-options"] == "nosniff"


def test_the_schema_has_every_route_of_people(study):
    paths = {operation.path for operation in operations(study)}
    assert paths >= {"/api/state", "/api/answers", "/api/undo", "/api/training", "/owner/api/invite", "/healthz"}


def test_requests_of_the_schema_never_fail(study, client):
    ends_at = time.monotonic() + 60 * MINUTES / len(MODES)
    checked = 0
    for number in itertools.count():
        checked += sum(exercise(client, operation, number) for operation in operations(study))
        if time.monotonic() >= ends_at:
            break
    assert checked >= 5 * len(operations(study))


def exercise(client, operation, number):
    """Send requests of one operation, and return how many."""
    sent = []

    @seed(number)
    @LIMITS
    @given(case=operation.as_strategy())
    def send(case):
        check(call(client, case), f"{case.method} {case.path}")
        sent.append(1)

    send()
    return len(sent)


BODIES = st.fixed_dictionaries(
    {},
    optional={
        "grade": st.none() | st.floats(-1, 1),
        "same": st.none() | st.floats(0, 1),
        "reason": st.none() | st.just("cannot say"),
        "note": st.none() | st.text(max_size=50),
        "seconds": st.none() | st.floats(0, 1e9),
    },
)


def test_bodies_for_the_open_question_are_stored_or_refused(study):
    """Bodies that are nearly right, for the question that the annotator has."""
    client = client_of(create_app(study, rates={}))
    study.resume()
    client.get(f"/join/{study.invite('nearly right').token}")
    study.finish_training("nearly right")
    statuses = set()

    @LIMITS
    @given(body=BODIES)
    def send(body):
        question = client.get("/api/state").json()["next"]
        before = study.progress("nearly right").answered
        response = client.post(
            "/api/answers", json={"assignment": question["id"], "client_id": str(uuid.uuid4()), **body}
        )
        check(response, str(body))
        statuses.add(response.status_code)
        assert study.progress("nearly right").answered == before + (response.status_code == 200)
        if response.status_code == 200:
            client.post("/api/undo", json={})

    send()
    assert statuses >= {200, 409} or statuses >= {200, 422}
