"""Trials on real tables: their keys, and their lines in result files."""

import json
from dataclasses import replace

import pytest

from confdiff.experiments.trials.record import record_from_json
from confdiff.experiments.trials.store import Store
from table_records import table_record
from trial_records import trial

RECORD = table_record("linear", dataset="wine", version=1, chosen="linear")


def test_a_line_holds_the_whole_record():
    line = json.loads(json.dumps(RECORD.to_json()))
    assert record_from_json(line) == RECORD
    assert (line["learner"], line["dataset"], line["pairs"], line["chosen"]) == ("linear", "wine", 300, "linear")


def test_the_key_is_computed_from_the_specification():
    assert RECORD.spec.key == "aa685ba046f794a912a4"  # of stored trials: it must not change
    others = [
        replace(RECORD.spec, **change)
        for change in ({"version": 2}, {"seed": 1}, {"pairs": 100}, {"balance": "equal"}, {"differences": "labels"})
    ]
    assert len({RECORD.spec.key, *(spec.key for spec in others)}) == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"accuracy": 1.5}, "accuracy must be at most 1"),
        ({"auc": None}, "auc must be a number"),
        ({"balance": "odd"}, "balance must be one of 'natural', 'equal'"),
        ({"seed": 3}, "is not the key of its fields"),
        ({"speed": 1}, "unknown fields: 'speed'"),
        ({"dataset": "../x"}, "data set"),
    ],
)
def test_a_line_is_checked(change, message):
    with pytest.raises(ValueError, match=message):
        record_from_json(RECORD.to_json() | change)


def test_a_missing_field_is_named():
    values = RECORD.to_json()
    del values["brier"]
    with pytest.raises(ValueError, match="the field 'brier' is missing"):
        record_from_json(values)


def test_a_store_keeps_all_kinds_of_records_of_a_data_set(tmp_path):
    store = Store(tmp_path)
    other = trial("confdiff-abs", 0, 0.9, dataset="wine", prior=0.5)
    store.save(RECORD)
    store.save(other)
    assert store.compact() == [tmp_path / "wine.jsonl"]
    assert {record.key for record in store.records()} == {RECORD.key, other.key}
    assert store.unreadable() == []
