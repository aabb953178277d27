"""Annotators with known ways of judging."""

import numpy as np
import pytest

from confdiff.tabular.checks.data import encode_names
from confdiff.tabular.checks.report import check_comparisons
from judging import crowd, exact, kinds, the


def annotator(report, name):
    (match,) = [measured for measured in report.measures["annotators"] if measured.name == name]
    return match


def test_annotators_who_agree_do_not_deviate():
    report = check_comparisons(*crowd(ann=exact, bob=exact, cy=exact))
    for measured in report.measures["annotators"]:
        assert measured.pairs == measured.compared == 66
        assert measured.slope == pytest.approx(1)
        assert measured.correlation == pytest.approx(1)
        assert measured.bias == pytest.approx(0, abs=1e-8)
        assert measured.same_sign == 1
        assert measured.deviations == ()
    assert not [kind for kind in kinds(report) if kind.startswith("annotator")]


def test_an_annotator_who_reverses_the_scale_is_found():
    report = check_comparisons(*crowd(ann=exact, bob=exact, cy=exact, dora=lambda c: -c))
    measured = annotator(report, "dora")
    assert measured.slope == pytest.approx(-1)  # against the scores of the others, which are exact
    assert measured.correlation == pytest.approx(-1)
    assert measured.same_sign == 0
    finding = the(report, "annotator")
    assert "Annotator dora (66 pairs)" in finding.text
    assert "seems to use the scale in reverse" in finding.text
    assert finding.rows == (198, 199, 200, 201, 202)
    assert annotator(report, "ann").same_sign == 1  # two of the three others agree


@pytest.mark.parametrize(
    ("usual", "odd", "expected"),
    [  # ann is compared with scores that are the mean of bob's, cy's and odd's
        (1.0, lambda c: 0.3 * c, "uses less of the scale than others (slope 0.30, median 1.30)"),
        (1.0, lambda c: 0.0 * c, "uses less of the scale than others (slope 0.00, median 1.50)"),
        (0.3, exact, "uses more of the scale than others (slope 3.33, median 0.56)"),
    ],
)
def test_another_use_of_the_scale_is_found(usual, odd, expected):
    others = {name: lambda c: usual * c for name in ("ann", "bob", "cy")}
    report = check_comparisons(*crowd(**others, odd=odd))
    assert annotator(report, "odd").deviations == (expected,)
    assert all(measured.deviations == () for measured in report.measures["annotators"] if measured.name != "odd")


@pytest.mark.parametrize(("shift", "place"), [(0.3, "second"), (-0.3, "first")])
def test_position_bias_is_found_per_annotator(shift, place):
    items, pairs = crowd(ann=exact, bob=exact, cy=exact, odd=lambda c: 0.7 * c + shift)
    report = check_comparisons(items, pairs)
    d = (items["r"].loc[pairs["right"]].to_numpy() - items["r"].loc[pairs["left"]].to_numpy())[198:]
    bias = shift - 0.3 * d.mean()
    assert annotator(report, "odd").bias == pytest.approx(bias)
    assert annotator(report, "odd").deviations == (f"favours the {place} item (by {abs(bias):.2f} on average)",)


def test_an_annotator_who_guesses_is_found():
    report = check_comparisons(*crowd(ann=exact, bob=exact, cy=exact, odd=lambda c: np.sin(1e6 * c)))
    (deviation,) = annotator(report, "odd").deviations
    assert deviation.startswith("agrees little with the others (correlation ")
    assert all(measured.deviations == () for measured in report.measures["annotators"] if measured.name != "odd")


def test_two_annotators_who_contradict_each_other_disagree():
    report = check_comparisons(*crowd(ann=exact, bob=lambda c: -c))
    assert the(report, "annotators-disagree").count == 2
    assert "-1.00" in the(report, "annotators-disagree").text


def test_an_annotator_alone_cannot_be_compared():
    report = check_comparisons(*crowd(ann=exact))
    (measured,) = report.measures["annotators"]
    assert measured.compared == 0
    assert measured.slope is measured.correlation is measured.bias is measured.same_sign is None
    assert the(report, "annotators-with-few-pairs").count == 1


def test_annotators_with_few_pairs_are_not_judged():
    items, pairs = crowd(ann=exact, bob=exact, cy=lambda c: -c)
    few = pairs[(pairs["annotator"] != "cy") | (pairs.groupby("annotator").cumcount() < 9)]
    assert annotator(check_comparisons(items, few), "cy").deviations == ()
    ten = pairs[(pairs["annotator"] != "cy") | (pairs.groupby("annotator").cumcount() < 10)]
    assert annotator(check_comparisons(items, ten), "cy").deviations != ()


def test_items_that_only_one_annotator_saw_are_not_compared():
    items, pairs = crowd(ann=exact, bob=exact, cy=exact)
    own = pairs["left"].isin(["i0", "i1"]) | pairs["right"].isin(["i0", "i1"])
    report = check_comparisons(items, pairs[~own | (pairs["annotator"] == "cy")])
    measured = annotator(report, "cy")
    assert (measured.pairs, measured.compared, measured.repeated) == (66, 45, 45)


def test_many_annotators_share_scores_and_many_findings_are_summed_up():
    ways = {f"p{k:02d}": (lambda c: -c) if k >= 33 else exact for k in range(45)}
    report = check_comparisons(*crowd(n_items=8, **ways))
    out = {measured.name for measured in report.measures["annotators"] if measured.deviations}
    assert out == {f"p{k:02d}" for k in range(33, 45)}
    assert {measured.compared for measured in report.measures["annotators"]} == {28}
    assert kinds(report).count("annotator") == 10
    assert the(report, "annotators").count == 2


def test_missing_annotators_are_counted_and_names_are_read():
    items, pairs = crowd(ann=exact, bob=exact)
    pairs.loc[[3, 70], "annotator"] = None
    report = check_comparisons(items, pairs)
    assert the(report, "missing-annotator").rows == (3, 70)
    assert [measured.pairs for measured in report.measures["annotators"]] == [65, 65]
    names, codes = encode_names(np.array([3.0, np.nan, 1.0]))
    assert names == ["1", "3"]
    assert codes.tolist() == [1, -1, 0]
