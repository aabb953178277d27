"""Cells that cannot be used: all are listed in one run, and the page is written."""

import json

import numpy as np
import pandas as pd
import pytest

from command import confdiff
from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.fitting import fit_comparisons
from judging import clean, kinds, the


def broken():
    """Items and pairs with one fault of each kind, and one cell of text in each of two columns of numbers."""
    items, pairs = clean()
    items = items.rename_axis("id").reset_index().astype({"id": object, "feature": object, "other": object})
    items.loc[5, "id"] = None
    items.loc[[7, 8], "id"] = "i3"
    items.loc[11, "feature"] = "n/k"
    items.loc[12, "other"] = "??"
    pairs = pairs.assign(weight=1.0).astype({"difference": object, "weight": object})
    pairs.loc[[2, 4], "difference"] = ["much better", "worse"]
    pairs.loc[6, "difference"] = None
    pairs.loc[9, "weight"] = "heavy"
    pairs.loc[13, "weight"] = np.inf
    pairs.loc[15, "right"] = "nobody"
    return items, pairs


def test_all_problems_are_listed():
    report = check_comparisons(*broken())
    expected = {"missing-item-id", "repeated-id", "not-numeric", "unknown-id", "missing-difference", "missing-weight"}
    assert expected | {"text-among-numbers"} == set(kinds(report, "error"))
    assert the(report, "repeated-id").rows == (7, 8)
    assert "that occurs in an earlier row: 'i3'" in the(report, "repeated-id").text
    assert the(report, "missing-item-id").rows == (5,)
    numbers = [finding for finding in report.findings if finding.kind == "not-numeric"]
    assert [(finding.rows, finding.table) for finding in numbers] == [((2, 4), "pairs"), ((9,), "pairs")]
    assert "'much better' and 'worse'" in numbers[0].text
    assert the(report, "missing-difference").rows == (6,)
    assert the(report, "missing-weight").rows == (13,)
    assert report.usable_pairs > 200


def test_each_column_with_a_cell_of_text_is_named():
    report = check_comparisons(*broken())
    texts = [finding.text for finding in report.findings if finding.kind == "text-among-numbers"]
    assert len(texts) == 2
    assert "column 'feature', row 11" in texts[0]
    assert "column 'other', row 12" in texts[1]


@pytest.mark.parametrize("rows", [[], [1], [1, 2]])
def test_a_check_without_errors_is_a_fit_without_errors(rows):
    """Each fault alone stops a fit, and nothing else in these tables does."""
    items, pairs = clean()
    fit_comparisons(items, pairs, model="linear", epochs=1, prior=0.5)
    pairs = pairs.astype({"difference": object})
    pairs.loc[rows, "difference"] = "better"
    assert bool(check_comparisons(items, pairs).errors) == bool(rows)
    if rows:
        with pytest.raises(ValueError, match=r"row 1: must be a number; got 'better'"):
            fit_comparisons(items, pairs, model="linear", epochs=1)


def test_grades_that_are_all_text_are_one_finding():
    items, pairs = clean()
    report = check_comparisons(items, pairs.assign(difference="better"))
    assert kinds(report, "error") == ["not-numeric"]
    assert report.usable_pairs == 0


def test_repeated_numbers_as_ids():
    items, pairs = clean()
    numbers = dict(zip(items.index, range(40), strict=True))
    items = items.set_index(pd.Index([*range(39), 3], name="id")).reset_index()
    report = check_comparisons(items, pairs.assign(left=pairs["left"].map(numbers), right=pairs["right"].map(numbers)))
    assert the(report, "repeated-id").rows == (39,)
    assert "unknown-id" in kinds(report, "error")  # the item 39 has lost its id


def test_the_command_writes_its_page(tmp_path):
    items, pairs = broken()
    items.to_csv(tmp_path / "items.csv", index=False)
    pairs.to_csv(tmp_path / "pairs.csv", index=False)
    result = confdiff("check", "items.csv", "pairs.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert "errors in all" in result.stderr
    page = (tmp_path / "check" / "check.html").read_text()
    report = json.loads((tmp_path / "check" / "check.json").read_text())
    errors = [finding for finding in report["findings"] if finding["severity"] == "error"]
    assert {finding["kind"] for finding in errors} >= {"repeated-id", "not-numeric", "text-among-numbers", "unknown-id"}
    assert all(finding["action"] for finding in errors)
    for kind in ("repeated-id", "not-numeric", "missing-item-id"):
        assert kind in page
    assert confdiff("fit", "items.csv", "pairs.csv", cwd=tmp_path).returncode == 2
