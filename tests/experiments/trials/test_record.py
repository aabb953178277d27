"""Records: every line of the result files can be read, and its key computed from its fields."""

import json
from pathlib import Path

import pytest

from confdiff.experiments.plans.recommender_trial import RecommenderSpec
from confdiff.experiments.trials.record import RankingRecord, TrialRecord, record_from_json
from confdiff.experiments.trials.table_record import TableRecord

FILES = sorted((Path(__file__).parents[3] / "results").glob("*.jsonl"))


def key_of(record):
    """The key, computed from the fields of a record."""
    if isinstance(record, TrialRecord | TableRecord):
        return record.spec.key
    spec = RecommenderSpec(
        record.method,
        record.seed,
        record.epochs,
        model=record.model,
        prior=record.prior,
        partners=record.partners,
        n_negatives=record.candidates - 1,
        patience=record.patience,
        dataset=record.dataset,
        source=record.source,
    )
    return spec.key


def test_there_are_results_of_the_paper_s_two_kinds():
    kinds = {type(record_from_json(json.loads(file.read_text().splitlines()[0]))) for file in FILES}
    assert kinds >= {TrialRecord, RankingRecord}


@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_every_stored_trial_keeps_its_key_and_its_line(file):
    for line in file.read_text().splitlines():
        values = json.loads(line)
        record = record_from_json(values)
        assert key_of(record) == record.key == values["key"]
        written = record.to_json()
        assert {name: value for name, value in written.items() if value is not None} == {
            name: value for name, value in values.items() if value is not None
        }
        assert [name for name in written if name in values] == list(values)


def test_a_ranking_is_checked_too():
    file = next(file for file in FILES if file.stem == "jester")
    values = json.loads(file.read_text().splitlines()[0])
    for change, message in (
        ({"hr@10": None}, "hr@10.* must be a number; got None"),
        ({"prior": "a"}, "unknown prior 'a'"),
        ({"epochs": 0}, "epochs"),
        ({"speed": 1}, "unknown fields: 'speed'"),
    ):
        with pytest.raises(ValueError, match=message):
            record_from_json(values | change)
    with pytest.raises(ValueError, match="the field 'source' is missing"):
        record_from_json({name: value for name, value in values.items() if name != "source"})
