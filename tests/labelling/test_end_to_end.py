"""From nothing to a model by commands: a study, answers through HTTP, `check`, `fit` with annotators, `predict`."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.labelling.demo import DEMO_JUDGES


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The demo's folder, after the commands of the documentation."""
    home = tmp_path_factory.mktemp("digits")
    run(home, "label", "demo", "digits", "--exit")
    run(home, "check", "digits/digits.study", "-o", "digits/check")
    run(home, "fit", "digits/digits.study", "--model", "linear", "-o", "digits/model")
    run(home, "predict", "digits/model", "digits/new.csv", "-o", "digits/scores.csv")
    return home / "digits"


def run(home, *arguments):
    result = confdiff(*arguments, cwd=home)
    assert result.returncode == 0, result.stderr
    return result


def test_check_finds_the_judges_of_the_demo(folder):
    report = json.loads((folder / "check" / "check.json").read_text())
    annotators = {row["name"]: row for row in report["measures"]["annotators"]}
    assert sorted(annotators) == sorted(judge.name for judge in DEMO_JUDGES)
    assert annotators["Ben"]["slope"] < 0.75
    assert annotators["Dev"]["bias"] == pytest.approx(0.25, abs=0.08)
    assert any("second" in text for text in annotators["Dev"]["deviations"])
    assert report["measures"]["components"]["count"] == 1


def test_fit_estimates_the_annotators(folder):
    about = json.loads((folder / "model" / "model.json").read_text())
    text = json.dumps(about)
    assert all(f'"{judge.name}"' in text for judge in DEMO_JUDGES)


def test_scores_of_new_digits_follow_their_values(folder):
    """Digits that nobody compared: the rank correlation of their scores with their values."""
    new = pd.read_csv(folder / "new.csv")
    scores = pd.read_csv(folder / "scores.csv")
    assert new["id"].tolist() == scores["id"].tolist()
    correlation = np.corrcoef(new["digit"].rank(), scores["probability"].rank())[0, 1]
    assert correlation > 0.6
