"""The study of methods under noise."""

import csv
from dataclasses import replace

import pytest

from confdiff.experiments.plans.study import (
    CONDITIONS,
    STUDY_METHODS,
    StudyCell,
    study_blocks,
    study_cells,
    study_file,
    study_grid,
)
from confdiff.experiments.plans.table_results import table_results
from confdiff.experiments.report.csv import as_csv
from confdiff.experiments.report.writing import report_html, report_markdown
from confdiff.experiments.statistics import Trials
from plugged import method_file, plugged
from trial_records import record_of, with_task


def made_up_records():
    """Regression is always better than ABS by about .02, projection by nothing; there is nothing of the others."""
    records = []
    gains = {"confdiff-abs": (0, 0, 0), "confdiff-regression": (19, 20, 21), "confdiff-projection": (-5, 0, 5)}
    for spec in study_grid(trials=3, methods=list(gains)):
        seed = spec.task.seed
        records.append(record_of(spec, 0.9 + 0.01 * seed + 0.001 * gains[spec.method][seed]))
    return records


def test_the_grid_has_every_condition_once_per_seed():
    grid = study_grid()
    assert len(grid) == len({spec.key for spec in grid}) == 2 * 2 * len(CONDITIONS) * len(STUDY_METHODS) * 5
    assert {spec.task.seed for spec in grid[: len(grid) // 5]} == {0}
    with pytest.raises(ValueError, match="unknown data set of the study 'mnist'"):
        study_grid(datasets=["mnist"])


def test_methods_are_compared_on_the_same_pairs():
    cells = {(c.dataset, c.prior, c.condition, c.method): c for c in study_cells(made_up_records())}
    assert len(cells) == 2 * 2 * len(CONDITIONS) * 3
    better = cells["usps", 0.2, "five grades", "confdiff-regression"]
    assert (better.verdict, round(better.gain, 4), better.trials.n) == ("above", 0.02, 3)
    assert better.p_value == pytest.approx(0.00083, abs=1e-5)  # t = .02 / (.001 / sqrt 3) with 2 degrees of freedom
    assert cells["usps", 0.2, "five grades", "confdiff-projection"].verdict == "level"
    assert cells["usps", 0.2, "five grades", "confdiff-abs"].verdict == ""


def test_gains_that_are_all_alike_are_no_chance():
    records = [replace(r, accuracy=0.9 - 0.02 * (r.method != "confdiff-abs")) for r in made_up_records()]
    verdicts = {cell.verdict for cell in study_cells(records) if cell.method != "confdiff-abs"}
    assert verdicts == {"below"}
    records = [replace(r, accuracy=0.9) for r in made_up_records()]
    assert {cell.verdict for cell in study_cells(records) if cell.method != "confdiff-abs"} == {"level"}


def test_the_study_is_in_the_report():
    records = made_up_records()
    (exact,) = table_results(records)  # what is exact is also a trial of Table 2
    assert exact.title == "Table 2, protocol authors, 50 epochs"
    cells = study_cells(records)
    assert study_cells([record for record in records if not record.options]) == []
    assert study_cells([replace(record, spec=replace(record.spec, epochs=7)) for record in records])[0].epochs == 7
    assert study_cells([with_task(record, fraction=0.5) for record in records]) == []
    text = report_markdown(study_blocks(cells))
    assert "| USPS | 0.2 | label differences | .910 ± .010 (3) | .930 ± .011 (3) + |" in text
    assert "| ConfDiff-Regression | 28 | 0 | 0 | +.020 |" in text
    page = report_html(study_blocks(cells))
    assert page.count('class="above"') == 28
    rows = list(csv.DictReader(as_csv(study_file(cells)).splitlines()))
    assert len(rows) == len(cells)
    assert {row["verdict"] for row in rows} == {"above", "level", ""}


def test_a_method_of_a_plugin_has_a_column_and_a_command(tmp_path):
    path = method_file(tmp_path)
    with plugged(path):
        records = made_up_records()
        records += [record_of(spec, 0.95) for spec in study_grid(trials=3, methods=["my-squares"])]
        text = report_markdown(study_blocks(study_cells(records)))
    assert "| condition | ConfDiff-ABS | ConfDiff-Regression | ConfDiff-Projection | My squares |" in text
    assert "| My squares | 28 | 0 | 0 |" in text
    assert f"--trials 3 --methods my-squares --plugin {path}" in text
    assert "My squares" not in report_markdown(study_blocks(study_cells(made_up_records())))


def test_a_study_by_two_protocols_shows_both():
    cells = [
        StudyCell(protocol, 50, "usps", 0.5, "exact", "confdiff-abs", Trials({0: accuracy}), None)
        for protocol, accuracy in (("authors", 0.912), ("paper", 0.934))
    ]
    page = report_html(study_blocks(cells))
    assert ".912" in page
    assert ".934" in page
