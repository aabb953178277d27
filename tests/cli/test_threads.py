import os
import sys

import pytest
import typer
from typer.testing import CliRunner

from command import confdiff
from confdiff.cli.commands import as_command
from confdiff.threads import threads_for


def run(*arguments):
    """Return the number of threads for large and small work inside a command."""
    seen = []

    def command() -> None:
        """Note the numbers."""
        seen.extend([threads_for(0), threads_for(1e15)])

    app = typer.Typer()
    app.command()(as_command(command))
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return seen


def test_the_flag_wins_over_the_environment():
    assert os.environ["OMP_NUM_THREADS"] == "1"
    assert run() == [1, 1]
    assert run("--threads", "3") == [3, 3]
    assert threads_for(0) == 1


@pytest.mark.parametrize("words", [("--threads", "2", "methods"), ("methods", "--threads", "2")], ids=" ".join)
def test_the_flag_goes_before_or_after_the_command(words):
    assert confdiff(*words).returncode == 0


@pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
def test_a_number_of_threads_is_at_least_one(value):
    result = confdiff("methods", "--threads", value)
    assert result.returncode == 2
    assert "Invalid value for '--threads'" in result.stderr


def test_commands_let_idle_threads_sleep(monkeypatch):
    for name in ("OMP_WAIT_POLICY", "KMP_BLOCKTIME", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    entry = sys.modules["confdiff.cli.main"]  # the package has a function of this name
    monkeypatch.setattr(entry, "app", lambda: None)
    entry.main()
    assert os.environ["OMP_WAIT_POLICY"] == "PASSIVE"
