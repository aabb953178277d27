"""Messages of the library in the terms of the command that runs."""

import pytest

from confdiff.cli.messages import Flag, running_with, translated, with_flags

FLAGS = {
    "overwrite": Flag("--overwrite", is_switch=True),
    "clip": Flag("--clip", off="--no-clip", is_switch=True),
    "as_json": Flag("--json", is_switch=True),
    "scale": Flag("--scale"),
    "left": Flag("--left"),
    "id": Flag("--id", metavar="COLUMN"),
    "prior": Flag("--prior"),
    "ignore": Flag("--ignore"),
    "category": Flag("--category"),
    "weight_decay": Flag("--weight-decay"),
    "k": Flag("-k"),
}


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("model already exists: pass overwrite=True.", "model already exists: pass --overwrite."),
        ("pass clip=True or clip=False", "pass --clip or --no-clip"),
        ("pass as_json=True", "pass --json"),
        ("pass scale=(1, 7).", "pass --scale 1,7."),
        ("pass scale=(-1.5, 1.5)", "pass --scale -1.5,1.5"),
        ("pass scale=...", "pass --scale ..."),
        ("pass scale=LOW,HIGH", "pass --scale LOW,HIGH"),
        ("name it with left='...'", "name it with --left ..."),
        ("name it with id='...'.", "name it with --id COLUMN."),
        ("name it with left='COLUMN'", "name it with --left COLUMN"),
        ("name it with left='arg1' or left=\"arg 2\"", "name it with --left arg1 or --left 'arg 2'"),
        ("pass prior=0.3.", "pass --prior 0.3."),
        ("pass prior=.3, or prior='estimate'", "pass --prior .3, or --prior estimate"),
        ("(weight_decay='auto')", "(--weight-decay auto)"),
        ("pass weight_decay=1e-5", "pass --weight-decay 1e-5"),
        ("ignore=('nope',): no such column", "--ignore nope: no such column"),
        ("ignore=['a', 'b']", "--ignore a,b"),
        ("pass kinds={'a b': 'category'}", "pass --category 'a b'"),
        ("prior must be a fraction", "--prior must be a fraction"),
        ("k=12 is above the number of items", "-k 12 is above the number of items"),
    ],
)
def test_arguments_of_the_command_become_flags(message, expected):
    assert with_flags(message, FLAGS) == expected


@pytest.mark.parametrize(
    "message",
    [
        "pass unknown=3",
        "unknown must be a number",
        "the prior must be a number",
        "pass overwrite=False",  # there is no flag for it
        "pass prior=None",
        "call fit(prior=0.3)",
        "the column 'prior=0.3' is empty",
        "options.prior=0.3",
        "a_prior=0.3",
        "prior = 0.3",
        "prior == 0.3",
        "no arguments here",
    ],
)
def test_everything_else_is_left_alone(message):
    assert with_flags(message, FLAGS) == message


def test_messages_are_translated_for_the_running_command_only():
    with running_with(FLAGS):
        assert translated("pass overwrite=True") == "pass --overwrite"
    assert translated("pass overwrite=True") == "pass overwrite=True"
