"""Tables of real data: the counts that are published, the encoding, and both forms of each file."""

import csv

import numpy as np
import pytest

from confdiff.datasets import load, whereabouts

TABLES = {"adult": (32_561, 108, 7_841), "spambase": (4_601, 57, 1_813), "framingham": (2_634, 11, 550)}


@pytest.mark.data
@pytest.mark.parametrize("name", TABLES)
def test_counts_are_the_published_ones(name):
    data = load(name)
    assert (*data.items.shape, int(data.labels.sum())) == TABLES[name]
    assert np.isfinite(data.items).all()
    assert np.ptp(data.items, axis=0).all()


@pytest.mark.data
def test_wines_occur_once_and_are_good_from_quality_6():
    data = load("wine")
    assert data.items.shape == (5_320, 12)
    assert len(np.unique(np.column_stack([data.items, data.classes]), axis=0)) == 5_320
    qualities = np.array(data.class_names, dtype=int)[data.classes]
    assert (data.labels == (qualities >= 6)).all()
    white = data.items[:, 0] == 1
    assert (white.sum(), (~white).sum()) == (3_961, 1_359)


@pytest.mark.data
def test_categories_are_one_hot_and_missing_is_one_of_them(real_data):
    data = load("adult")
    with (real_data / "tabular" / "adult.csv").open(newline="") as file:
        rows = list(csv.DictReader(file, skipinitialspace=True))
    missing = sum(row["workclass"] == "?" for row in rows)
    one_hot = [column for column in data.items.T if set(column.tolist()) == {0.0, 1.0}]
    assert len(one_hot) == 108 - 6
    assert sum(int(column.sum()) == missing for column in one_hot) == 1
    assert np.sum(one_hot, axis=0).tolist() == [8] * len(rows)
    assert data.items[:, 0].sum() == sum(int(row["age"]) for row in rows)


def without_header(path, order=None):
    """Return the rows of a table, with the columns in another order."""
    with path.open(newline="") as file:
        header, *rows = ([cell.strip() for cell in row] for row in csv.reader(file) if row)
    columns = range(len(header)) if order is None else [header.index(name) for name in order]
    return [[row[column] for column in columns] for row in rows]


UCI_ADULT = (
    "age workclass fnlwgt education education-num marital-status occupation relationship race sex "
    "capital-gain capital-loss hours-per-week native-country income"
)


def write_uci_files(real, folder):
    """Write the tables as the UCI repository has them: no headers, other columns first, semicolons."""
    tables = real / "tabular"
    files = {
        "adult/adult.data": [", ".join(row) for row in without_header(tables / "adult.csv", UCI_ADULT.split())] + [""],
        "spambase/spambase.data": [",".join(row) for row in without_header(tables / "spambase.csv")],
    }
    for colour in ("red", "white"):
        rows = without_header(tables / f"wine-{colour}.csv")
        files[f"wine+quality/winequality-{colour}.csv"] = ['"a";"b"', *(";".join(row) for row in rows[::-1])]
    for name, lines in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("\n".join(lines) + "\n")


@pytest.mark.data
@pytest.mark.parametrize("name", ["adult", "spambase", "wine"])
def test_the_form_of_the_uci_repository_has_the_same_items(name, real_data, tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA")
    write_uci_files(real_data, tmp_path)
    theirs = load(name, folder=tmp_path)
    assert all(path.is_relative_to(tmp_path) for path in whereabouts(name, folder=tmp_path))
    ours = load(name, folder=real_data)
    assert (theirs.items == ours.items).all()
    assert (theirs.classes == ours.classes).all()


def test_framingham_is_never_downloaded(tmp_path, monkeypatch):
    monkeypatch.delenv("CONFDIFF_DATA", raising=False)
    monkeypatch.setenv("CONFDIFF_CACHE", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"framingham is missing and cannot be downloaded: put framingham\.csv"):
        load("framingham")
