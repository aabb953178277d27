"""Every finding of a check on data with known answers, and the command itself."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.pairs import Pairs
from confdiff.pairs.describe import describe_pairs
from confdiff.tabular.checks.few_pairs import HELD_OUT
from confdiff.tabular.checks.page import check_html, check_json, write_check
from confdiff.tabular.checks.registry import CHECKS
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.comparisons import compare
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.options import FitOptions
from confdiff.tabular.scales import Scale
from confdiff.tabular.tables import read_items, read_judged
from judging import clean, crowd, exact, kinds, the


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


def test_figures_are_those_of_the_description():
    items, pairs = clean()
    report = check_comparisons(items, pairs)
    rows = [items.index.get_indexer(pairs[side]) for side in ("left", "right")]
    expected = describe_pairs(Pairs(items.to_numpy(), *rows, pairs["difference"].to_numpy()))
    assert report.measures["differences"].summary == expected
    low, high = expected.prior_interval
    assert f"between {low:.0%} and {high:.0%} of the items are positive" in report.prior_statement
    c = pairs["difference"]
    assert report.measures["differences"].mean_error == pytest.approx(c.std(ddof=0) / len(c) ** 0.5)


def changed(role, row, value):
    def change(pairs):
        pairs[role] = pairs[role].astype(object)
        pairs.loc[row, role] = value

    return change


def weighted(*values):
    def change(pairs):
        pairs["weight"] = np.resize(np.array(values), len(pairs))

    return change


REFUSED = {
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


@pytest.mark.parametrize("kind", REFUSED)
def test_errors_of_fit_are_found_and_nothing_else(kind):
    items, pairs = clean()
    change, count, rows = REFUSED[kind]
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


def test_a_missing_group_is_refused_and_an_empty_one_is_a_group():
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


def test_infinite_features_are_refused():
    items, pairs = clean()
    items.loc["i3", "other"] = np.inf
    report = check_comparisons(items, pairs)
    assert kinds(report) == ["infinite-feature"]
    assert the(report, "infinite-feature").rows == (3,)
    assert "in other" in the(report, "infinite-feature").text
    with pytest.raises(ValueError, match="finite"):
        ItemFeatures().fit(items)


def test_items_without_anything_to_learn_from_are_refused():
    items, pairs = clean(n_items=60)
    items = pd.DataFrame({"code": [f"X-{k}" for k in range(60)]}, index=items.index)
    report = check_comparisons(items, pairs)
    assert the(report, "no-features").severity == "error"
    assert the(report, "column").severity == "note"
    assert "Column 'code' is ignored" in the(report, "column").text


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
    assert ", 100) if these are its ends" in finding.action
    assert set(report.measures) == {"columns", "components"}
    assert report.usable_pairs == 0
    assert report.measures["components"].count == 1
    assert check_comparisons(items, pairs, scale="0,100").errors == ()


def test_values_beyond_a_given_scale_are_refused():
    items, pairs = clean()
    pairs["difference"] *= 2
    pairs.loc[[20, 30], "difference"] = [2.5, -3]
    report = check_comparisons(items, pairs, scale="-2,2")
    assert kinds(report) == ["outside-scale"]
    assert (the(report, "outside-scale").count, the(report, "outside-scale").rows) == (2, (20, 30))
    assert report.usable_pairs == len(pairs) - 2


def test_a_scale_that_is_hardly_used_may_be_another():
    items, pairs = clean()
    pairs["difference"] = (11 * pairs["difference"]).round()
    pairs.loc[0, "difference"] = 11
    finding = the(check_comparisons(items, pairs), "scale")
    assert finding.severity == "warning"
    assert "per cent" in finding.text
    assert "The values use only 11% of it" in finding.text


def test_position_bias_is_found():
    items, pairs = clean()
    pairs["difference"] = (0.5 * pairs["difference"] + 0.2).clip(-1, 1)
    report = check_comparisons(items, pairs)
    differences = report.measures["differences"]
    interval = f"{differences.summary.mean:+.3f} ± {differences.mean_error:.3f}"
    assert f"The second item is favoured: mean difference {interval}" in the(report, "position-bias").text
    pairs["difference"] *= -1
    assert "The first item is favoured" in the(check_comparisons(items, pairs), "position-bias").text


def test_one_sided_differences_may_be_on_another_scale():
    items, pairs = clean()
    pairs["difference"] = (1 + pairs["difference"]) / 2
    report = check_comparisons(items, pairs)
    assert "No pair favours the first item" in the(report, "one-sided").text
    assert "position-bias" not in kinds(report)
    assert check_comparisons(items, pairs, scale="0,1").findings == ()


def test_ties_and_ends_are_found():
    items, pairs = clean()
    n = len(pairs)
    pairs["difference"] = np.where(np.arange(n) < 0.6 * n, 0.01, pairs["difference"])
    report = check_comparisons(items, pairs)
    ties = int((pairs["difference"].abs() < 0.05).sum())
    assert the(report, "near-ties").count == ties
    assert f"{ties / n:.0%} of the pairs are near ties" in the(report, "near-ties").text
    items, pairs = clean()
    pairs["difference"] = np.sign(pairs["difference"])
    report = check_comparisons(items, pairs)
    assert report.measures["differences"].at_ends == 1
    assert the(report, "ends-of-scale").count == n
    assert report.measures["differences"].summary.prior_interval is None
    assert "No class prior" in the(report, "no-prior").text
    assert "No class prior" in report.prior_statement


def test_missing_features_are_counted_by_column():
    items, pairs = clean()
    items["ward"] = np.where(np.arange(40) % 4 == 0, "", "A")
    items.loc[["i1", "i4"], "other"] = np.nan
    report = check_comparisons(items, pairs)
    finding = the(report, "missing-feature")
    assert (finding.severity, finding.count, finding.rows) == ("note", 11, (0, 1, 4, 8, 12))
    assert "ward (25.0%) and other (5.0%)" in finding.text
    columns = {column.name: column for column in report.items.columns}
    assert (columns["ward"].missing, columns["ward"].role) == (10, "category")
    assert (columns["other"].missing, columns["other"].missing_fraction) == (2, 0.05)
    assert columns["feature"].least == items["feature"].min()
    items.loc[items.index[:30], "other"] = np.nan
    assert the(check_comparisons(items, pairs), "missing-feature").severity == "warning"


def test_columns_of_pairs_are_listed_with_what_they_were_role():
    items, pairs = clean()
    pairs = pairs.rename(columns={"left": "a", "right": "b", "difference": "how much"})
    pairs["when"] = pd.Timestamp("2026-01-01")
    pairs.loc[3, "when"] = None
    report = check_comparisons(items, pairs, difference="how much", time="when")
    taken = {column.role: column for column in report.pairs.columns}
    assert {role: column.name for role, column in taken.items()} == {
        "left": "a",
        "right": "b",
        "difference": "how much",
        "time": "when",
    }
    assert taken["time"].missing == 1
    assert taken["time"].least.startswith("2026-01-01")
    with pytest.raises(ValueError, match="Did you mean 'left'"):
        check_comparisons(items, pairs, lft="a")


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


def test_the_page_needs_nothing_and_shows_names_as_they_are(tmp_path):
    items, pairs = crowd(**{"<b>ann</b>": exact, "bob": exact, "cy": lambda c: -c})
    pairs.loc[0, "left"] = "<script>alert(1)</script>"
    files = write_check(check_comparisons(items, pairs), tmp_path / "new" / "folder")
    page = files["page"].read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert page.count('<img src="data:image/png;base64,') == 3  # differences, triangles, annotators
    assert "http" not in page
    assert json.loads(files["numbers"].read_text(encoding="utf-8"))["findings"][0]["kind"] == "unknown-id"


def test_curly_brackets_in_names_are_only_names():
    items, pairs = clean()
    pairs.loc[0, "left"] = "{x}"
    items["{y}"] = np.where(np.arange(40) < 3, np.nan, 1.0)
    report = check_comparisons(items, pairs)
    assert "'{x}'" in the(report, "unknown-id").text
    assert "{y} (7.5%)" in the(report, "missing-feature").text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("check")
    items, pairs = crowd(n_items=20, ann=exact, bob=exact, cy=lambda c: -c)
    items.rename_axis("id").to_csv(folder / "items.csv")
    pairs.to_csv(folder / "pairs.csv", index=False)
    pairs.assign(difference=(4 + 3 * pairs["difference"]).round()).to_csv(folder / "points.tsv", sep="\t", index=False)
    pairs.assign(left=["no[red]body", *pairs["left"][1:]]).to_parquet(folder / "bad.parquet")
    return folder


def test_the_command_writes_a_page_and_prints_what_matters(folder):
    result = confdiff("check", "items.csv", "pairs.csv", "-o", "out", cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "Annotator cy (190 pairs)" in result.stdout
    assert "R² of one score per item" in result.stdout
    assert "Ready for `confdiff fit`" in result.stdout
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["check.html", "check.json"]
    numbers = json.loads((folder / "out" / "check.json").read_text())
    expected = check_comparisons(folder / "items.csv", folder / "pairs.csv")
    assert numbers["measures"] == json.loads(check_json(expected))["measures"]


def test_the_command_prints_the_same_json(folder):
    result = confdiff(
        "check",
        "items.csv",
        "points.tsv",
        "--json",
        "--scale",
        "1,7",
        "--annotator",
        "annotator",
        "-o",
        "points",
        cwd=folder,
    )
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout) == json.loads((folder / "points" / "check.json").read_text())
    assert json.loads(result.stdout)["scale_given"] is True


def test_the_command_reports_an_error_in_one_line(folder):
    result = confdiff("check", "items.csv", "bad.parquet", "--ignore", "r", cwd=folder)
    assert result.returncode == 2  # r is the only column
    assert "at least one column" in result.stderr
    assert not (folder / "check").exists()
    result = confdiff("check", "items.csv", "bad.parquet", cwd=folder)
    assert result.returncode == 2
    (line,) = result.stderr.strip().splitlines()
    assert line.startswith(
        "error: `confdiff fit` would stop with an error: 1 pair with an id that is not among the items: 'no[red]body'"
    )
    assert "'no[red]body'" in result.stdout
    assert json.loads((folder / "check" / "check.json").read_text())["findings"][0]["rows"] == [
        0
    ]  # Parquet files have no header
    assert (folder / "check" / "check.html").exists()


def test_rows_are_numbered_as_in_the_file(folder):
    pairs = pd.read_csv(folder / "pairs.csv")
    pairs.loc[[0, 4], "difference"] = None
    pairs.to_csv(folder / "gaps.csv", index=False)
    pairs.to_json(folder / "gaps.jsonl", orient="records", lines=True)
    for name, rows, numbering in (
        ("csv", (2, 6), "Row numbers: the header is row 1."),
        ("jsonl", (1, 5), "Row numbers of pairs: the first line is row 1."),
    ):
        report = check_comparisons(folder / "items.csv", folder / f"gaps.{name}")
        assert the(report, "missing-difference").rows == rows
        assert numbering in check_html(report)
    result = confdiff("check", "items.csv", "gaps.csv", "-o", "gaps", cwd=folder)
    assert "Rows 2, 6" in result.stdout


def test_a_path_may_be_given_as_text(folder):
    paths = folder / "items.csv", folder / "pairs.csv"
    assert check_comparisons(*map(str, paths)).measures == check_comparisons(*paths).measures


def test_texts_can_be_translated():
    items, pairs = clean()
    pairs["difference"] = 50 + 50 * pairs["difference"]
    report = check_comparisons(items, pairs).reworded(lambda text: text.replace("scale=", "--scale "))
    assert "--scale (" in the(report, "unknown-scale").action


def test_every_check_has_a_name_of_its_own():
    names = [check.name for check in CHECKS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["items.csv", "nowhere.csv"], "there is no file nowhere.csv"),
        (["items.csv", "pairs.csv", "--scale", "7,1"], "a scale must be two numbers, the lower first"),
        (["items.csv", "pairs.csv", "-o", "items.csv"], "--output must name a folder"),
    ],
)
def test_mistakes_give_one_line_and_status_2(folder, arguments, message):
    result = confdiff("check", *arguments, cwd=folder)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
