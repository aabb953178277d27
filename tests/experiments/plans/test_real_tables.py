"""The study on real tables: its grid, its trials, its cells and claims, and its section of the report."""

import csv
from functools import partial

import numpy as np
import pytest

from confdiff.datasets import Dataset
from confdiff.estimators import ConfDiffAuto
from confdiff.experiments.plans import real_table_learners, real_table_task
from confdiff.experiments.plans.real_table_cells import (
    CHOICE,
    COMPARED,
    ORACLES,
    TABLE_CANDIDATES,
    learner_cells,
    table_claims,
)
from confdiff.experiments.plans.real_table_learners import LEARNERS
from confdiff.experiments.plans.real_table_section import gaps_figure, table_blocks, table_files, table_summary
from confdiff.experiments.plans.real_table_task import DIFFERENCES
from confdiff.experiments.plans.real_table_trial import run_table_trial
from confdiff.experiments.plans.real_tables import REAL_TABLES, real_tables_grid
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.writing import report_html, report_markdown
from confdiff.experiments.trials.store import Store
from table_records import table_record, table_spec


def test_the_grid_has_every_learner_once_per_task():
    grid = real_tables_grid()
    tasks = 4 * 2 * 3 * 5
    noisy = len(DIFFERENCES) * len(COMPARED)
    assert len(grid) == len({spec.key for spec in grid}) == tasks * (noisy + len(ORACLES))
    assert [spec.pairs for spec in grid] == sorted((spec.pairs for spec in grid), key=[300, 1500, 100].index)
    chosen = real_tables_grid(datasets=["wine"], methods=["abs"], points=[300.0], trials=2)
    assert len(chosen) == 2 * 5 * 2
    with pytest.raises(ValueError, match="unknown learner 'forest'"):
        real_tables_grid(methods=["forest"])
    with pytest.raises(ValueError, match="number of pairs"):
        real_tables_grid(points=[0.5])


@pytest.fixture
def small(monkeypatch):
    rng = np.random.default_rng(0)
    labels = (np.arange(400) % 3 == 0).astype(np.uint8)
    items = (rng.normal(size=(400, 3)) + 1.5 * labels[:, None]).astype(np.float32)
    real_table_task._load.cache_clear()
    real_table_task._grades.cache_clear()
    monkeypatch.setattr(real_table_task, "load", lambda name, **_: Dataset(name, items, labels, ("no", "yes"), (1,)))
    yield
    real_table_task._load.cache_clear()
    real_table_task._grades.cache_clear()


@pytest.mark.parametrize("learner", [name for name in LEARNERS if LEARNERS[name].stage == 1])
def test_a_trial_measures_a_learner(learner, small):
    spec = table_spec(learner, pairs=100)
    record = run_table_trial(spec)
    assert record.accuracy > 0.75
    assert record.auc > 0.8
    assert record.brier < 0.2
    assert (record.key, record.n_pairs, record.n_test) == (spec.key, 100, 81)
    again = run_table_trial(spec)
    assert (again.accuracy, again.auc, again.brier) == (record.accuracy, record.auc, record.brier)


@pytest.mark.parametrize("learner", [name for name in COMPARED if LEARNERS[name].stage == 1])
def test_differences_beyond_1_are_learned_from(learner, small):
    assert run_table_trial(table_spec(learner, differences="multiplicative", pairs=100)).auc > 0.8


def test_the_choice_takes_differences_beyond_1(small, monkeypatch):
    monkeypatch.setattr(real_table_learners, "ConfDiffAuto", partial(ConfDiffAuto, candidates=["linear"]))
    record = run_table_trial(table_spec("auto", differences="multiplicative", pairs=100))
    assert (record.chosen, record.auc > 0.8) == ("linear", True)


def test_missing_data_sets_fail_and_the_others_run(small, tmp_path, monkeypatch):
    available = real_table_task.load

    def load(name, **how):
        if name == "wine":
            raise FileNotFoundError("wine is missing")
        return available(name, **how)

    monkeypatch.setattr(real_table_task, "load", load)
    specs = [table_spec("linear", dataset=name, pairs=50) for name in ("adult", "wine")]
    failures = REAL_TABLES.run(specs, Store(tmp_path))
    assert failures == [(specs[1], "wine is missing")]
    assert Store(tmp_path).keys() == {specs[0].key}


def made_up_records(gap=0.005, dataset="adult"):
    """Candidates differ by .01 in turn; the choice is ``gap`` below the best; ABS is .05 below all."""
    records = []
    for seed in range(3):
        wobble = 0.001 * (seed - 1)
        for place, name in enumerate(TABLE_CANDIDATES):
            records.append(table_record(name, 0.85 - 0.01 * place + wobble, dataset=dataset, seed=seed))
        records.append(table_record("abs", 0.8 + 2 * wobble, dataset=dataset, seed=seed))
        records.append(table_record("linear-soft", 0.86, dataset=dataset, seed=seed))
        records.append(table_record(CHOICE, 0.85 - gap, dataset=dataset, seed=seed, chosen=TABLE_CANDIDATES[0]))
    return records


def test_cells_show_oracles_for_every_kind_of_differences():
    records = [*made_up_records(), *(table_record("abs", 0.7, differences="labels", seed=seed) for seed in range(3))]
    exact, labels = learner_cells(records)
    assert (exact.differences, labels.differences) == ("exact", "labels")
    assert labels.trials("linear-soft").n == exact.trials("linear-soft").n == 3
    assert labels.mean(TABLE_CANDIDATES[0]) is None
    assert exact.below_best("abs") == pytest.approx(0.05)
    assert exact.below_best(TABLE_CANDIDATES[0]) == 0
    assert labels.below_best("abs") is None


def test_trials_of_earlier_versions_are_ignored():
    old = table_record("abs", 0.1, version=LEARNERS["abs"].version + 1)
    (cell,) = learner_cells([*made_up_records(), old])
    assert cell.mean("abs") == pytest.approx(0.8)


def test_claims_count_the_cells_in_which_they_hold():
    records = [*made_up_records(0.005), *made_up_records(0.015, "wine"), *made_up_records(0.06, "spambase")]
    found = {claim.text: claim for claim in table_claims(learner_cells(records))}
    near = found["auto at most 0.01 accuracy below the best candidate"]
    assert (near.holds, near.cells, round(near.worst, 4)) == (1, 3, -0.06)
    assert near.where == "spambase, natural, exact, 300 pairs"
    assert near.misses == ("spambase, natural, exact, 300 pairs", "wine, natural, exact, 300 pairs")
    assert found["auto at most 0.02 accuracy below the best candidate"].holds == 2
    assert found["auto at most 0.01 accuracy and 0.01 AUC below the best candidate"].holds == 1
    assert found["auto at most 0.01 AUC below the best candidate"].holds == 3
    below = found["auto not significantly below ConfDiff-ABS in accuracy"]
    assert (below.holds, below.cells, round(below.worst, 4)) == (2, 3, -0.01)


def test_claims_are_about_cells_with_enough_pairs_and_trials():
    few_pairs = [table_record(name, 0.8, pairs=100, seed=seed) for name in COMPARED for seed in range(3)]
    few_trials = [table_record(name, 0.8, seed=seed) for name in COMPARED for seed in range(2)]
    assert table_claims(learner_cells(few_pairs)) == []
    assert table_claims(learner_cells(few_trials)) == []


def test_the_section_is_in_the_report_only_with_trials(monkeypatch):
    assert table_blocks([]) == []
    assert table_files([]) == []
    records = [*made_up_records(), *made_up_records(0.015, "wine")]
    blocks = table_blocks(records)
    text = report_markdown(blocks)
    assert "## Real tables under noise" in text
    assert "confdiff reproduce real_tables --points 300 --datasets adult,wine" in text
    assert "| Adult | .240 | 300 | exact |" in text
    assert "**.850 / .900** (3)" in text
    assert "| 1 of 2 | -.015 | wine, natural, exact, 300 pairs | wine, natural, exact, 300 pairs |" in text
    assert "Real tables under noise" in report_html(blocks)
    (file,) = table_files(records)
    rows = list(csv.DictReader(as_csv(file).splitlines()))
    assert {(row["dataset"], row["learner"]) for row in rows} >= {("wine", "abs"), ("adult", "linear-soft")}
    assert next(row for row in rows if row["learner"] == "abs")["below best candidate"] == "0.05000"
    assert len(table_summary(records).rows) == 2


def test_the_picture_has_a_dot_per_cell_and_learner():
    figure = gaps_figure(learner_cells([*made_up_records(), *made_up_records(0.015, "wine")]))
    (axes,) = figure.axes
    dots = [line for line in axes.lines if line.get_marker() == "o"]
    assert sum(len(line.get_xdata()) for line in dots) == 2 * len(dots)
    assert min(min(line.get_xdata()) for line in dots) == pytest.approx(-0.05)
