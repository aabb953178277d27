"""The commands, run for real."""

import json

import pytest

from command import confdiff, installed
from confdiff import __version__
from confdiff.experiments.demo import SHOWN
from confdiff.methods import METHODS


def test_help_explains_itself():
    for arguments in (["--help"], []):
        result = installed(*arguments)
        text = result.stdout + result.stderr
        assert all(word in text for word in ("demo", "methods", "version", "graded comparisons"))
    assert "Folder for the figure" in confdiff("demo", "--help").stdout


def test_version():
    result = installed("version")
    assert result.returncode == 0
    assert result.stdout.startswith(f"confdiff {__version__}\n")
    assert "torch 2." in result.stdout


def test_methods_lists_the_table():
    text = confdiff("methods").stdout
    assert all(name in text for name in METHODS)
    rows = json.loads(confdiff("methods", "--json").stdout)
    assert [row["method"] for row in rows] == list(METHODS)
    assert rows[0]["prior"] == "needed"


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    return confdiff("demo", "--out", "out", "--epochs", "8", cwd=folder), folder / "out"


def test_demo_shows_and_saves(demo):
    result, folder = demo
    assert result.returncode == 0, result.stderr
    assert all(name in result.stdout for name in SHOWN)
    assert "demo.png" in result.stdout
    assert (folder / "demo.png").read_bytes().startswith(b"\x89PNG")
    numbers = json.loads((folder / "demo.json").read_text())
    assert {outcome["method"] for outcome in numbers["outcomes"]} == set(SHOWN)
    accuracies = {outcome["method"]: outcome["accuracy"] for outcome in numbers["outcomes"]}
    assert accuracies["oracle-soft"] > 0.9
    assert accuracies["confdiff-abs"] > 0.8
    assert sorted(path.name for path in folder.iterdir()) == ["demo.json", "demo.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--epochs", "0"], "Invalid value for '--epochs'"),
        (["demo", "--epochs", "many"], "Invalid value for '--epochs'"),
        (["demo", "--seed", "-1"], "Invalid value for '--seed'"),
        (["demo", "--out", "file"], "file/demo.png cannot be written: file is a file"),
        (["domo"], "No such command 'domo'"),
        (["methods", "--yaml"], "No such option"),
    ],
)
def test_mistakes_give_one_message_and_status_2(tmp_path, arguments, message):
    (tmp_path / "file").write_text("")
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
