"""The commands on tables with same-class answers."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff


@pytest.fixture
def folder(tmp_path):
    """Items, pairs with differences and answers, and pairs with answers alone."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    r = 0.05 + 0.45 / (1 + np.exp(-3 * x))
    labels = rng.random(300) < r
    ids = np.array([f"i{k}" for k in range(300)])
    left, right = np.array([rng.choice(300, 2, replace=False) for _ in range(700)]).T
    pairs = pd.DataFrame({"left": ids[left], "right": ids[right]})
    answers = pairs.assign(same=np.where(labels[left] == labels[right], "Yes", "No"))
    has_answer = np.arange(700) >= 400
    mixed = answers.assign(
        difference=np.where(has_answer, np.nan, r[right] - r[left]), same=answers["same"].where(has_answer)
    )
    pd.DataFrame({"id": ids, "x": x}).to_csv(tmp_path / "items.csv", index=False)
    answers.to_csv(tmp_path / "answers.csv", index=False)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    return tmp_path


def test_answers_besides_differences(folder):
    checked = confdiff("check", "items.csv", "mixed.csv", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    assert "700 pairs (700 usable)" in checked.stdout + checked.stderr
    result = confdiff("fit", "items.csv", "mixed.csv", "--model", "linear", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "from same-class answers" in result.stdout + result.stderr
    assert confdiff("predict", "model", "items.csv", "-o", "scores.csv", cwd=folder).returncode == 0
    assert pd.read_csv(folder / "scores.csv")["probability"].mean() == pytest.approx(0.275, abs=0.1)


def test_answers_alone(folder):
    checked = confdiff("check", "items.csv", "answers.csv", "--json", cwd=folder)
    assert checked.returncode == 0, checked.stderr
    report = json.loads(checked.stdout)
    assert [finding["kind"] for finding in report["findings"] if finding["severity"] == "warning"] == ["answers-only"]
    assert "--positives rarer" in next(f["action"] for f in report["findings"] if f["kind"] == "answers-only")
    refused = confdiff("fit", "items.csv", "answers.csv", cwd=folder)
    assert refused.returncode == 2
    assert "Pass --positives rarer or --positives commoner" in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (folder / "model").exists()
    result = confdiff("fit", "items.csv", "answers.csv", "--positives", "rarer", "--epochs", "10", cwd=folder)
    assert result.returncode == 0, result.stderr
    shown = confdiff("show", "model", cwd=folder)
    assert "Are the two items of the same class?" in shown.stdout + shown.stderr
    assert "network mlp by sconf-abs" in shown.stdout + shown.stderr
    assert "Are the two items of the same class?" in (folder / "model" / "card.html").read_text()


@pytest.mark.parametrize(("answer", "message"), [("2", "the answer 2.0 is not valid"), ("perhaps", "got 'perhaps'")])
def test_bad_answers_get_one_message(folder, answer, message):
    table = (folder / "answers.csv").read_text().replace("Yes", answer, 1)
    (folder / "answers.csv").write_text(table)
    refused = confdiff("fit", "items.csv", "answers.csv", "--positives", "rarer", cwd=folder)
    assert refused.returncode == 2
    assert message in refused.stderr
    assert refused.stderr.count("error:") == 1
    assert confdiff("check", "items.csv", "answers.csv", cwd=folder).returncode == 2
