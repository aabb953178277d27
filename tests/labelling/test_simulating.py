"""Simulated judges: their answers are what their parameters say, and each arrives once through HTTP."""

import threading

import numpy as np
import pytest

from confdiff.labelling import StudySettings, create_study
from confdiff.labelling.app import create_app
from confdiff.labelling.local_server import serving_locally
from confdiff.labelling.simulating import AnnotatorClient, SimulatedJudge, simulate_answers

ITEMS = {"id": [f"i{k}" for k in range(12)], "text": [str(k) for k in range(12)]}
SETTINGS = StudySettings(question="Which is larger?", judges=3, pairs_per_item=10)


def value_of(item):
    return float(item["cells"][0]["text"]) / 11


@pytest.fixture
def study(tmp_path):
    study = create_study(tmp_path / "numbers.db", ITEMS, SETTINGS)
    yield study
    study.close_connections()


def invited(study, *judges):
    return {study.invite(judge.name, kind="simulated").token: judge for judge in judges}


@pytest.mark.parametrize("points", [3, 5, 7, 9])
def test_grades_are_points_of_the_scale(points):
    judge = SimulatedJudge("Ann", noise=0.5)
    rng = np.random.default_rng(0)
    grades = {round(judge.answer(0.3, 0.6, "difference", points, rng)["grade"], 9) for _ in range(500)}
    assert grades <= {round(2 * k / (points - 1) - 1, 9) for k in range(points)}
    assert {-1, 1} <= grades


def test_scale_bias_and_noise_are_those_of_the_judge():
    judge = SimulatedJudge("Bob", scale=0.5, side_bias=0.2, noise=0.1)
    rng = np.random.default_rng(0)
    grades = np.array([judge.answer(0.2, 0.8, "difference", 0, rng)["grade"] for _ in range(4000)])
    assert grades.mean() == pytest.approx(0.5, abs=0.01)
    assert grades.std() == pytest.approx(0.1, abs=0.01)


def test_same_class_and_cannot_say():
    rng = np.random.default_rng(0)
    judge = SimulatedJudge("Ann")
    assert judge.answer(0.1, 0.3, "same", 7, rng)["same"] == 1
    assert judge.answer(0.1, 0.7, "same", 7, rng)["same"] == 0
    silent = SimulatedJudge("Dan", cannot_say=1.0).answer(0.1, 0.7, "difference", 7, rng)
    assert silent["reason"] == "cannot say"
    assert "grade" not in silent


def test_every_acknowledged_answer_is_stored_with_its_sign(study):
    judges = invited(study, SimulatedJudge("Ann", noise=0), SimulatedJudge("Bob", noise=0))
    counts = []
    with serving_locally(create_app(study)) as address:
        stored = simulate_answers(address, judges, value_of, on_answer=counts.append)
    answers = study.answers()
    assert stored == len(answers["left"]) == sum(study.progress(judge.name).quota for judge in judges.values())
    assert counts == list(range(1, stored + 1))
    truth = np.array(
        [int(right[1:]) - int(left[1:]) for left, right in zip(answers["left"], answers["right"], strict=True)]
    )
    clear = np.abs(truth) > 1
    assert (np.sign(answers["difference"][clear]) == np.sign(truth[clear])).all()
    assert {row.kind for row in study.annotators()} == {"simulated"}


def test_a_number_of_answers_is_kept_exactly(study):
    judges = invited(study, SimulatedJudge("Ann"), SimulatedJudge("Bob"), SimulatedJudge("Cleo"))
    with serving_locally(create_app(study)) as address:
        assert simulate_answers(address, judges, value_of, n_answers=17) == 17
    assert len(study.answers()["left"]) == 17


def test_the_work_stops_when_asked(study):
    judges = invited(study, SimulatedJudge("Ann"))
    stop = threading.Event()
    with serving_locally(create_app(study)) as address:
        count = simulate_answers(address, judges, value_of, stop=stop, on_answer=lambda n: n == 5 and stop.set())
    assert count == 5


def test_a_pause_of_the_server_loses_nothing(study):
    """The answer that meets a restart is sent again, with the same UUID."""
    token = study.invite("Ann").token
    with serving_locally(create_app(study)) as address:
        client = AnnotatorClient(address)
        client.join(f"join/{token}")
        question = client.patient_request("POST", "api/training", {"done": True})["next"]
        port = int(address.rsplit(":", 1)[1].strip("/"))
    body = {"assignment": question["id"], "client_id": "0" * 8 + "-0000-4000-8000-" + "0" * 12}
    body |= {"same": 1.0} if question["question"] == "same" else {"grade": 0.0}
    with serving_locally(create_app(study), port=port):
        assert client.patient_request("POST", "api/answers", body)["stored"]
        assert client.patient_request("POST", "api/answers", body)["stored"]
        client.close()
    assert study.progress("Ann").answered == 1


def test_a_revoked_judge_is_an_error(study):
    judges = invited(study, SimulatedJudge("Ann"))
    study.revoke("Ann")
    with serving_locally(create_app(study)) as address, pytest.raises(ValueError, match="status 403"):
        simulate_answers(address, judges, value_of)


def test_a_used_port_is_an_error_with_a_remedy(study):
    with serving_locally(create_app(study)) as address:
        port = int(address.rsplit(":", 1)[1].strip("/"))
        with pytest.raises(OSError, match="Choose another"), serving_locally(create_app(study), port=port):
            raise AssertionError
