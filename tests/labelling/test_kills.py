"""SIGKILLs of the server under load: no acknowledged answer is lost, and none is stored twice.

``CONFDIFF_KILLS`` is the number of kills on each database.
"""

import os

import pytest

from labelling.loading import LOAD

KILLS = int(os.environ.get("CONFDIFF_KILLS", "3"))


@pytest.mark.usefixtures("closing_engines")
def test_acknowledged_answers_survive_kills(study_address):
    load, problems = LOAD.kill_under_load(study_address, annotators=10, kills=KILLS, seed=KILLS)
    assert problems == []
    assert load.lost_connections > 0
    assert len(load.acknowledged) >= 10
