import json

import pandas as pd
import pytest

from command import confdiff

PAIRS = """home,away,difference
<b>x</b>,b,0.3
b,c,0.2
c,<b>x</b>,-0.4
p,q,0.1
"""
COLUMNS = ["--left", "home", "--right", "away"]


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    return tmp_path


def test_table_page_and_numbers(folder):
    result = confdiff("rank", "pairs.csv", *COLUMNS, cwd=folder)
    assert result.returncode == 0, result.stderr
    assert "2 connected components" in result.stderr
    assert "pair to compare next" in result.stdout
    table = pd.read_csv(folder / "ranking.csv")
    assert table.id.tolist() == ["c", "b", "<b>x</b>", "q", "p"]
    page = (folder / "ranking.html").read_text()
    assert "&lt;b&gt;x&lt;/b&gt;" in page
    assert "<b>x</b>" not in page
    assert "data:image/png" in page
    numbers = json.loads((folder / "ranking.summary.json").read_text())
    assert numbers["components"]["count"] == 2
    assert [item["id"] for item in numbers["items"]] == table.id.tolist()


def test_existing_files_are_kept(folder):
    (folder / "ranking.html").write_text("mine")
    refused = confdiff("rank", "pairs.csv", *COLUMNS, cwd=folder)
    assert refused.returncode == 2
    assert "ranking.html already exists. Choose another name, or pass --overwrite" in refused.stderr
    assert (folder / "ranking.html").read_text() == "mine"
    assert not (folder / "ranking.csv").exists()
    assert confdiff("rank", "pairs.csv", *COLUMNS, "--overwrite", cwd=folder).returncode == 0


def test_files_of_a_compressed_table_have_its_name(folder):
    assert confdiff("rank", "pairs.csv", *COLUMNS, "-o", "all.csv.gz", cwd=folder).returncode == 0
    assert {path.name for path in folder.glob("all.*")} == {"all.csv.gz", "all.html", "all.summary.json"}


def test_groups_are_named(folder):
    (folder / "grouped.csv").write_text("left,right,difference,group\na,b,0.2,u\nb,c,0.3,u\na,b,-0.1,\n")
    result = confdiff("rank", "grouped.csv", "--by-group", cwd=folder)
    assert "in group u (reduces uncertainty)" in result.stdout


def test_json_is_printed(folder):
    result = confdiff("rank", "pairs.csv", *COLUMNS, "--json", "-q", cwd=folder)
    assert json.loads(result.stdout)["pairs"] == 4


def test_errors_name_flags(folder):
    refused = confdiff("rank", "pairs.csv", cwd=folder)
    assert refused.returncode == 2
    assert "Name the right one with --left COLUMN" in refused.stderr
    refused = confdiff("rank", "pairs.csv", *COLUMNS, "--ridge", "0", cwd=folder)
    assert "--ridge must be a positive number" in refused.stderr
    assert "Traceback" not in refused.stderr


def test_fit_without_features_points_to_rank(folder):
    (folder / "items.csv").write_text("id\n" + "\n".join(["<b>x</b>", "b", "c", "p", "q"]) + "\n")
    refused = confdiff("fit", "items.csv", "pairs.csv", *COLUMNS, cwd=folder)
    assert refused.returncode == 2
    assert "run `confdiff rank` on the pairs" in refused.stderr
