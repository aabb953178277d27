import json

import pytest

from command import confdiff
from confdiff.datasets import DATASETS


def test_list_names_every_data_set_with_size_licence_and_source(tmp_path):
    result = confdiff("data", "list", CONFDIFF_DATA=str(tmp_path))
    assert result.returncode == 0, result.stderr
    for name, entry in DATASETS.items():
        assert name in result.stdout
        assert entry.size in result.stdout
        assert entry.home in result.stdout
    rows = {
        row["name"]: row for row in json.loads(confdiff("data", "list", "--json", CONFDIFF_DATA=str(tmp_path)).stdout)
    }
    assert set(rows) == set(DATASETS)
    assert rows["digits"]["here"] == "yes"
    assert (rows["letter"]["here"], rows["letter"]["folder"], rows["letter"]["positive"]) == ("no", None, "A to M")


@pytest.mark.data
def test_list_sees_what_is_here(real_data):
    rows = {row["name"]: row for row in json.loads(confdiff("data", "list", "--json").stdout)}
    assert rows["letter"]["here"] == "yes"
    assert rows["letter"]["folder"] == str(real_data / "letter")


def test_fetch_of_what_ships_with_a_dependency():
    result = confdiff("data", "fetch", "digits")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "digits: ships with scikit-learn\n"


@pytest.mark.data
def test_fetch_checks_what_is_here(real_data):
    result = confdiff("data", "fetch", "letter", "pendigits")
    assert result.returncode == 0, result.stderr
    assert f"letter: 1 file in {real_data / 'letter'}, checked" in result.stdout
    assert f"pendigits: 2 files in {real_data / 'pendigits'}, checked" in result.stdout


def test_show_draws_and_counts(tmp_path):
    result = confdiff("data", "show", "digits", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "digits.png").read_bytes().startswith(b"\x89PNG")
    assert "picture: digits.png" in result.stdout
    assert "178" in result.stdout  # zeros
    assert confdiff("data", "show", "digits", "-o", "d.svg", cwd=tmp_path).returncode == 0
    assert "<svg" in (tmp_path / "d.svg").read_text()


@pytest.mark.data
def test_show_arguments(tmp_path):
    result = confdiff("data", "show", "ukpconvarg1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "16927 judged pairs of 1052 items in 32 groups" in result.stdout
    assert (tmp_path / "ukpconvarg1.png").exists()


@pytest.mark.data
def test_export_writes_ordinary_files(tmp_path):
    result = confdiff("data", "export", "ukpconvarg1", "-o", "arguments", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "items: arguments/items.csv\npairs: arguments/pairs.csv\n"
    header = (tmp_path / "arguments" / "pairs.csv").read_text().splitlines()[0]
    assert header == '"left","right","difference","gold","group","weight"'


NOWHERE = {"CONFDIFF_DATA": "", "HTTP_PROXY": "http://127.0.0.1:9", "HTTPS_PROXY": "http://127.0.0.1:9"}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "digit"], "unknown data set 'digit'. Did you mean 'digits'?"),
        (["fetch", "digits", "minst"], "unknown data set 'minst'. Did you mean 'mnist'?"),
        (["export", "digits", "-o", "x"], "nobody compared the items of digits"),
        (["export", "digits"], "Missing option '-o'"),
        (["fetch"], "Missing argument 'NAME'"),
        (["show", "digits", "-o", "digits.doc"], "must end in .png, .svg or .pdf; got 'digits.doc'"),
        (["fetch", "letter"], "letter is missing and could not be downloaded"),
        (["list", "--folder", "nowhere"], "nowhere does not exist"),
    ],
)
def test_mistakes(tmp_path, arguments, message):
    result = confdiff("data", *arguments, cwd=tmp_path, CONFDIFF_CACHE=str(tmp_path / "cache"), **NOWHERE)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
