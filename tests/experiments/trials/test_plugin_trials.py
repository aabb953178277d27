"""Trials of plug-ins: their keys have names and versions, and their records survive where the plug-in is not loaded."""

import json
from dataclasses import replace

import pytest

import confdiff
from confdiff.experiments.report.writing import write_report
from confdiff.experiments.trials.foreign_record import ForeignRecord
from confdiff.experiments.trials.record import TrialRecord, record_from_json
from confdiff.experiments.trials.runner import run_trials
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.experiments.trials.store import Store
from confdiff.models import MODELS
from confdiff.plugins import load_plugins
from confdiff.plugins.registering import _owners
from confdiff.tasks import TaskSpec, make_task, teacher_file
from plugged import DATA, NETWORK, method_file, plugged, unload_all, write
from trial_records import record_of


@pytest.fixture(autouse=True)
def _unloaded():
    yield
    unload_all()


def spec_of(method="my-squares", **options):
    return TrialSpec(TaskSpec("digits", n_pairs=60, **options), method, 2)


def test_keys_have_the_names_and_versions_of_plugins(tmp_path):
    built_in = spec_of("confdiff-abs", model="linear").key
    keys = set()
    for version in ("1.0", "1.1"):
        with plugged(method_file(tmp_path, version=version)):
            assert spec_of().plugins == {"mine": version}
            assert spec_of("confdiff-abs", model="linear").key == built_in
            keys.add(spec_of().key)
    with plugged(method_file(tmp_path, file="other.py")):
        keys.add(spec_of().key)
    assert len(keys) == 3


def test_data_sets_and_networks_are_part_of_the_key(tmp_path):
    load_plugins(write(tmp_path, "blobs.py", DATA), write(tmp_path, "net.py", NETWORK))
    spec = TrialSpec(TaskSpec("my-blobs", model="tiny"), "confdiff-abs", 2)
    assert spec.plugins == {"blobs": "0.2", "net": "3"}
    assert spec.task.plugins == {"blobs": "0.2", "net": "3"}


def test_a_teacher_is_trained_again_by_another_version_of_its_network(tmp_path):
    files = set()
    for version in ("3", "4"):
        with plugged(write(tmp_path, "net.py", NETWORK.replace('"3"', f'"{version}"'))):
            files.add(teacher_file(TaskSpec("digits", model="tiny")).name)
    assert len(files) == 2


def test_a_trial_needs_a_plugin_with_a_version():
    confdiff.register_model("tiny", lambda d, k: None)
    try:
        with pytest.raises(ValueError, match="the model 'tiny' was registered outside of a plug-in"):
            _ = spec_of("confdiff-abs", model="tiny").key
    finally:
        del MODELS["tiny"]
        _owners.clear()


@pytest.mark.parametrize("engine", ["serial", "processes", "joblib:loky"])
def test_workers_of_every_engine_load_plugins(tmp_path, engine):
    """Ray has this test on its cluster."""
    paths = [method_file(tmp_path), write(tmp_path, "blobs.py", DATA), write(tmp_path, "net.py", NETWORK)]
    load_plugins(*paths)
    for path in paths:
        path.unlink()  # workers get the text
    specs = [TrialSpec(TaskSpec("my-blobs", seed=seed, model="tiny"), "my-squares", 2) for seed in range(2)]
    store = Store(tmp_path / engine.replace(":", "-"))
    assert run_trials(specs, store, engine=engine, jobs=2) == []
    records = store.records()
    assert {record.key for record in records} == {spec.key for spec in specs}
    assert all(json.loads(path.read_text())["plugins"] == specs[0].plugins for path in store.finished())


def test_a_worker_that_ran_an_older_version_runs_the_new_one(tmp_path):
    accuracies = []
    for positive in ("[1]", "[0]"):  # the same data with the classes swapped
        data = DATA.replace("n_pairs=60,", f"n_pairs=60, positive={positive},")
        with plugged(write(tmp_path, "blobs.py", data.replace('"0.2"', f'"{positive[1]}"'))):
            spec = TrialSpec(TaskSpec("my-blobs", prior=0.4), "oracle-hard", 2)
            store = Store(tmp_path / "results")
            assert run_trials([spec, replace(spec, method="oracle-soft")], store, jobs=2) == []
            accuracies.append(record_of_key(store, spec.key))
            assert float(make_task(spec.task, keep_teacher=False).test_labels.mean()) == pytest.approx(0.4, abs=0.02)
    assert accuracies[0] != accuracies[1]


def record_of_key(store, key):
    return next(record.accuracy for record in store.records() if record.key == key)


@pytest.fixture
def foreign(tmp_path):
    """A store with trials of a plug-in that is no longer loaded, and two others."""
    store = Store(tmp_path / "results")
    with plugged(method_file(tmp_path)):
        for seed in range(3):
            spec = TrialSpec(TaskSpec("letter", seed=seed), "my-squares")
            store.save(record_of(spec, accuracy=0.95))
        store.save(record_of(TrialSpec(TaskSpec("letter"), "confdiff-abs")))
    return store


def test_records_of_a_missing_plugin_are_kept_and_read_when_it_is_back(foreign, tmp_path):
    whole = {path.stem: path.read_text().strip() for path in foreign.finished()}
    kinds = [type(record) for record in foreign.records()]
    assert kinds == [TrialRecord, ForeignRecord, ForeignRecord, ForeignRecord]
    assert foreign.unreadable() == []
    foreign.compact()
    assert sorted((foreign.folder / "letter.jsonl").read_text().splitlines()) == sorted(whole.values())
    for record in foreign.records():
        assert json.dumps(record.to_json(), separators=(",", ":")) == whole[record.key]
    with plugged(method_file(tmp_path)):
        assert {type(record) for record in foreign.records()} == {TrialRecord}
    with plugged(method_file(tmp_path, version="2.0")):
        assert sum(isinstance(record, ForeignRecord) for record in foreign.records()) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "my-cubes"}, "is not the key of its fields"),
        ({"accuracy": 2}, "accuracy must be at most 1"),
        ({"plugins": {"mine": 1}}, "plugins"),
        ({"plugins": {"mine": "7"}}, "is not the key of its fields"),
        ({"dataset": "../letter"}, "dataset must be a plain file name"),
        ({"plugins": {}}, "unknown method 'my-squares'"),
    ],
)
def test_damaged_records_of_a_missing_plugin_are_refused(foreign, change, message):
    line = next(record for record in foreign.records() if isinstance(record, ForeignRecord)).to_json()
    with pytest.raises(ValueError, match=message):
        record_from_json(line | change)


def test_a_record_does_not_change_its_plugins(foreign, tmp_path):
    line = next(record for record in foreign.records() if isinstance(record, ForeignRecord)).to_json()
    with plugged(method_file(tmp_path), write(tmp_path, "net.py", NETWORK)):
        assert record_from_json(line).spec.plugins == {"mine": "1.0"}
        with pytest.raises(ValueError, match="its plug-ins are"):
            record_from_json(line | {"plugins": {"mine": "1.0", "net": "3"}})


def test_a_report_shows_the_row_of_a_plugin_and_lists_what_is_not_loaded(foreign, tmp_path):
    write_report(foreign, tmp_path / "without")
    text = (tmp_path / "without" / "results.md").read_text()
    assert "| mine 1.0 | letter | 0.5 | my-squares | mlp | paper | 200 | .950 ± .000 (3) |" in text
    assert "ConfDiff-ABS" in text
    with plugged(method_file(tmp_path)):
        write_report(foreign, tmp_path / "with")
    text = (tmp_path / "with" / "results.md").read_text()
    assert "| My squares | **.950 ± .000** (3" in text
    assert f"--methods my-squares --priors 0.5 --plugin {tmp_path / 'mine.py'}" in text
    assert f"| mine | 1.0 | {tmp_path / 'mine.py'} | My squares |  |  |" in text
    assert "not loaded" not in text


def test_a_report_of_nothing_but_missing_plugins_is_a_report(foreign, tmp_path):
    foreign.compact()
    lines = (foreign.folder / "letter.jsonl").read_text().splitlines()
    (foreign.folder / "letter.jsonl").write_text("".join(f"{line}\n" for line in lines if "my-squares" in line))
    files = write_report(foreign, tmp_path / "page")
    assert "3 trials. These trials come from plug-ins" in files["markdown"].read_text()
