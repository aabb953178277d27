"""Reports of whole tables: verdicts, errors of fit, and pairs of every kind."""

import json

import numpy as np
import pandas as pd
import pytest

from confdiff.pairs import Pairs
from confdiff.tabular.checks.few_pairs import HELD_OUT
from confdiff.tabular.checks.page import check_html, check_json
from confdiff.tabular.checks.registry import CHECKS
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.fit_options import FitOptions
from confdiff.tabular.tables import read_items, read_judged
from judging import clean, kinds, the


def test_exact_differences_have_no_findings():
    items, pairs = clean()
    report = check_comparisons(items, pairs)
    assert report.findings == ()
    assert report.errors == ()
    assert report.verdict == "Ready for `confdiff fit`, with no warnings."
    measures = report.measures
    assert measures["triangles"].count > 100
    assert measures["triangles"].mean < 1e-12
    assert measures["triangles"].fraction_large == 0
    assert measures["triangles"].cyclic == 0
    assert measures["triangles"].random_mean > 0.3
    assert measures["one_score"].r2 == pytest.approx(1, abs=1e-10)
    assert measures["one_score"].adjusted_r2 == pytest.approx(1, abs=1e-10)
    assert report.usable_pairs == len(pairs)
    assert report.measures["components"].count == 1


def changed(role, row, value):
    def change(pairs):
        pairs[role] = pairs[role].astype(object)
        pairs.loc[row, role] = value

    return change


def weighted(*values):
    def change(pairs):
        pairs["weight"] = np.resize(np.array(values), len(pairs))

    return change


ERRORS = {
    "unknown-id": (changed("left", 7, "nobody"), 1, (7,)),
    "missing-id": (changed("right", 3, None), 1, (3,)),
    "self-pair": (lambda pairs: changed("right", 5, pairs.loc[5, "left"])(pairs), 1, (5,)),
    "missing-difference": (changed("difference", 2, None), 1, (2,)),
    "infinite-difference": (changed("difference", 2, float("inf")), 1, (2,)),
    "unknown-scale": (changed("difference", 9, -1.5), 1, (9,)),
    "negative-weight": (weighted(*np.ones(49), -1), 6, (49, 99, 149, 199, 249)),
    "missing-weight": (weighted(np.nan, *np.ones(999)), 1, (0,)),
    "no-weight": (weighted(0.0), len(clean()[1]), (0, 1, 2, 3, 4)),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_of_fit_are_found_and_nothing_else(kind):
    items, pairs = clean()
    change, count, rows = ERRORS[kind]
    compare(read_items(items), read_judged(pairs))
    change(pairs)
    report = check_comparisons(items, pairs)
    assert kinds(report) == [kind]
    assert (the(report, kind).severity, the(report, kind).count, the(report, kind).rows) == ("error", count, rows)
    assert "`fit` stops with an error" in the(report, kind).action
    assert report.errors == report.findings
    assert report.verdict == f"`confdiff fit` would stop with an error: {the(report, kind).text}"
    with pytest.raises(ValueError, match=r"."):
        compare(read_items(items), read_judged(pairs))


def test_many_faults_are_counted_and_the_rest_is_measured():
    items, pairs = clean()
    pairs.loc[10:29, "left"] = [f"x{k % 7}" for k in range(20)]
    pairs.loc[4, "difference"] = np.nan
    report = check_comparisons(items, pairs)
    unknown = the(report, "unknown-id")
    assert (unknown.count, unknown.rows) == (20, (10, 11, 12, 13, 14))
    assert "'x0', 'x1', 'x2' and 4 more (7 unknown ids)" in unknown.text
    assert report.usable_pairs == len(pairs) - 21
    assert report.measures["one_score"].r2 == pytest.approx(1)
    assert report.verdict.endswith("(2 errors in all.)")
    assert kinds(report, "error") == ["unknown-id", "missing-difference"]


def test_two_unknown_items_are_no_item_with_itself():
    items, pairs = clean()
    pairs.loc[5, ["left", "right"]] = ["nobody", "no one"]
    assert kinds(check_comparisons(items, pairs)) == ["unknown-id"]


def test_a_missing_group_is_an_error_and_an_empty_one_is_a_group():
    items, pairs = clean()
    pairs["group"] = "g"
    pairs.loc[6, "group"] = ""
    assert the(check_comparisons(items, pairs), "empty-group").rows == (6,)
    pairs.loc[8, "group"] = None
    report = check_comparisons(items, pairs)
    assert the(report, "missing-group").rows == (8,)
    compared = compare(read_items(items), read_judged(pairs))
    with pytest.raises(ValueError, match="at row 8"):
        Pairs(items.to_numpy(), compared.left, compared.right, compared.difference, group=compared.group)


def test_few_pairs_are_too_few_for_fit_to_hold_some_out():
    items, pairs = clean(n_items=20, n_pairs=40)
    assert the(check_comparisons(items, pairs), "few-pairs").severity == "warning"
    assert FitOptions().validation_fraction == HELD_OUT


STRANGE = {
    "one pair": {"left": ["i0"], "right": ["i1"], "difference": [0.5]},
    "no difference at all": {"left": ["i0", "i1"], "right": ["i1", "i2"], "difference": [None, None]},
    "all equal": {"left": ["i0", "i1", "i0"], "right": ["i1", "i2", "i2"], "difference": [0.0, 0.0, 0.0]},
    "no known id": {"left": ["x", "y"], "right": ["z", "z"], "difference": [0.1, 0.2]},
    "only infinite": {"left": ["i0"], "right": ["i1"], "difference": [float("inf")]},
    "large weights": {"left": ["i0", "i0"], "right": ["i1", "i1"], "difference": [0.1, 0.3], "weight": [1e308, 1e308]},
    "one annotator": {"left": ["i0", "i1"], "right": ["i1", "i0"], "difference": [0.1, 0.2], "annotator": ["a", "a"]},
    "no annotator": {"left": ["i0", "i1"], "right": ["i1", "i0"], "difference": [0.1, 0.2], "annotator": ["", ""]},
    "no weight that can be used": {
        "left": ["i0", "x"],
        "right": ["i1", "i2"],
        "difference": [0.1, 0.2],
        "weight": [0, 1],
    },
}


@pytest.mark.parametrize("name", STRANGE)
def test_strange_pairs_give_a_report_too(name):
    items, _ = clean()
    report = check_comparisons(items, pd.DataFrame(STRANGE[name]))
    numbers = json.loads(check_json(report))  # which refuses NaN
    assert numbers["verdict"] == report.verdict
    assert numbers["pairs"]["rows"] == len(STRANGE[name]["left"])
    page = check_html(report).replace("<code>", "`").replace("</code>", "`").replace("&#39;", "'")
    assert report.verdict in page


def test_findings_are_sorted_by_severity():
    items, pairs = clean()
    pairs["difference"] = np.sign(pairs["difference"])
    pairs.loc[4, "left"] = "nobody"
    pairs = pd.concat([pairs, pairs.iloc[[7]]])
    severities = [finding.severity for finding in check_comparisons(items, pairs).findings]
    assert severities == sorted(severities, key=["error", "warning", "note"].index)
    assert set(severities) == {"error", "warning", "note"}


def test_curly_brackets_in_names_are_only_names():
    items, pairs = clean()
    pairs.loc[0, "left"] = "{x}"
    items["{y}"] = np.where(np.arange(40) < 3, np.nan, 1.0)
    report = check_comparisons(items, pairs)
    assert "'{x}'" in the(report, "unknown-id").text
    assert "{y} (7.5%)" in the(report, "missing-feature").text


def test_texts_can_be_translated():
    items, pairs = clean()
    pairs["difference"] = 50 + 50 * pairs["difference"]
    report = check_comparisons(items, pairs).reworded(lambda text: text.replace("scale=", "--scale "))
    assert "--scale (" in the(report, "unknown-scale").action


def test_every_check_has_a_name_of_its_own():
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)
