"""Annotators with known ways of judging."""

import numpy as np
import pytest

from confdiff.tabular.checks.data import encode_names
from confdiff.tabular.checks.page import check_html
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
    [  # slopes are in units of the median annotator
        (
            1.0,
            lambda c: 0.3 * c,
            "uses less of the scale than others (slope 0.30, 95% interval 0.30 to 0.30, others 1.00;",
        ),
        (
            1.0,
            lambda c: 0.0 * c,
            "uses less of the scale than others (slope 0.00, 95% interval 0.00 to 0.00, others 1.00;",
        ),
        (0.3, exact, "uses more of the scale than others (slope 3.33, 95% interval 3.33 to 3.33, others 1.00;"),
    ],
)
def test_another_use_of_the_scale_is_found(usual, odd, expected):
    others = {name: lambda c: usual * c for name in ("ann", "bob", "cy")}
    report = check_comparisons(*crowd(**others, odd=odd))
    assert annotator(report, "odd").deviations == (f"{expected} adjusted p < 0.001)",)
    assert all(measured.deviations == () for measured in report.measures["annotators"] if measured.name != "odd")


@pytest.mark.parametrize(("shift", "place"), [(0.3, "second"), (-0.3, "first")])
def test_position_bias_is_found_per_annotator(shift, place):
    items, pairs = crowd(ann=exact, bob=exact, cy=exact, odd=lambda c: 0.7 * c + shift)
    report = check_comparisons(items, pairs)
    d = (items["r"].loc[pairs["right"]].to_numpy() - items["r"].loc[pairs["left"]].to_numpy())[198:]
    bias = shift - 0.3 * d.mean()
    assert annotator(report, "odd").bias == pytest.approx(bias, abs=1e-3)
    assert annotator(report, "odd").deviations[-1].startswith(f"favours the {place} item (bias {bias:.2f}, ")
    assert annotator(report, "odd").tests["bias"].adjusted_p < 0.001


def test_an_annotator_who_guesses_is_found():
    report = check_comparisons(*crowd(ann=exact, bob=exact, cy=exact, odd=lambda c: np.sin(1e6 * c)))
    (deviation,) = annotator(report, "odd").deviations
    assert deviation.startswith("agrees less with the others (agreement ")
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
    assert the(report, "single-annotator").text.startswith("Annotator ann is the only one")


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
    reversed_names = {f"p{k:02d}" for k in range(33, 45)}
    assert {measured.name for measured in report.measures["annotators"] if measured.deviations} == reversed_names
    for measured in report.measures["annotators"]:
        assert measured.slope == pytest.approx(-1 if measured.name in reversed_names else 1, abs=1e-3)
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


def noisy_crowd(seed, *, n_annotators=6, answers=100, bias=0.0, noise=None):
    """Return items and pairs of annotators who judge alike, except the first one."""
    rng = np.random.default_rng(seed)
    score = rng.normal(size=50) * 0.3
    code = np.repeat(np.arange(n_annotators), answers)
    left = rng.integers(0, 50, len(code))
    right = (left + rng.integers(1, 50, len(code))) % 50
    spread = np.where((code == 0) & (noise is not None), noise or 0.0, 0.25)
    c = score[right] - score[left] + spread * rng.normal(size=len(code)) + bias * (code == 0)
    items = {"id": np.arange(50), "x": score}
    names = np.array([f"a{k}" for k in code])
    return items, {"left": left, "right": right, "difference": c.clip(-1, 1), "annotator": names}


def deviating(*tables):
    report = check_comparisons(*tables, scale=(-1, 1))
    return [measured.name for measured in report.measures["annotators"] if measured.deviations]


def test_a_bias_and_a_low_agreement_are_found_with_enough_answers():
    report = check_comparisons(*noisy_crowd(1, answers=200, bias=0.19), scale=(-1, 1))
    bias = annotator(report, "a0").tests["bias"]
    assert bias.low < 0.19 < bias.high
    assert bias.is_significant
    assert "favours the second item" in the(report, "annotator").text
    report = check_comparisons(*noisy_crowd(1, answers=200, noise=2.0), scale=(-1, 1))
    agreement = annotator(report, "a0").tests["agreement"]
    assert agreement.value < 0.65 < 0.75 < agreement.expected
    assert report.as_dict()["measures"]["annotators"][0]["tests"]["agreement"]["adjusted_p"] < 0.05


def test_annotators_who_judge_alike_are_rarely_flagged():
    flagged = sum(bool(deviating(*noisy_crowd(seed))) for seed in range(40))
    assert flagged <= 6  # 2 are expected at a family-wise rate of 0.05; more than 6 have a probability of 0.003


def test_no_annotator_is_peculiar_where_the_better_item_always_comes_second():
    items, pairs = noisy_crowd(0)
    is_swapped = pairs["difference"] < 0
    left = np.where(is_swapped, pairs["right"], pairs["left"])
    right = np.where(is_swapped, pairs["left"], pairs["right"])
    swapped = pairs | {"left": left, "right": right, "difference": np.abs(pairs["difference"])}
    assert deviating(items, swapped) == []


def test_a_declared_side_takes_the_place_of_the_columns():
    items, pairs = noisy_crowd(3, answers=300)
    side = np.where(np.random.default_rng(0).random(len(pairs["left"])) < 0.5, 1, -1)
    c = pairs["difference"] + 0.19 * side * (pairs["annotator"] == "a0")
    pairs = pairs | {"difference": c.clip(-1, 1)}
    assert deviating(items, pairs) == []  # the position in the table is not the position on the screen
    shown = pairs | {"shown_first": np.where(side > 0, "left", "right")}
    report = check_comparisons(items, shown, scale=(-1, 1))
    assert deviating(items, shown) == ["a0"]
    assert "favours the item shown second" in the(report, "annotator").text
    swapped = shown | {"left": pairs["right"], "right": pairs["left"], "difference": -shown["difference"]}
    swapped |= {"shown_first": np.where(side > 0, "right", "left")}
    bias = annotator(check_comparisons(items, swapped, scale=(-1, 1)), "a0").bias
    assert bias == pytest.approx(annotator(report, "a0").bias, abs=1e-3)


def test_items_shown_first_that_are_not_in_the_pair_are_errors():
    items, pairs = noisy_crowd(0)
    first = np.array(["left"] * len(pairs["left"]), dtype=object)
    first[7] = "nobody"
    report = check_comparisons(items, pairs | {"shown_first": first}, scale=(-1, 1))
    assert the(report, "shown-first").rows == (7,)
    assert the(report, "shown-first").severity == "error"


def winners_and_losers(**ways):
    """The pairs of a crowd as columns of winners and losers."""
    items, pairs = crowd(**ways)
    is_right = pairs["difference"] > 0
    columns = {
        "winner": pairs["right"].where(is_right, pairs["left"]),
        "loser": pairs["left"].where(is_right, pairs["right"]),
        "annotator": pairs["annotator"],
    }
    return items, pairs.assign(**columns)[[*columns]]


def test_winners_have_no_bias_towards_the_column_of_winners():
    rng = np.random.default_rng(0)
    report = check_comparisons(
        *winners_and_losers(
            ann=exact, bob=exact, cy=exact, rob=lambda c: -c, guess=lambda c: c * rng.choice([-1.0, 1.0])
        )
    )
    assert [measured.bias for measured in report.measures["annotators"]] == [None] * 5
    assert not {"one-sided", "position-bias"} & set(kinds(report))
    assert "seems to use the scale in reverse" in " ".join(annotator(report, "rob").deviations)
    assert not [d for measured in report.measures["annotators"] for d in measured.deviations if "favours" in d]
    assert annotator(report, "guess").correlation == pytest.approx(0, abs=0.3)
    assert "slope, bias and agreement" in check_html(report)  # the figure is drawn without biases


def test_a_declared_side_of_winners_has_a_bias():
    items, pairs = winners_and_losers(ann=exact, bob=exact, cy=exact, dora=lambda c: c + 0.4)
    shown_first = crowd(ann=exact, bob=exact, cy=exact, dora=exact)[1]["left"]
    report = check_comparisons(items, pairs.assign(shown_first=shown_first))
    assert "favours the item shown second" in " ".join(annotator(report, "dora").deviations)
    assert annotator(report, "dora").bias > 0.2
    assert annotator(report, "ann").deviations == ()
