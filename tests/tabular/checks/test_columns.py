"""Columns of items and pairs: features, missing and infinite values, roles."""

from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from confdiff.tabular.checks.report import check_comparisons
from confdiff.tabular.features.item_features import ItemFeatures
from confdiff.tabular.fitting import fit_comparisons
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


@pytest.mark.parametrize("cell", ["unknown", "12,5", "?"])
def test_text_among_numbers_is_an_error_that_names_the_cell(tmp_path, cell):
    items, pairs = clean()
    items["age"] = [str(20 + row / 2) for row in range(40)]
    items.loc["i7", "age"] = cell
    items.rename_axis("id").to_csv(tmp_path / "items.csv")
    report = check_comparisons(tmp_path / "items.csv", pairs)
    finding = the(report, "text-among-numbers")
    assert finding.severity == "error"
    assert f"items.csv, column 'age', row 9 (the header is row 1): 97 % of the cells are numbers, but not {cell!r}" in (
        finding.text
    )
    assert "would stop with an error" in report.verdict
    assert [column.role for column in report.items.columns] == ["number", "number", "unknown"]
    with pytest.raises(ValueError, match=r"column 'age', row 9 .*kinds={'age': 'category'}"):
        fit_comparisons(tmp_path / "items.csv", pairs, model="linear", epochs=1)
    declared = {"age": "category"}
    assert "text-among-numbers" not in kinds(check_comparisons(tmp_path / "items.csv", pairs, kinds=declared))
    with pytest.warns(UserWarning, match="the differences do not determine"):
        fit_comparisons(tmp_path / "items.csv", pairs, model="linear", link="probability", epochs=1, kinds=declared)


@pytest.mark.parametrize("cells", [["02139", "10001"] * 20, ["1" * 25, "7"] * 20, ["1", "NA"] * 20, ["a", "1"] * 20])
def test_postal_codes_long_ids_and_missing_values_are_no_mistakes(tmp_path, cells):
    items, pairs = clean()
    items.assign(code=cells).rename_axis("id").to_csv(tmp_path / "items.csv")
    assert not check_comparisons(tmp_path / "items.csv", pairs).errors


def test_decimals_and_durations_are_numbers(tmp_path):
    items, pairs = clean()
    items["price"] = [Decimal(row) / 4 for row in range(40)]
    items["stay"] = pd.to_timedelta(np.arange(40) * 6, unit="h")
    items.rename_axis("id").reset_index().to_parquet(tmp_path / "items.parquet")
    for source in (items, tmp_path / "items.parquet"):
        report = check_comparisons(source, pairs)
        assert kinds(report) == []
        assert {column.role for column in report.items.columns} == {"number"}
    encoded = ItemFeatures().fit_transform(items)
    np.testing.assert_array_equal(encoded["price"], encoded["stay"])  # both are quarters, of days or of a unit
