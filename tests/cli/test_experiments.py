"""The commands run, reproduce and report."""

import csv

import pytest

from command import confdiff
from confdiff.experiments.plans import EXPERIMENTS, REPRODUCIBLE


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "digits", "--methods", "abs"], "unknown method 'abs'"),
        (
            ["run", "digits", "--priors", "half"],
            "--priors must be numbers separated by commas, such as .2,.8; got 'half'",
        ),
        (["reproduce", "table9"], "unknown experiment 'table9'"),
        (["run", "digits", "--methods", "bpr"], "bpr only ranks items"),
        (["run", "digits", "--methods", ""], "--methods names no method"),
        (["run", "digits", "--priors", ","], "--priors names no prior"),
        (
            ["run", "digits", "--incomplete"],
            "--incomplete is for data that come in batches (CIFAR-10); digits",
        ),
        (["run", "digits", "--results", "file/sub"], "file/sub/trials/trial.json cannot be written: file is a file"),
        (
            ["reproduce", "table2", "--points", ".1"],
            "--points does not apply to table2; it applies to figure1, figure2, figure3",
        ),
        (["reproduce", "table3", "--priors", ".2"], "--priors does not apply to table3"),
        (["reproduce", "table3", "--protocol", "foo"], "--protocol does not apply to table3"),
        (
            ["reproduce", "table2", "--early-stopping"],
            "--early-stopping does not apply to table2; it applies to table3",
        ),
        (
            ["reproduce", "table2", "--without-prior"],
            "'confdiff-abs' needs the class prior. Methods that do not need it: confdiff-regression,",
        ),
        (["reproduce", "figure2", "--points", ".3"], "unknown point of figure2 '0.3'"),
        (["reproduce", "figure1", "--methods", "abs"], "unknown method of figure1 'abs'"),
        (["reproduce", "overview"], "unknown experiment 'overview'"),
        (
            ["reproduce", "study", "--without-prior"],
            "--without-prior does not apply to study; it applies to table1, table2",
        ),
        (["run", "digits", "--engine", "serail"], "unknown engine 'serail'"),
        (["report"], "there are no trials in results"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.data
def test_what_a_figure_prints_tells_its_points_apart(tmp_path):
    """Two shares of the pairs are two lines, not one mean."""
    options = ["--datasets", "optdigits", "--methods", "confdiff-abs", "--points", ".1,.2", "--trials", "1"]
    result = confdiff("reproduce", "figure2", *options, "--epochs", "1", "--jobs", "1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "fraction 0.1" in result.stdout
    assert "fraction 0.2" in result.stdout


def test_the_help_lists_the_experiments():
    text = " ".join(confdiff("reproduce", "--help").stdout.replace("│", " ").split())
    for name in REPRODUCIBLE:
        assert f"`{name}` ({EXPERIMENTS[name].description})" in text


def test_report_as_a_command(tmp_path):
    """What is run on other data than the paper's is shown too, with the command that makes it."""
    command = "run digits --protocol paper --priors 0.5 --methods confdiff-abs --epochs 2 --trials 1"
    run = confdiff(*command.split(), cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "confdiff report --results results" in run.stdout
    result = confdiff("report", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    names = ["parts.csv", "results.csv", "results.html", "results.md"]
    assert sorted(path.name for path in (tmp_path / "report").iterdir()) == names
    (row,) = csv.DictReader((tmp_path / "report" / "parts.csv").read_text().splitlines())
    for text in ((tmp_path / "report" / name).read_text() for name in names[2:]):
        assert f"confdiff {command}" in text
        assert f"{float(row['mean']):.3f} (1, no interval)".removeprefix("0") in text


def test_a_report_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    assert confdiff("run", "digits", "--epochs", "1", cwd=tmp_path).returncode == 0
    result = confdiff("report", "-o", "file", cwd=tmp_path)
    assert result.returncode == 2
    assert "cannot be written: file is a file." in result.stderr
