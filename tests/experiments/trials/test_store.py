"""The store: nothing lost, nothing broken, whoever else uses it, and whatever was left in it."""

import json
import os
import re
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
        store = Store(tmp_path)
        specs = [replace(QUICK, task=replace(TASK, seed=100 * number + trial)) for trial in range(30)]
        for spec in specs:
            store.save(replace(whole, key=spec.key, spec=spec))
            store.compact()
            assert {record.key for record in store.records()} >= {spec.key}
            assert store.keys() >= {spec.key}
        return [spec.key for spec in specs]

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
        (lambda record: record | {"accuracy": None}, "accuracy must be a number; got None"),
        (lambda record: record | {"prior": "half"}, "prior must be a number; got 'half'"),
        (lambda record: record | {"curve": []}, "curve is empty"),
        (
            lambda record: {name: value for name, value in record.items() if name != "network"},
            "the field 'network' is missing",
        ),
        (lambda record: record | {"speed": 3}, "unknown fields: 'speed'"),
        (lambda record: record | {"prior": 0.4}, "is not the key of its fields"),
        (lambda record: record | {"key": "../../escaped"}, "key must be a plain file name"),
        (lambda record: record | {"dataset": "../../escaped"}, "unknown data set"),
        (lambda record: record | {"seconds": -1}, "seconds must be a finite number of at least 0"),
        (lambda record: record | {"curve": [[1, 2.0]]}, "accuracy must be at most 1"),
        (lambda record: record | {"versions": [1]}, "versions must be an object"),
    ],
)
def test_broken_results_are_named(tmp_path, damage, why):
    """The file, the line and what is wrong with it; blank lines are nothing."""
    whole = run_trial(QUICK).to_json()
    file = tmp_path / "digits.jsonl"
    file.write_text(f"\n{json.dumps(whole)}\n\n")
    assert Store(tmp_path).keys() == {QUICK.key}
    file.write_text(f"{json.dumps(whole)}\n{json.dumps(damage(whole))}\n")
    store = Store(tmp_path)
    assert store.keys() == {QUICK.key}
    (entry,) = store.unreadable()
    assert str(entry).startswith(f"{file}, line 2, is damaged or not the record of a trial: ")
    assert re.search(why, str(entry))


def test_packing_loses_nothing_that_cannot_be_read(tmp_path):
    record = run_trial(QUICK)
    store = Store(tmp_path)
    store.save(record)
    store.compact()
    file = tmp_path / "digits.jsonl"
    file.write_text(f"{file.read_text()}{{half a line\n")
    for seed in (1, 2):
        spec = replace(QUICK, task=replace(TASK, seed=seed))
        store.save(replace(record, key=spec.key, spec=spec))
    damaged = store.finished()[0]
    damaged.write_text("{")
    store.compact()
    assert len(store.keys()) == 2
    assert file.read_text().endswith("{half a line\n")
    assert damaged.read_text() == "{"
    assert len(store.unreadable()) == 2


def test_a_packed_file_that_is_no_text_stays_and_its_trials_stay_single(tmp_path):
    store = Store(tmp_path)
    store.save(run_trial(QUICK))
    (tmp_path / "digits.jsonl").write_bytes(b"\xff\xfe")
    assert store.compact() == []
    assert store.keys() == {QUICK.key}
    assert (tmp_path / "digits.jsonl").read_bytes() == b"\xff\xfe"


def test_no_name_in_a_trial_leads_out_of_the_folder(tmp_path):
    results = tmp_path / "deep" / "results"
    store = Store(results)
    store.save(run_trial(QUICK))
    (file,) = store.finished()
    ranking = {"ndcg@10": 0.1, "hr@10": 0.1, "full hr@10": 0.1, "full ndcg@10": 0.1, "dataset": "../../escaped"}
    ranking |= {
        "key": "a",
        "source": "s",
        "protocol": "paper",
        "method": "m",
        "prior": "global",
        "seed": 0,
        "model": "mf",
    }
    ranking |= dict.fromkeys(("epochs", "partners", "evaluated", "candidates", "pairs"), 1)
    ranking |= {"seconds": 1, "processor_seconds": 1}
    file.with_name("a.json").write_text(json.dumps(ranking))
    store.compact()
    assert [path.name for path in tmp_path.iterdir()] == ["deep"]
    (entry,) = store.unreadable()
    assert "data set must be a plain file name; got '../../escaped'" in str(entry)


def test_links_out_of_the_folder_are_neither_read_nor_written(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("untouched")
    record = run_trial(QUICK)
    store = Store(tmp_path / "results")
    store.save(record)
    (tmp_path / "results" / "digits.jsonl").symlink_to(outside)
    assert store.compact() == []
    assert store.keys() == {QUICK.key}
    (file,) = store.finished()
    file.unlink()
    file.symlink_to(outside)
    with pytest.raises(ValueError, match=r"is a link that leaves the folder"):
        store.save(record)
    assert outside.read_text() == "untouched"
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "trials").symlink_to(tmp_path)
    with pytest.raises(ValueError, match=r"trials is a link that leaves the folder"):
        Store(tmp_path / "linked")


def test_results_that_cannot_be_read(tmp_path):
    (tmp_path / "digits.jsonl").write_bytes(b"\xff\xfe")
    (tmp_path / "usps.jsonl").mkdir()
    (tmp_path / "trials").mkdir()
    os.mkfifo(tmp_path / "trials" / "pipe.json")
    (tmp_path / "trials" / "deep.json").write_text("[" * 100_000)
    store = Store(tmp_path)
    assert store.records() == []
    assert [entry.path.name for entry in store.unreadable()] == ["deep.json", "pipe.json", "digits.jsonl", "usps.jsonl"]
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match="is a file"):
        Store(tmp_path / "file")
