"""The page, the JSON and the command, and how rows are numbered."""

import json

import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.checks.page import check_html, check_json, write_check
from confdiff.tabular.checks.report import check_comparisons
from judging import crowd, exact, the


def test_the_page_needs_nothing_and_shows_names_as_they_are(tmp_path):
    items, pairs = crowd(**{"<b>ann</b>": exact, "bob": exact, "cy": lambda c: -c})
    pairs.loc[0, "left"] = "<script>alert(1)</script>"
    files = write_check(check_comparisons(items, pairs), tmp_path / "new" / "folder")
    page = files["page"].read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert page.count('<img src="data:image/png;base64,') == 4  # differences, triangles, annotators, learning curve
    assert "http" not in page
    assert json.loads(files["numbers"].read_text(encoding="utf-8"))["findings"][0]["kind"] == "unknown-id"


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
    result = confdiff("check", "items.csv", "bad.parquet", "--quiet", cwd=folder)  # no lines of progress
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


def test_the_command_names_flags_instead_of_arguments(folder):
    pairs = pd.read_csv(folder / "pairs.csv").head(3)
    pairs.assign(difference=[0.3, 40, 50]).to_csv(folder / "few.csv", index=False)
    result = confdiff("check", "items.csv", "few.csv", "--json", "-o", "few", cwd=folder)
    assert "--scale 0,100 if 50 means equal" in result.stdout
    result = confdiff("check", "items.csv", "few.csv", "--scale", "0,100", "--json", "-o", "few", cwd=folder)
    assert "--validation-fraction 0 to" in result.stdout


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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["items.csv", "nowhere.csv"], "the table nowhere.csv does not exist"),
        (["items.csv", "pairs.csv", "--scale", "7,1"], "a scale must be two numbers, the lower first"),
        (["items.csv", "pairs.csv", "-o", "items.csv"], "cannot be written: items.csv is a file"),
    ],
)
def test_mistakes_give_one_line_and_status_2(folder, arguments, message):
    result = confdiff("check", *arguments, "--quiet", cwd=folder)  # no lines of progress
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
