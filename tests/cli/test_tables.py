"""Tables and lists of names at 80 columns, and where no terminal is attached."""

import re

import numpy as np
import pytest

from command import confdiff, installed
from confdiff.datasets import DATASETS
from confdiff.methods import METHODS
from tabular.people import FRAME, JUDGED

ADDED = [f"a_measure_with_a_long_name_{number}" for number in range(30)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with 33 columns of items, judged pairs, and pairs with two errors."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    FRAME.assign(**{name: rng.random(len(FRAME)) for name in ADDED}).to_csv(folder / "items.csv")
    pairs = JUDGED.copy()
    pairs.to_csv(folder / "pairs.csv", index=False)
    pairs.loc[3, "difference"] = float("nan")
    pairs.loc[[5, 8], "right"] = "nobody"
    pairs.to_csv(folder / "broken.csv", index=False)
    return folder


@pytest.mark.parametrize("width", ["80", ""], ids=["80 columns", "piped"])
def test_methods_and_data_sets_are_not_cut_off(width):
    methods = installed("methods", COLUMNS=width).stdout
    datasets = installed("data", "list", COLUMNS=width).stdout
    assert "…" not in methods + datasets
    for name in METHODS:
        assert re.search(rf"│ {name} +│", methods), name
    for name, entry in DATASETS.items():
        assert re.search(rf"│ {name} +│ +{re.escape(entry.size)} │", datasets), name


def test_findings_fit_into_80_columns(folder):
    result = confdiff("check", "items.csv", "broken.csv", cwd=folder, COLUMNS="80")
    assert result.returncode == 2
    table = [line for line in result.stdout.splitlines() if line.startswith(("┃", "│"))]
    assert all(len(line) == 80 for line in table)
    assert "…" not in result.stdout
    assert [line.split()[1] for line in table if line.startswith("│ error")] == ["error", "error"]
    text = " ".join(line.split("│")[1 + 1].strip() for line in table if line.startswith("│"))
    assert "Rows 7, 10 (the header is row 1)" in text
    assert "Row 5 (the header is row 1)" in text
    assert result.stderr.splitlines()[-1].startswith("error: `confdiff fit` would stop")


def test_a_model_lists_at_most_ten_columns(folder):
    fit = ("fit", "items.csv", "pairs.csv", "--model", "linear", "--epochs", "2", "-q")
    result = confdiff(*fit, cwd=folder, COLUMNS="80")
    assert result.returncode == 0, result.stderr
    (columns,) = re.findall(r"^columns: (.*)$", result.stdout, re.MULTILINE)
    assert columns.endswith("a_measure_with_a_long_name_6 (number) and 23 more")
    assert "│ with a new item │" in result.stdout
    assert re.search(r"┃ pairs ┃ pairwise accuracy ┃ +R² ┃ +RMSE ┃", result.stdout)


def test_the_demo_names_methods_and_supervision_in_80_columns(tmp_path):
    result = confdiff("demo", "--epochs", "1", "-q", cwd=tmp_path, COLUMNS="80")
    assert result.returncode == 0, result.stderr
    assert "…" not in result.stdout
    assert re.search(r"│ confdiff-regression +│ differences +│ +0\.\d{3} │", result.stdout)
