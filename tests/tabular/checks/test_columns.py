"""Columns of items and pairs: features, missing and infinite values, roles."""

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.features.item_features import ItemFeatures
from judging import clean, kinds, the


def test_infinite_features_are_errors():
    items, pairs = clean()
    items.loc["i3", "other"] = np.inf
    report = check_comparisons(items, pairs)
    assert kinds(report) == ["infinite-feature"]
    assert the(report, "infinite-feature").rows == (3,)
    assert "in other" in the(report, "infinite-feature").text
    with pytest.raises(ValueError, match="finite"):
        ItemFeatures().fit(items)


def test_items_without_anything_to_learn_from_are_errors():
    items, pairs = clean(n_items=60)
    items = pd.DataFrame({"code": [f"X-{k}" for k in range(60)]}, index=items.index)
    report = check_comparisons(items, pairs)
    assert the(report, "no-features").severity == "error"
    assert the(report, "column").severity == "warning"
    assert "Column 'code' is ignored" in the(report, "column").text


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


def test_columns_of_pairs_are_listed_with_their_roles():
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
