"""Names in files never command the terminal: control characters are shown, and markup is text."""

import io

import pytest
from rich.table import Table
from rich.text import Text

from command import confdiff
from confdiff.cli import console
from confdiff.cli.console import TextConsole, visible

EVIL = "\x1b]0;title\x07\x1b[31mred\x9b2J\r\u202eabc\udc80[bold]:smile:"
SHOWN = r"\x1b]0;title\x07\x1b[31mred\x9b2J\x0d\u202eabc\udc80[bold]:smile:"


def raw(text):
    """The characters that a terminal would act on."""
    return set(text) & {"\x1b", "\x07", "\x9b", "\r", "\u202e", "\udc80"}


def printed(act):
    file = io.StringIO()
    act(TextConsole(file=file, width=200))
    return file.getvalue()


def table_of(text):
    table = Table(text, title=text)
    table.add_row(text)
    return table


@pytest.mark.parametrize(
    "act",
    [
        lambda it: it.print(EVIL),
        lambda it: it.print(EVIL, markup=True),
        lambda it: it.print(Text(EVIL)),
        lambda it: it.print(table_of(EVIL)),
        lambda it: it.print("a", EVIL, end=""),
    ],
)
def test_texts_are_printed_literally(act):
    text = printed(act)
    assert not raw(text)
    assert "[bold]:smile:" in text


def test_control_characters_are_written_out():
    assert visible(EVIL) == SHOWN
    assert visible("ordinary text, tabs\tand lines\n: äöü 漢字 😀") == "ordinary text, tabs\tand lines\n: äöü 漢字 😀"


def test_colours_of_rich_itself_remain():
    file = io.StringIO()
    TextConsole(file=file, force_terminal=True, color_system="standard").print("error:", style="red")
    assert "\x1b[31m" in file.getvalue()


def test_every_console_of_the_program_prints_literally():
    for it in (console.results, console.messages, console.errors):
        assert isinstance(it, TextConsole)


@pytest.fixture
def hostile(tmp_path):
    """Tables whose names of columns, ids and files hold escape sequences and markup."""
    evil = "\x1b[31m[bold]x"
    rows = "".join(f"{evil}{row},{row * 7 % 11},{evil} {row % 3} c d\n" for row in range(40))
    items = tmp_path / f"{evil} items.csv"
    items.write_text(f"id,{evil},note\n{rows}")
    pairs = "".join(f"{evil}{row},{evil}{(row * 3 + 1) % 40},{0.1 * (row % 7 - 3):.1f}\n" for row in range(40))
    judged = tmp_path / "pairs.csv"
    judged.write_text(f"left,right,difference\n{pairs}")
    return items, judged


FIT = ["fit", "--epochs", "1", "--model", "linear", "--validation-fraction", "0"]


@pytest.mark.parametrize("command", [["check"], [*FIT, "-v"], ["fit", "--id", "no"]])
def test_no_command_prints_an_escape_from_a_file(hostile, tmp_path, command):
    name, *options = command
    result = confdiff(name, *hostile, *options, "-o", tmp_path / "out", COLUMNS="500")
    assert not raw(result.stdout + result.stderr)
    assert name == "check" or r"\x1b[31m[bold]x" in result.stdout + result.stderr


def test_a_model_and_its_predictions_print_no_escape(hostile, tmp_path):
    name, *options = FIT
    confdiff(name, *hostile, *options, "-o", tmp_path / "model")
    for command in (["show", tmp_path / "model"], ["evaluate", tmp_path / "model", hostile[0], "--pairs", hostile[1]]):
        result = confdiff(*command, COLUMNS="500")
        assert result.returncode == 0
        assert not raw(result.stdout + result.stderr)


@pytest.mark.parametrize(
    "arguments",
    [["check", EVIL, "pairs.csv"], ["show", EVIL], ["fit", "a", "b", "--epochs", EVIL], [EVIL], ["show", "a", EVIL]],
)
def test_wrong_arguments_and_missing_files_print_no_escape(tmp_path, arguments):
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert not raw(result.stdout + result.stderr)
