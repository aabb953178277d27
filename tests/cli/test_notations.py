"""Judgements that are not plain numbers, through the commands."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff

WORDS = ("far worse", "worse", "slightly worse", "same", "slightly better", "better", "far better")
HUNDRED = ("--scale", "0,100")


def grades(n_items=40, n=400):
    """Items, the two items of each pair, and grades from -3 to 3."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n_items, 2))
    left = rng.integers(0, n_items, n)
    right = (left + rng.integers(1, n_items, n)) % n_items
    d = x[right, 0] - x[left, 0] + 0.2 * rng.normal(size=n)
    grade = (np.sign(d) * np.digitize(np.abs(d), [0.1, 0.3, 0.8])).astype(int)
    ids = np.array([f"i{k}" for k in range(n_items)])
    return pd.DataFrame({"id": ids, "x": x[:, 0], "y": x[:, 1]}), ids[left], ids[right], grade


def ratio(grade):
    return f"1/{1 - 2 * grade}" if grade < 0 else str(1 + 2 * grade)


def tables():
    """Notation -> the pairs and the options that they need."""
    _, left, right, grade = grades()
    items = {"left": left, "right": right}
    better = np.where(grade > 0, right, left)
    return {
        "words": (items | {"difference": np.array(WORDS)[grade + 3]}, ("--scale", ",".join(WORDS))),
        "sides": (items | {"winner": np.where(grade > 0, "right", np.where(grade < 0, "left", "tie"))}, ()),
        "winners": (items | {"winner": np.where(grade == 0, "tie", better)}, ()),
        "losers": ({"loser": np.where(grade > 0, left, right), "winner": better, "tie": grade == 0}, ()),
        "per cent": (items | {"difference": [f"{30 * g}%" for g in grade]}, ()),
        "fractions": (items | {"difference": [f"{g}/3" for g in grade]}, ()),
        "hundred": (items | {"difference": 50 + 15 * grade}, HUNDRED),
        "saaty": (items | {"difference": [ratio(g) for g in grade]}, ("--scale", "saaty")),
    }


@pytest.fixture(scope="module", params=sorted(tables()))
def case(request, tmp_path_factory):
    """Files of one notation, a model that was fitted to them, and the options of the scale."""
    folder = tmp_path_factory.mktemp("notation")
    pairs, options = tables()[request.param]
    grades()[0].to_csv(folder / "items.csv", index=False)
    pd.DataFrame(pairs).to_csv(folder / "pairs.csv", index=False)
    pd.DataFrame(pairs).to_parquet(folder / "pairs.parquet")
    run(folder, "fit", "items.csv", "pairs.csv", "--model", "linear", "--link", "preference", *options)
    return folder, options


def run(folder, *arguments):
    result = confdiff(*arguments, cwd=folder)
    assert result.returncode == 0, result.stderr
    return result


def accuracy(folder, model="model"):
    result = run(folder, "evaluate", model, "items.csv", "--pairs", "pairs.csv", "--json")
    return json.loads(result.stdout)["pairwise_accuracy"]


def test_check_reads_every_pair(case):
    folder, options = case
    report = json.loads(run(folder, "check", "items.csv", "pairs.csv", "--json", *options).stdout)
    assert report["usable_pairs"] == 400
    assert report["verdict"]


def test_evaluate_uses_the_notation_of_the_fit(case):
    folder, _ = case
    assert accuracy(folder) > 0.9


def test_explain_takes_judged_pairs(case):
    folder, _ = case
    result = run(folder, "explain", "model", "items.csv", "--pairs", "pairs.csv")
    assert "x" in result.stdout


def test_streams_read_the_same_notation(case):
    folder, options = case
    stream = ("--stream", "--link", "preference", "--epochs", "5", "-o", "streamed", *options)
    run(folder, "fit", "items.csv", "pairs.parquet", *stream)
    assert accuracy(folder, "streamed") > 0.8


def test_rank_orders_the_items(case):
    folder, options = case
    if options and "worse" in options[1]:
        pytest.skip("tests of rank_items read words")
    run(folder, "rank", "pairs.csv", *options)
    ranking = pd.read_csv(folder / "ranking.csv").set_index("id")
    items = grades()[0].set_index("id")
    assert ranking.score.corr(items.x.loc[ranking.index], method="spearman") > 0.9


def test_learned_values_of_words_are_saved_and_shown(tmp_path):
    pairs, options = tables()["words"]
    grades()[0].to_csv(tmp_path / "items.csv", index=False)
    pd.DataFrame(pairs).to_csv(tmp_path / "pairs.csv", index=False)
    fit = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--link", "score", *options)
    printed = run(tmp_path, *fit, "--spacing", "learned").stdout
    assert "values of the grades: learned: c = " in printed
    assert "for 'slightly better' (equal spacing 0.333)" in printed
    assert "values of the grades: learned: c = " in run(tmp_path, "show", "model").stdout
    assert "slightly better" in (tmp_path / "model" / "card.html").read_text()
    assert accuracy(tmp_path) > 0.9
    chosen = run(tmp_path, *fit, "--spacing", "auto", "-o", "auto").stdout
    assert "Kendall's tau of held-out answers" in chosen


def test_learned_values_of_a_ranking_are_written(tmp_path):
    pairs, options = tables()["hundred"]
    pd.DataFrame(pairs).to_csv(tmp_path / "pairs.csv", index=False)
    printed = run(tmp_path, "rank", "pairs.csv", *options, "--spacing", "learned").stdout
    assert "values of the grades: learned: c = " in printed
    numbers = json.loads((tmp_path / "ranking.summary.json").read_text())
    assert numbers["spacing"]["levels"] == pytest.approx([0.3, 0.6, 0.9])
    assert "Values of the grades" in (tmp_path / "ranking.html").read_text()


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("sides", ("--spacing", "learned"), "needs 2 to 10 sizes of differences"),
        ("hundred", (*HUNDRED, "--spacing", "log"), "unknown spacing 'log'"),
        ("hundred", (*HUNDRED, "--spacing", "learned", "--stream"), "needs all pairs in memory"),
        ("hundred", (*HUNDRED, "--spacing", "auto", "--stream"), "--spacing auto needs all pairs in memory"),
    ],
)
def test_spacings_that_cannot_be_used_are_refused(tmp_path, name, options, message):
    grades()[0].to_csv(tmp_path / "items.csv", index=False)
    pd.DataFrame(tables()[name][0]).to_parquet(tmp_path / "pairs.parquet")
    result = confdiff("fit", "items.csv", "pairs.parquet", *options, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
