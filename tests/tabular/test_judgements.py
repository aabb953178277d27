"""Per cent, fractions, words and winners are read as what they mean, in training and in evaluation."""

import numpy as np
import pandas as pd
import pytest

from confdiff import fit_comparisons
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.scales import parse_scale
from confdiff.tabular.tables import read_items, read_judged

ITEMS = pd.DataFrame({"id": ["p", "q", "r"], "x": [0.0, 1.0, 2.0]})
ENDS = {"left": ["p", "q", "p"], "right": ["q", "r", "r"]}
WORDS = "much worse,worse,same,better,much better"


def differences(scale=None, *, named=None, **columns):
    parsed = None if scale is None else parse_scale(scale)
    judged = read_judged(pd.DataFrame({**ENDS, **columns}), scale=parsed, **(named or {}))
    return compare(read_items(ITEMS), judged, parsed).difference.tolist()


@pytest.mark.parametrize(
    ("cells", "scale", "expected"),
    [
        (["-38%", "100 %", "0%"], None, [-0.38, 1, 0]),
        (["\N{MINUS SIGN}8%", "4.5%", "1%"], None, [-0.08, 0.045, 0.01]),
        (["-12,5%", "4,25 %", "1%"], None, [-0.125, 0.0425, 0.01]),
        (["0%", "50%", "75%"], "0,100", [-1, 0, 0.5]),
        ([0, 50, 75], "0,100", [-1, 0, 0.5]),
        (["1/3", "3", "9"], "saaty", [-0.5, 0.5, 1]),
        (["1/3", "1/9", "1"], "saaty", [-0.5, -1, 0]),
        (["3/4", "-1/2", "0"], None, [0.75, -0.5, 0]),
        (["worse", "Much  Better", "same"], WORDS, [-0.5, 1, 0]),
        (["worse", "much better", "same"], WORDS + ",reversed", [0.5, -1, 0]),
        (["1", "1.0", "-2"], None, [0.5, 0.5, -1]),
        (["1", "1.0", "-2.0"], "-2,-1,0,1,2", [0.5, 0.5, -1]),
        (["a bit, yes", "no", "no"], "no;a bit, yes", [1, -1, -1]),
    ],
)
def test_notations(cells, scale, expected):
    assert differences(scale, difference=cells) == pytest.approx(expected)


@pytest.mark.parametrize(
    "cells",
    [["left", "tie", "right"], ["p", "tie", "r"], ["A", "draw", "B"], ["1", "x", "2"], ["model_a", "tie", "model_b"]],
)
def test_winners(cells):
    assert differences(winner=cells) == [-1, 0, 1]


def test_the_winner_gives_the_sign_of_a_size():
    assert differences(winner=["p", "r", "tie"], rating=[3, 1, 2], named={"winner": "winner"}) == pytest.approx(
        [-1, 1 / 3, 0]
    )


def test_winner_and_loser_with_ties():
    frame = pd.DataFrame({"winner": ["q", "r", "p"], "loser": ["p", "q", "r"], "tie": [False, True, False]})
    judged = read_judged(frame)
    assert judged.left.tolist() == ["p", "q", "r"]
    assert judged.difference.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"difference": ["38%", "0.4", "1"]}, "38%"),
        ({"difference": ["38%", "40%", "1%"]}, r"scale=\(0, 100\) if 50% means equal"),
        ({"difference": ["1/3", "1/5", "1"]}, "saaty"),
        (
            {"difference": ["worse", "better", "same"]},
            "If 'better', 'same' and 'worse' are words of a scale, pass them in their order",
        ),
        ({"winner": ["p", "q", "p"]}, None),
        ({"winner": ["p", "z", "p"]}, "the id of one of the two items.*got 'z'"),
        ({"winner": ["p", None, "p"]}, "the difference is missing"),
        ({"winner": ["p", "q", "p"], "tie": ["no", "maybe", "no"]}, "true or false; got 'maybe'"),
    ],
)
def test_what_cannot_be_read_is_one_clear_error(columns, message):
    if message is None:
        assert differences(**columns) == [-1, -1, -1]
        return
    with pytest.raises(ValueError, match=message):
        differences(**columns)


def test_an_unknown_word_is_named_with_its_row():
    with pytest.raises(ValueError, match=r"row 1.*'much worse'.*got 'great'"):
        differences(WORDS, difference=["same", "great", "same"])


def test_ids_that_are_also_sides_are_refused_where_they_contradict():
    items = pd.DataFrame({"left": ["b", "c"], "right": ["a", "b"], "winner": ["a", "b"]})
    with pytest.raises(ValueError, match="the id of one of the two items"):
        read_judged(items)


def large(cells_of, n=60, pairs=400):
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    left = rng.integers(0, n, pairs)
    right = (left + rng.integers(1, n, pairs)) % n
    grade = np.clip(np.round(x[right] - x[left]), -2, 2).astype(int)
    items = pd.DataFrame({"id": [f"i{k}" for k in range(n)], "x": x})
    pairs_table = {"left": items.id[left].tolist(), "right": items.id[right].tolist(), "difference": cells_of(grade)}
    return items, pd.DataFrame(pairs_table)


def test_a_check_shows_what_was_read_as_what():
    words = WORDS.split(",")
    items, pairs = large(lambda grade: [words[g + 2] for g in grade])
    refused = check_comparisons(items, pairs)
    assert "pass them in their order" in refused.errors[0].action
    report = check_comparisons(items, pairs, scale=WORDS)
    assert not report.errors
    readings = {r.written: r.difference for r in report.measures["notation"].readings}
    assert readings == dict(zip(words, [-1, -0.5, 0, 0.5, 1], strict=True))
    first = report.measures["notation"].readings[0]
    assert pairs.difference[first.row] == first.written
    assert "notation" in [finding.kind for finding in report.findings]


def test_a_model_evaluates_words_as_it_was_trained(tmp_path):
    words = WORDS.split(",")
    items, pairs = large(lambda grade: [words[g + 2] for g in grade])
    numbers = pairs.assign(difference=[words.index(word) - 2 for word in pairs.difference])
    model = fit_comparisons(
        items, pairs, scale=WORDS, link="score", seed=0, model="linear", epochs=5, validation_fraction=0
    )
    items.to_csv(tmp_path / "items.csv", index=False)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    numbers.to_csv(tmp_path / "numbers.csv", index=False)
    from confdiff.tabular.model.evaluation import evaluate_pairs

    trained = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "pairs.csv")
    declared = evaluate_pairs(model, tmp_path / "items.csv", tmp_path / "numbers.csv", scale=parse_scale("-2,2"))
    assert trained == declared


def test_a_number_among_per_cent_is_the_error():
    with pytest.raises(ValueError, match=r"row 1: must be per cent, such as 38%, .*; got '38'"):
        differences(difference=["-5%", "38", "7 %"])
    with pytest.raises(ValueError, match=r"row 1.* must be a number; got '38%'"):
        differences(difference=["-5", "38%", "7"])
    items, pairs = large(lambda grade: ["10" if k == 7 else f"{30 * g}%" for k, g in enumerate(grade)])
    (error,) = check_comparisons(items, pairs).errors
    assert error.rows == (7,)
    assert "'10'" in error.text


def test_the_hint_about_words_is_not_a_scale_in_alphabetical_order():
    with pytest.raises(ValueError, match="pass them in their order") as caught:
        differences(difference=["worse", "better", "same"])
    assert "better,same,worse" not in str(caught.value)


def test_sizes_beside_an_unused_winner_are_pointed_out():
    items, pairs = large(lambda grade: np.abs(grade) / 2)
    pairs["winner"] = np.where(np.arange(len(pairs)) % 2, pairs["left"], pairs["right"])
    with pytest.warns(UserWarning, match="The column 'winner' is not used.*pass winner='winner'"):
        compare(read_items(items), read_judged(pairs))
    report = check_comparisons(items, pairs)
    (finding,) = [finding for finding in report.findings if finding.kind == "one-sided"]
    assert "pass winner='winner'" in finding.action
    assert "one-sided" not in [f.kind for f in check_comparisons(items, pairs, winner="winner").findings]


def test_a_tie_is_shown_without_a_sign():
    items, pairs = large(lambda grade: grade)
    winner = np.where(pairs.difference > 0, "right", np.where(pairs.difference < 0, "left", "tie"))
    report = check_comparisons(items, pairs.drop(columns="difference").assign(winner=winner))
    (note,) = [finding for finding in report.findings if finding.kind == "notation"]
    assert "'tie' as 0 (" in note.text
