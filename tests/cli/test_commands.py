"""What all commands share: global options, help, warnings and errors."""

import re
import warnings
from itertools import pairwise

import pytest
import typer
from typer.testing import CliRunner

from command import confdiff, installed
from confdiff import __version__
from confdiff.cli.commands import as_command
from confdiff.cli.console import set_verbosity
from confdiff.cli.main import app
from confdiff.cli.messages import UserError


@pytest.fixture(autouse=True)
def _normal_verbosity():
    yield
    set_verbosity()


def all_commands(group=None, path=()):
    """Yield the words of every command and the command."""
    group = group or typer.main.get_command(app)
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from all_commands(command, (*path, name))
        else:
            yield (*path, name), command


COMMANDS = dict(all_commands())


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_help_has_an_example_and_wraps_at_80_columns(words):
    result = confdiff(*words, "--help", COLUMNS="80")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert all(len(line) <= 80 for line in lines)
    assert any(line.strip().startswith(f"confdiff {' '.join(words)}") for line in lines), "no example"
    prose = result.stdout.split("╭")[0].split("Example")[0].strip().split("\n")[2:]
    for line, following in pairwise(prose):  # a line ends where the next word does not fit
        if line.strip() and following.strip():
            assert len(line.rstrip()) + 1 + len(following.split()[0]) > 78


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_option_has_help_and_says_what_its_value_is(words):
    for parameter in COMMANDS[words].params:
        assert parameter.help, parameter.name
        assert parameter.metavar is not None, parameter.name


def test_version_in_one_line():
    result = installed("--version")
    assert (result.returncode, result.stdout) == (0, f"confdiff {__version__}\n")


def test_completion_names_commands_and_options():
    asked = {"_CONFDIFF_COMPLETE": "complete_bash"}
    commands = installed(COMP_WORDS="confdiff ex", COMP_CWORD="1", **asked)
    assert commands.stdout.split() == ["explain", "export"]
    options = installed(COMP_WORDS="confdiff fit --va", COMP_CWORD="2", **asked)
    assert options.stdout.split() == ["--validation-fraction"]


@pytest.mark.parametrize("words", [("-q", "demo"), ("demo", "-q"), ("demo", "--quiet")], ids=" ".join)
def test_quiet_prints_results_only(words, tmp_path):
    result = confdiff(*words, "--epochs", "1", cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert "oracle-soft" in result.stdout


def test_demo_reports_progress_in_lines_when_piped(tmp_path):
    result = confdiff("demo", "--epochs", "1", cwd=tmp_path)
    assert result.stderr.startswith("training: teacher")
    assert "training: 6 of 6 methods, oracle-soft done (100 %)\n" in result.stderr


@pytest.mark.parametrize("words", [("-v", "data", "fetch"), ("data", "fetch", "-v")], ids=" ".join)
def test_verbose_prints_versions_timings_and_tracebacks(words):
    result = confdiff(*words, "digits")
    assert result.stderr.startswith(f"confdiff {__version__}, python ")
    assert re.search(r"\ntook \d+\.\d s\n$", result.stderr)
    assert result.stdout == "digits: ships with scikit-learn\n"
    failed = confdiff(*words, "nothing")
    assert failed.returncode == 2
    assert "Traceback" in failed.stderr
    assert failed.stderr.splitlines()[-1].startswith("error: unknown data set 'nothing'")


def test_quiet_and_verbose_exclude_each_other():
    result = confdiff("-q", "-v", "methods")
    assert result.returncode == 2
    assert result.stderr == "error: --quiet and --verbose exclude each other: pass one of them.\n"


def run_as_command(function, *arguments):
    program = typer.Typer(add_completion=False)
    program.command()(as_command(function))
    return CliRunner().invoke(program, arguments)


def test_errors_name_the_flags_of_the_command():
    def command(folder: str = "model", overwrite: bool = False) -> None:
        raise FileExistsError(f"{folder} already exists: pass overwrite=True, folder='other' or scale=(1, 7).")

    result = run_as_command(command, "--folder", "here")
    assert isinstance(result.exception, UserError)
    assert str(result.exception) == "here already exists: pass --overwrite, --folder other or scale=(1, 7)."


def warn_twice(prior: float = 0.5) -> None:
    for _ in range(2):
        warnings.warn("few pairs:\n  pass prior=0.3.", UserWarning, stacklevel=1)
    warnings.warn("few pairs:  pass prior=0.3.", UserWarning, stacklevel=1)


@pytest.mark.filterwarnings("always")
@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ([], r"warning: few pairs: pass --prior 0\.3\.\n"),
        (["-q"], ""),
        (["-v"], r"(?s).*warning: few pairs: pass --prior 0\.3\. \(UserWarning, .*test_commands\.py:\d+\)\ntook.*"),
    ],
)
def test_warnings_are_printed_once_without_source_lines(flags, expected, capsys):
    from confdiff.cli.console import set_up_consoles

    program = typer.Typer(add_completion=False)
    program.command()(as_command(warn_twice))
    set_up_consoles()
    program(flags, standalone_mode=False)
    assert re.fullmatch(expected, capsys.readouterr().err)


def test_an_unknown_device_is_refused(tmp_path):
    (tmp_path / "likes.csv").write_text("user_id,video_id,watch_ratio\n" + "1,1,3\n1,2,1\n1,3,2\n1,4,0\n2,1,3\n2,2,0\n")
    arguments = ("recommend", "train", "likes.csv", "--no-holdout", "--device", "abacus")
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert "error: device 'abacus' is not available; pass --device auto" in result.stderr
