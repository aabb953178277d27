"""The command compare."""

import json

import pytest

from command import confdiff
from plugged import method_file

PLAN = 'methods = ["confdiff-abs", "oracle-soft"]\ndatasets = ["digits"]\n'
NAMES = ["--methods", "confdiff-abs,oracle-soft", "--datasets", "digits"]
SMALL = [*NAMES, "--model", "linear", "--epochs", "2", "--trials", "3", "--n-pairs", "100"]
LARGE = [*SMALL[:-2], "--jobs", "1"]  # the default number of pairs


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a comparison needs methods: pass --methods NAMES."),
        (["--methods", "confdiff-abs,oracle-soft"], "a comparison needs datasets: pass --datasets NAMES."),
        (["--methods", "abs,oracle-soft", "--datasets", "digits"], "unknown method 'abs'."),
        (["--methods", "confdiff-abs,oracle-soft", "--datasets", "digit"], "Did you mean 'digits'?"),
        (["plan.toml", "--epochs", "5"], "--epochs 5 contradicts epochs = 9 in plan.toml: remove one of them."),
        (["plan.toml", "--methods", "pcomp-abs,mrl"], "--methods pcomp-abs,mrl contradicts methods = ["),
        (["bad.toml"], "bad.toml: unknown key 'epoch'. Did you mean 'epochs'?"),
        (["no.toml"], "the plan no.toml does not exist"),
        ([*SMALL, "--priors", "half"], "--priors must be numbers separated by commas, such as .2,.8; got 'half'"),
        ([*SMALL, "--noise", "additive"], "needs its amount after a colon, such as additive:0.3"),
        ([*SMALL, "--reference", "pcomp-abs"], "unknown reference among the methods 'pcomp-abs'"),
        ([*SMALL, "-o", "plan.toml"], "plan.toml is a file"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    (tmp_path / "plan.toml").write_text(f"{PLAN}epochs = 9\n")
    (tmp_path / "bad.toml").write_text("epoch = 9\n")
    result = confdiff("compare", *arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "results").exists()


def test_a_comparison_is_run_written_and_not_run_again(tmp_path):
    before = confdiff("compare", *SMALL, "--dry-run", cwd=tmp_path)
    assert "6 of 6 trials are to be run." in before.stdout
    assert "results has no finished trials of this network" in before.stdout
    first = confdiff("compare", *SMALL, "--jobs", "2", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    assert "page: comparison/comparison.html" in first.stdout
    values = json.loads((tmp_path / "comparison" / "comparison.json").read_text())
    assert values["headline"] == first.stdout.splitlines()[:3]
    assert {len(cell["by_seed"]) for cell in values["cells"]} == {3}
    stored = (tmp_path / "results" / "digits.jsonl").read_text()
    second = confdiff("compare", *SMALL, cwd=tmp_path)
    assert second.returncode == 0, second.stderr
    assert (tmp_path / "results" / "digits.jsonl").read_text() == stored
    assert "0 of 6 trials are to be run." in confdiff("compare", *SMALL, "--dry-run", cwd=tmp_path).stdout


def test_the_time_is_estimated_from_finished_trials(tmp_path):
    assert confdiff("compare", *SMALL, "--jobs", "1", cwd=tmp_path).returncode == 0
    more = confdiff("compare", *SMALL, "--priors", ".3,.5", "--dry-run", cwd=tmp_path)
    assert "6 of 12 trials are to be run." in more.stdout
    assert "Estimated processor time, without teachers: " in more.stdout


def test_a_plan_in_a_file_gives_the_same_trials(tmp_path):
    (tmp_path / "plan.toml").write_text(f'{PLAN}model = "linear"\nepochs = 2\nn_pairs = 100\n')
    assert confdiff("compare", *SMALL, "--jobs", "1", cwd=tmp_path).returncode == 0
    result = confdiff("compare", "plan.toml", "--trials", "3", "--dry-run", cwd=tmp_path)
    assert "0 of 6 trials are to be run." in result.stdout


def test_methods_of_plug_ins_are_compared_by_several_workers(tmp_path):
    method_file(tmp_path)
    arguments = [*SMALL, "--methods", "my-squares,confdiff-abs", "--plugin", "mine.py", "--jobs", "2"]
    result = confdiff("compare", *arguments, cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    text = (tmp_path / "comparison" / "comparison.md").read_text()
    assert "| My squares |" in text
    assert "--plugin mine.py" in text


def test_trials_that_fail_are_named_and_the_others_reported(tmp_path):
    """At a class prior of .9 the digits have too few positives for the default number of pairs."""
    result = confdiff("compare", *LARGE, "--priors", ".5,.9", cwd=tmp_path)
    assert result.returncode == 1
    assert "failed: confdiff-abs, 2 epochs, dataset digits, prior 0.9" in result.stderr
    text = (tmp_path / "comparison" / "comparison.md").read_text()
    assert "6 trials of the plan could not be run." in text


def test_if_every_trial_fails_there_is_no_page(tmp_path):
    result = confdiff("compare", *LARGE, "--priors", ".9", cwd=tmp_path)
    assert result.returncode == 1
    assert "failed: confdiff-abs" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "comparison").exists()
