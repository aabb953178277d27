"""A short version of benchmarks/labelling_load.py: many annotators at once, on both databases."""

import numpy as np
import pytest

from labelling.loading import LOAD

SECONDS = 10


@pytest.mark.usefixtures("closing_engines")
def test_every_acknowledged_answer_is_stored_once_and_no_quota_is_exceeded(study_address):
    study, invitations = LOAD.new_study(study_address, annotators=12, pairs_per_item=2)
    with LOAD.running(study.private_address()) as server:
        load = LOAD.put_under_load(server.address, invitations, seconds=SECONDS, period=0.5)
    assert LOAD.faults(study, load) == []
    assert len(load.acknowledged) == len(study.answers()["client_id"]) > 12
    assert all(row.answered > 0 for row in study.annotators())
    assert np.median(load.latencies) < 1


@pytest.mark.usefixtures("closing_engines")
def test_quotas_hold_where_everybody_hurries(study_address):
    """Few questions and no pause: everybody reaches the quota, nobody exceeds it, and no question is answered twice."""
    study, invitations = LOAD.new_study(study_address, annotators=8, pairs_per_item=0.32)
    with LOAD.running(study.private_address()) as server:
        load = LOAD.put_under_load(server.address, invitations, seconds=SECONDS, period=0.0)
    assert LOAD.faults(study, load) == []
    assert [row.answered for row in study.annotators()] == [row.quota for row in study.annotators()]
    answers = study.answers()
    design = [kind not in ("repeat", "gold") for kind in answers["kind"]]
    pairs = [frozenset(pair) for pair in zip(answers["left"][design], answers["right"][design], strict=True)]
    planned = sum(question.kind not in ("repeat", "gold") for question in study.plan())
    assert len(pairs) <= planned


def test_faults_are_noticed(tmp_path):
    """The check itself: an answer that is not stored, and a quota that was lowered afterwards."""
    study, invitations = LOAD.new_study(str(tmp_path / "s.db"), annotators=2, pairs_per_item=2)
    with LOAD.running(study.private_address()) as server:
        load = LOAD.put_under_load(server.address, invitations, seconds=2, period=0.2)
    assert LOAD.faults(study, load) == []
    load.acknowledged.append("made up")
    assert "made up was acknowledged" in LOAD.faults(study, load)[0]
    study.set_quota(invitations[0].name, 1)
    assert any(f"of {1}" in fault for fault in LOAD.faults(study, load))
    study.close_connections()
