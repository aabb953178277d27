"""The store: nothing lost, nothing broken, whoever else uses it, and whatever was left in it."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.runner import run_trials
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.tasks import TaskSpec

TASK = TaskSpec("digits", model="linear", n_pairs=60)
QUICK = TrialSpec(TASK, "confdiff-abs", 3)


def test_commands_that_use_one_folder_at_once_lose_nothing(tmp_path):
    """Each saves its trials, moves what is there, and looks it up, while others do the same."""
    whole = run_trial(QUICK)

    def command(number):
        store, keys = Store(tmp_path), [f"{number}-{trial}" for trial in range(30)]
        for key in keys:
            store.save(replace(whole, key=key))
            store.compact()
            assert {record.key for record in store.records()} >= {key}
            assert store.keys() >= {key}
        return keys

    with ThreadPoolExecutor(4) as threads:
        saved = [key for keys in threads.map(command, range(4)) for key in keys]
    assert sorted(record.key for record in Store(tmp_path).records()) == sorted(saved)


def test_what_is_moved_while_one_looks_is_found_all_the_same(tmp_path, monkeypatch):
    """Another command packs the folder just after its files were listed."""
    store, other = Store(tmp_path), Store(tmp_path)
    run_trials([QUICK], store)

    def finished():
        listed = other.finished()
        other.compact()
        return listed

    monkeypatch.setattr(store, "finished", finished)
    for look in (store.keys, lambda: {record.key for record in store.records()}):
        assert look() == {QUICK.key}
        for packed in tmp_path.glob("*.jsonl"):  # back to where it was
            (tmp_path / "trials" / f"{QUICK.key}.json").write_text(packed.read_text())
            packed.unlink()


def test_what_a_killed_process_left_half_written_is_no_trial(tmp_path):
    store = Store(tmp_path)
    run_trials([QUICK], store)
    whole = (tmp_path / "trials" / f"{QUICK.key}.json").read_text()
    other = whole.replace(QUICK.key, "0" * 20)
    for name, text in ((".a.json.x.tmp.json", other), (".b.json.y.tmp.json", other[:50]), (".c.json.z.tmp.json", "")):
        (tmp_path / "trials" / name).write_text(text)
    assert store.keys() == {QUICK.key}
    assert [record.key for record in store.records()] == [QUICK.key]
    store.compact()
    assert (tmp_path / "digits.jsonl").read_text() == whole


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (lambda record: {"key": 1}, "the field 'dataset' is missing"),
        (lambda record: 5, "expected an object with the fields of a trial, got 5"),
        (lambda record: record | {"method": "guess"}, "unknown method 'guess'"),
        (lambda record: record | {"accuracy": None}, "accuracy must be a finite number"),
        (lambda record: record | {"prior": "half"}, "prior must be a probability"),
        (lambda record: record | {"curve": []}, "curve is empty"),
        (
            lambda record: {name: value for name, value in record.items() if name != "network"},
            "the field 'network' is missing",
        ),
        (lambda record: record | {"speed": 3}, "unknown fields: 'speed'"),
    ],
)
def test_broken_results_are_named(tmp_path, damage, why):
    """The file, the line and what is wrong with it; blank lines are nothing."""
    whole = run_trial(QUICK).to_json()
    file = tmp_path / "digits.jsonl"
    file.write_text(f"\n{json.dumps(whole)}\n\n")
    assert Store(tmp_path).keys() == {QUICK.key}
    file.write_text(f"{json.dumps(whole)}\n{json.dumps(damage(whole))}\n")
    with pytest.raises(ValueError, match=rf"digits\.jsonl, line 2, is not the record of a trial: .*{why}"):
        Store(tmp_path).records()


def test_results_that_cannot_be_read(tmp_path):
    (tmp_path / "digits.jsonl").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"digits\.jsonl holds no records of trials"):
        Store(tmp_path).records()
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        Store(tmp_path / "file")
