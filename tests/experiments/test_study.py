import csv

import pytest

from command import confdiff
from confdiff.experiments.findings import Findings
from confdiff.experiments.markdown import as_markdown
from confdiff.experiments.report import as_html, as_study_csv
from confdiff.experiments.sections import sections_of
from confdiff.experiments.study import CONDITIONS, METHODS, study_cells, study_grid
from confdiff.experiments.trials.run import run_trial
from confdiff.experiments.trials.spec import TrialSpec
from confdiff.tasks import TaskSpec


def made_up_records():
    """Regression is always better than ABS by about .02, projection by nothing; there is nothing of the others."""
    records = []
    gains = {"confdiff-abs": (0, 0, 0), "confdiff-regression": (19, 20, 21), "confdiff-projection": (-5, 0, 5)}
    for spec in study_grid(trials=3, methods=list(gains)):
        task = spec.task
        accuracy = 0.9 + 0.01 * task.seed + 0.001 * gains[spec.method][task.seed]
        options = {name: getattr(task, name) for name in ("noise", "noise_amount") if getattr(task, name) is not None}
        options |= {"prior_factor": task.prior_factor} if task.prior_factor != 1 else {}
        records.append(
            {
                "key": spec.key, "dataset": task.dataset, "prior": task.prior, "protocol": "authors", "seed": task.seed,
                "method": spec.method, "epochs": spec.epochs, "accuracy": accuracy, "seconds": 1.0,
                "curve": [], **options,
            }
        )  # fmt: skip
    return records


def test_the_grid_has_every_condition_once_a_seed():
    grid = study_grid()
    assert len(grid) == len({spec.key for spec in grid}) == 2 * 2 * len(CONDITIONS) * len(METHODS) * 5
    assert {spec.task.seed for spec in grid[: len(grid) // 5]} == {0}
    with pytest.raises(ValueError, match="unknown data set of the study 'mnist'"):
        study_grid(datasets=["mnist"])


def test_methods_are_compared_on_the_same_pairs():
    cells = {(c.dataset, c.prior, c.condition, c.method): c for c in study_cells(made_up_records())}
    assert len(cells) == 2 * 2 * len(CONDITIONS) * 3
    better = cells["usps", 0.2, "five grades", "confdiff-regression"]
    assert (better.verdict, round(better.gain, 4), len(better.accuracies)) == ("above", 0.02, 3)
    assert better.p_value == pytest.approx(0.00083, abs=1e-5)  # t = .02 / (.001 / sqrt 3) with 2 degrees of freedom
    assert cells["usps", 0.2, "five grades", "confdiff-projection"].verdict == "level"
    assert cells["usps", 0.2, "five grades", "confdiff-abs"].verdict == ""


def test_gains_that_are_all_alike_are_no_chance():
    records = [r | {"accuracy": 0.9 - 0.02 * (r["method"] != "confdiff-abs")} for r in made_up_records()]
    verdicts = {cell.verdict for cell in study_cells(records) if cell.method != "confdiff-abs"}
    assert verdicts == {"below"}
    records = [r | {"accuracy": 0.9} for r in made_up_records()]
    assert {cell.verdict for cell in study_cells(records) if cell.method != "confdiff-abs"} == {"level"}


def test_the_study_is_in_the_report():
    records = made_up_records()
    (exact,) = sections_of(records)  # what is exact is also a trial of Table 2
    assert exact.title == "Table 2, protocol authors, 50 epochs"
    cells = study_cells(records)
    assert study_cells([record for record in records if "noise" not in record and "prior_factor" not in record]) == []
    assert study_cells([record | {"epochs": 7} for record in records])[0].epochs == 7
    assert study_cells([record | {"fraction": 0.5} for record in records]) == []
    text = as_markdown(Findings(study=cells))
    assert "| USPS | 0.2 | label differences | .910 ± .010 (3) | .930 ± .011 (3) + |" in text
    assert "| ConfDiff-Regression | 28 | 0 | 0 | +.020 |" in text
    page = as_html(Findings(study=cells))
    assert page.count('class="above"') == 28
    rows = list(csv.DictReader(as_study_csv(cells).splitlines()))
    assert len(rows) == len(cells)
    assert {row["verdict"] for row in rows} == {"above", "level", ""}


def test_the_prior_can_be_kept_from_methods_that_do_without():
    task = TaskSpec("digits", model="linear", n_pairs=60)
    told, untold = (TrialSpec(task, "confdiff-regression", 2, flag) for flag in (True, False))
    assert told.key != untold.key
    assert "prior_is_told" not in run_trial(told)
    assert run_trial(untold)["prior_is_told"] is False
    with pytest.raises(ValueError, match="'confdiff-abs' needs the class prior"):
        TrialSpec(task, "confdiff-abs", 2, False)


def test_a_study_has_no_unknown_prior(tmp_path):
    result = confdiff("reproduce", "study", "--without-prior", cwd=tmp_path)
    assert result.returncode == 2
    assert "--without-prior is not for study, but for table1, table2." in result.stderr
