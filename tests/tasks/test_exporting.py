"""What people compared as files, and back through what reads own data."""

import numpy as np
import pandas as pd
import pytest

from confdiff.datasets import ComparisonDataset, load
from confdiff.tabular.comparisons import compare
from confdiff.tabular.tables import read_items, read_judged
from confdiff.tasks import export_comparisons

TEXTS = ('No, "never".', "Yes,\nalways.", "Perhaps: it depends.")


@pytest.fixture
def arguments():
    return ComparisonDataset(
        name="few",
        ids=("007", "b", "c"),
        left=np.array([0, 0, 1]),
        right=np.array([1, 2, 2]),
        difference=np.array([0.4, -1.0, 0.0]),
        texts=TEXTS,
        group=np.array([0, 0, 0]),
        group_names=("dogs",),
        votes=np.array([[1, 3, 1], [4, 0, 0], [2, 2, 1]]),
        verdict=np.array([1.0, np.nan, 0.0]),
    )


def test_what_is_written_is_read_as_own_data(arguments, tmp_path):
    files = export_comparisons(arguments, tmp_path / "new" / "folder")
    items, judged = read_items(files["items"]), read_judged(files["pairs"])
    assert items.ids.tolist() == ["007", "b", "c"]
    assert items.columns["text"].tolist() == list(TEXTS)
    assert items.columns["topic"].tolist() == ["dogs"] * 3
    compared = compare(items, judged)
    np.testing.assert_allclose(compared.difference, arguments.difference)
    np.testing.assert_allclose(compared.weight, np.array([5, 4, 5]) * 3 / 14, rtol=1e-6)
    assert (compared.left.tolist(), compared.right.tolist()) == ([0, 0, 1], [1, 2, 2])
    assert compared.group.tolist() == ["dogs"] * 3
    gold = pd.read_csv(files["pairs"])["gold"]
    assert (gold[0], gold[2]) == (1, 0)
    assert np.isnan(gold[1])


def test_what_cannot_be_exported(arguments, tmp_path):
    with pytest.raises(ValueError, match="nobody compared the items of digits: `confdiff pairs make digits`"):
        export_comparisons(load("digits"), tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(NotADirectoryError, match="file is a file"):
        export_comparisons(arguments, tmp_path / "file")


@pytest.mark.data
def test_the_real_arguments(tmp_path):
    files = export_comparisons(load("ukpconvarg1"), tmp_path)
    items, pairs = pd.read_csv(files["items"], index_col="id"), pd.read_csv(files["pairs"])
    assert (len(items), items["topic"].nunique(), len(pairs)) == (1052, 32, 16927)
    assert items["text"].str.strip().str.len().min() > 0
    for side in ("left", "right"):
        assert (items["topic"].loc[pairs[side]].to_numpy() == pairs["group"]).all()
    assert pairs["weight"].isin([4, 5]).all()
    assert (pairs["difference"] * pairs["weight"] % 1).round(6).isin([0, 1]).all()
    assert pairs["gold"].value_counts().to_dict() == {-1: 6398, 1: 6394, 0: 3289}
    assert pairs["gold"].isna().sum() == 846
    assert pairs.groupby("gold")["difference"].mean().is_monotonic_increasing
