"""The report in the background: it is cached, never waits, and its process ends with the server."""

import io
import json
import threading
import time

import pytest

from confdiff.labelling import open_study
from confdiff.labelling.live_report import LiveReport, ReportProcess, serve_reports
from labelling.simulated import simulated_study


def until(condition, seconds=20):
    ends_at = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends_at
        time.sleep(0.01)


def test_the_latest_report_is_returned_at_once_while_a_new_one_is_computed():
    release = threading.Event()

    def compute():
        assert release.wait(20)
        return {"answers": 1}

    live = LiveReport(compute)
    assert live.latest().content is None
    assert not live.latest().is_current
    release.set()
    until(lambda: live.latest().content == {"answers": 1})
    assert live.latest().is_current


def test_reports_are_computed_one_at_a_time_and_at_most_once_per_interval():
    running = []
    most = []

    def compute():
        running.append(1)
        most.append(len(running))
        time.sleep(0.02)
        running.pop()
        return {"count": len(most)}

    live = LiveReport(compute, interval=0.2)
    began = time.monotonic()
    while time.monotonic() < began + 1:
        live.latest()
        time.sleep(0.001)
    assert max(most) == 1
    assert 2 <= len(most) <= 6


def test_a_slow_report_rests_for_longer():
    calls = []

    def compute():
        calls.append(1)
        time.sleep(0.3)
        return {}

    live = LiveReport(compute, interval=0.0)
    began = time.monotonic()
    while time.monotonic() < began + 1:
        live.latest()
        time.sleep(0.01)
    assert len(calls) == 1


def test_a_failure_is_reported_and_the_old_report_remains():
    calls = []

    def compute():
        calls.append(1)
        if len(calls) > 1:
            raise OSError("no such study")
        return {"answers": 1}

    live = LiveReport(compute, interval=0.0)
    until(lambda: live.latest().problem == "no such study")
    assert live._content == {"answers": 1}


def test_the_process_computes_reports_and_ends(tmp_path):
    study = simulated_study(tmp_path / "sizes.db", n_answers=30)
    compute = ReportProcess(study)
    assert compute()["answers"] == 30
    process = compute._process
    study.invite("Eve")
    names = [row["name"] for row in compute()["annotators"]]
    assert names[-1] == "Eve"
    assert compute._process is process
    del compute
    until(lambda: process.poll() == 0)
    study.close_connections()


def test_a_killed_process_is_started_again(tmp_path):
    study = simulated_study(tmp_path / "sizes.db", n_answers=5)
    compute = ReportProcess(study)
    compute()
    compute._process.kill()
    compute._process.wait()
    assert compute()["answers"] == 5
    study.close_connections()


def test_one_line_per_request_and_problems_as_texts(tmp_path, monkeypatch):
    study = simulated_study(tmp_path / "sizes.db", n_answers=5)
    study.close_connections()
    answers = io.StringIO()
    serve_reports(io.StringIO(json.dumps(str(tmp_path / "sizes.db")) + "\n\n\n"), answers)
    assert [json.loads(line)["report"]["answers"] for line in answers.getvalue().splitlines()] == [5, 5]

    def broken(study):
        raise ValueError("the answers cannot be read")

    monkeypatch.setattr("confdiff.labelling.report.owner_report", broken)
    answers = io.StringIO()
    serve_reports(io.StringIO(json.dumps(str(tmp_path / "sizes.db")) + "\n\n"), answers)
    assert json.loads(answers.getvalue()) == {"problem": "the answers cannot be read"}


@pytest.mark.usefixtures("closing_engines")
def test_the_process_opens_studies_of_both_databases(study, study_address):
    assert open_study(study.private_address()).name == study.name
    compute = ReportProcess(study)
    assert compute()["items"] == 8
