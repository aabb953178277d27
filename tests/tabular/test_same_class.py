"""Same-class answers in a column of the pairs."""

import numpy as np
import pandas as pd
import pytest

from confdiff import fit_comparisons
from confdiff.tabular.answers import read_answers
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.model.about import About
from confdiff.tabular.model.judged_pairs import read_judged_pairs
from confdiff.tabular.row_numbers import TableSource
from judging import kinds


def tables(n_answers=150):
    """Items with posteriors inside [.05, .5], and pairs with a difference or an answer."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    r = 0.05 + 0.45 / (1 + np.exp(-3 * x))
    labels = rng.random(400) < r
    items = pd.DataFrame({"id": [f"i{k}" for k in range(400)], "x": x})
    left, right = np.array([rng.choice(400, 2, replace=False) for _ in range(400 + n_answers)]).T
    has_answer = np.arange(len(left)) >= 400
    pairs = pd.DataFrame(
        {
            "left": items["id"].to_numpy()[left],
            "right": items["id"].to_numpy()[right],
            "difference": np.where(has_answer, np.nan, r[right] - r[left]),
            "same": np.where(has_answer, labels[left] == labels[right], np.nan),
        }
    )
    return items, pairs, r


@pytest.mark.parametrize("options", [{"model": "linear"}, {"model": "mlp", "epochs": 20}], ids=["linear", "mlp"])
def test_fit_uses_the_answers(options):
    items, pairs, r = tables()
    fitted = fit_comparisons(items, pairs, **options)
    assert fitted.classifier.prior_source_ == "same-class answers"
    assert fitted.classifier.prior_ == pytest.approx(r.mean(), abs=0.1)
    assert fitted.about.data.pairs == 400


def test_check_accepts_answers_and_names_invalid_ones():
    items, pairs, _ = tables(30)
    assert "missing-difference" not in kinds(check_comparisons(items, pairs))
    pairs.loc[410, "same"] = 2.0
    assert "invalid-same" in kinds(check_comparisons(items, pairs))
    with pytest.raises(ValueError, match=r"column 'same'.*the answer 2\.0 is not valid"):
        fit_comparisons(items, pairs)


def test_a_pair_needs_a_difference_or_an_answer():
    items, pairs, _ = tables(30)
    pairs.loc[3, "difference"] = np.nan
    with pytest.raises(ValueError, match="row 3: there is neither a difference nor an answer"):
        fit_comparisons(items, pairs)
    finding = next(f for f in check_comparisons(items, pairs).errors if f.kind == "missing-difference")
    assert finding.text == "1 pair without a difference or an answer."


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["Yes", "no ", None, "TRUE"], [1, 0, np.nan, 1]),
        (["same", "different", "0.8", ""], [1, 0, 0.8, np.nan]),
        ([True, False, None, True], [1, 0, np.nan, 1]),
        ([1, 0, 0.25, np.nan], [1, 0, 0.25, np.nan]),
    ],
)
def test_words_are_answers(cells, expected):
    column = np.array(cells, dtype=object)
    np.testing.assert_array_equal(read_answers(TableSource("the pairs"), "same", column), expected)


@pytest.mark.parametrize("cell", ["maybe", "50%"])
def test_other_words_are_refused_and_listed(cell):
    items, pairs, _ = tables(30)
    pairs["same"] = pairs["same"].astype(object)
    pairs.loc[[410, 412], "same"] = cell
    with pytest.raises(ValueError, match=rf"column 'same', row 410: must be 1 or yes .*; got '{cell}'"):
        fit_comparisons(items, pairs)
    errors = check_comparisons(items, pairs).errors
    assert [(error.kind, error.count) for error in errors] == [("not-on-scale", 2)]


def answers_only(n_pairs=1_200, offset=-1.2):
    """Items of a rarer and a commoner class, and pairs with an answer and no column of differences."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=500)
    labels = rng.random(500) < 1 / (1 + np.exp(-(4 * x + 3 * offset)))
    ids = np.array([f"i{k}" for k in range(500)])
    left, right = np.array([rng.choice(500, 2, replace=False) for _ in range(n_pairs)]).T
    same = np.where(labels[left] == labels[right], "yes", "no")
    return (
        pd.DataFrame({"id": ids, "x": x}),
        pd.DataFrame({"left": ids[left], "right": ids[right], "same": same}),
        labels,
    )


@pytest.mark.parametrize("is_streamed", [False, True])
def test_a_table_without_differences(is_streamed, tmp_path):
    items, pairs, labels = answers_only()
    if is_streamed:
        items.to_parquet(tmp_path / "items.parquet")
        pairs.to_parquet(tmp_path / "pairs.parquet")
    tables = (tmp_path / "items.parquet", tmp_path / "pairs.parquet") if is_streamed else (items, pairs)
    with pytest.raises(ValueError, match="alone do not determine which class is the positive one"):
        fit_comparisons(*tables, stream=is_streamed)
    fitted = fit_comparisons(*tables, stream=is_streamed, positives="rarer", epochs=30)
    assert fitted.classifier.prior_source_ == "same-class answers"
    assert fitted.classifier.prior_ == pytest.approx(labels.mean(), abs=0.06)
    assert fitted.about.data.answers_only
    assert fitted.about.data.pairs == len(pairs)
    assert fitted.validation is None
    assert fitted.about.answers.rmse < 0.95 * fitted.about.answers.constant_rmse
    assert About.from_json(fitted.about.to_json()) == fitted.about
    is_positive = fitted.predict_proba(items)[:, 1] > 0.5
    assert np.mean(is_positive == labels) > 0.85
    mirrored = fit_comparisons(*tables, stream=is_streamed, prior=1 - float(labels.mean()), epochs=30)
    assert np.mean((mirrored.predict_proba(items)[:, 1] > 0.5) == labels) < 0.2


def test_the_check_of_a_table_without_differences():
    items, pairs, labels = answers_only(300)
    report = check_comparisons(items, pairs)
    assert not report.errors
    assert report.usable_pairs == 300
    assert report.measures["answers"].count == report.measures["answers"].without_difference == 300
    assert report.measures["answers"].prior == pytest.approx(labels.mean(), abs=0.1)
    assert "answers-only" in kinds(report)
    assert "answers imply" in report.prior_statement


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": "boosting"}, "model='boosting' learns from differences"),
        ({"link": "score"}, "same-class answers are for link='probability'"),
        ({"differences": "labels", "positives": "rarer"}, "differences='labels' would not be used"),
        ({"prior": 0.5}, "needs a class prior other than 1/2"),
        ({"method": "confdiff-regression"}, "these pairs have no differences"),
    ],
)
def test_options_that_need_differences_are_refused(options, message):
    items, pairs, _ = answers_only(300)
    with pytest.raises(ValueError, match=message):
        fit_comparisons(items, pairs, **options)


def test_a_model_of_answers_alone_cannot_be_compared_with_them_as_differences():
    items, pairs, _ = answers_only(300)
    fitted = fit_comparisons(items, pairs, prior=0.2, model="linear", validation_fraction=0)
    with pytest.raises(ValueError, match="at least one pair must have a difference"):
        read_judged_pairs(fitted, items, pairs)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_stream_of_differences_and_answers(tmp_path, weighted):
    items, pairs, r = tables()
    if weighted:
        pairs["weight"] = np.where(np.arange(len(pairs)) % 3, 1.0, 2.0)
    items.to_parquet(tmp_path / "items.parquet")
    pairs.to_parquet(tmp_path / "pairs.parquet")
    fitted = fit_comparisons(tmp_path / "items.parquet", tmp_path / "pairs.parquet", stream=True, epochs=20)
    assert fitted.classifier.prior_source_ == "same-class answers"
    assert fitted.classifier.prior_ == pytest.approx(r.mean(), abs=0.1)
    assert fitted.validation.test.r2 > 0.8
    assert fitted.about.data.weighted == weighted


def test_a_method_of_answers_takes_the_side_from_differences():
    items, pairs, r = tables(400)
    fitted = fit_comparisons(items, pairs, method="sconf-abs", epochs=5)
    assert fitted.classifier.prior_ == pytest.approx(r.mean(), abs=0.1)
