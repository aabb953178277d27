"""Scales that are recognised, given or unknown."""

import numpy as np
import pytest

from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.scales import Scale
from judging import clean, kinds, the


def test_a_seven_point_scale_is_recognised_and_mapped():
    items, pairs = clean()
    exact = pairs["difference"].copy()
    pairs["difference"] = (4 + 3 * exact).round()
    report = check_comparisons(items, pairs)
    assert report.as_dict()["scale_formula"] == "c = (value - 4) / 3"
    assert "a 7-point scale from 1 to 7: c = (value - 4) / 3" in the(report, "scale").text
    assert the(report, "scale").severity == "note"
    mean = ((4 + 3 * exact).round() - 4).mean() / 3
    assert report.measures["differences"].summary.mean == pytest.approx(mean, abs=1e-6)
    given = check_comparisons(items, pairs, scale="1,7")
    assert "scale" not in kinds(given)
    assert given.measures == report.measures
    assert (given.scale_given, report.scale_given) == (True, False)
    assert check_comparisons(items, pairs, scale=Scale(1, 7, "ours")).measures == report.measures


def test_an_unknown_scale_names_its_largest_value_and_the_remedy():
    items, pairs = clean()
    pairs["difference"] = 50 + 50 * pairs["difference"]
    pairs.loc[17, "difference"] = 100.0
    report = check_comparisons(items, pairs)
    finding = the(report, "unknown-scale")
    assert finding.rows == (17,)
    assert "The largest in size is 100, in row 17" in finding.text
    assert "scale=(0, 100) if 50 means equal, or scale=(-100, 100) if 0 means equal" in finding.action
    assert set(report.measures) == {"answers", "columns", "components"}
    assert report.usable_pairs == 0
    assert report.measures["components"].count == 1
    assert check_comparisons(items, pairs, scale="0,100").errors == ()


def test_values_outside_a_given_scale_are_errors():
    items, pairs = clean()
    pairs["difference"] *= 2
    pairs.loc[[20, 30], "difference"] = [2.5, -3]
    report = check_comparisons(items, pairs, scale="-2,2")
    assert kinds(report) == ["outside-scale"]
    assert (the(report, "outside-scale").count, the(report, "outside-scale").rows) == (2, (20, 30))
    assert report.usable_pairs == len(pairs) - 2


def test_values_that_may_be_on_several_scales_are_errors_that_name_them():
    items, pairs = clean()
    pairs["difference"] = (11 * pairs["difference"]).round()
    pairs.loc[0, "difference"] = 11
    finding = the(check_comparisons(items, pairs), "unknown-scale")
    assert "pass scale=(-100, 100) if 0 means equal, or scale=(low, high) with the ends" in finding.action
    pairs["difference"] = 4
    finding = the(check_comparisons(items, pairs), "unknown-scale")
    assert "scale=(1, 5) if 3 means equal, scale=(1, 7) if 4 means equal" in finding.action
    assert "scale='saaty' if 1 means equal" in finding.action


def test_ratios_of_saaty_are_recognised_and_explained():
    items, pairs = clean()
    c = pairs["difference"].to_numpy()
    ratio = np.clip(np.round(9 ** np.abs(c)), 1, 9)
    pairs["difference"] = np.where(c > 0, ratio, (1 / ratio).round(3))
    report = check_comparisons(items, pairs)
    finding = the(report, "scale")
    assert finding.severity == "warning"
    assert "c = log(value) / log(9). So 1 means equal (c = 0), 9 that the second item is higher (c = 1)" in finding.text
    assert "pass scale='saaty,reversed'" in finding.action
    mean = report.measures["differences"].summary.mean
    assert mean == pytest.approx(np.log(pairs["difference"]).mean() / np.log(9), abs=1e-4)
    given = check_comparisons(items, pairs, scale="saaty")
    assert "scale" not in kinds(given)
    reversed_scale = check_comparisons(items, pairs, scale="saaty,reversed")
    assert reversed_scale.measures["differences"].summary.mean == pytest.approx(-mean)
