"""The report shows the trials that can be read, and lists separately what cannot be read."""

import pytest

from command import confdiff
from confdiff.experiments.report.writing import write_report
from confdiff.experiments.trials.store import Store
from trial_records import trial


@pytest.fixture
def store(tmp_path):
    store = Store(tmp_path / "results")
    for seed in range(3):
        store.save(trial("confdiff-abs", seed, 0.9))
    return store


def test_damaged_results_are_listed_and_the_others_are_reported(store, tmp_path):
    store.compact()
    whole = report(store, tmp_path)
    assert "Results that were not read" not in whole
    (store.trials / "bad.json").write_text('{"a": "<script>|"}')
    with (store.folder / "usps.jsonl").open("a") as file:
        file.write("[" * 100_000 + "\n")
    text = report(store, tmp_path)
    assert text.startswith(whole.rstrip("\n"))
    section = text[len(whole) :]
    assert "| bad.json | 1 | the field 'dataset' is missing |" in section
    assert "| usps.jsonl | 4 | its values are nested more than 64 deep |" in section


def report(store, folder):
    return write_report(store, folder / "report")["markdown"].read_text()


def test_names_in_results_are_text_in_the_report(store, tmp_path):
    (store.trials / "bad.json").write_text('{"<script>alert(1)</script>|": 1, "ndcg@10": 1, "hr@10": 1}')
    (store.trials / "x.json").write_text('{"a|<b>": 1, "ndcg@10": 1, "hr@10": 1, "full hr@10": 1, "full ndcg@10": 1}')
    text = report(store, tmp_path)
    page = (tmp_path / "report" / "results.html").read_text()
    assert r"unknown fields: 'a\|&lt;b>'" in text
    assert "a|&lt;b&gt;" in page


def test_a_folder_without_readable_trials_is_an_error(store, tmp_path):
    for path in store.finished():
        path.write_text("{")
    with pytest.raises(ValueError, match=r"no trial in .* can be read: .*json, line 1, is damaged .*\(and 2 more\)"):
        write_report(store, tmp_path / "report")


def test_commands_warn_of_damaged_results(store, tmp_path):
    (store.trials / "bad.json").write_text("{")
    result = confdiff("report", "--results", store.folder, "-o", tmp_path / "page")
    assert result.returncode == 0
    assert "warning:" in result.stderr
    assert "bad.json, line 1, is damaged or not the record of a trial" in result.stderr
