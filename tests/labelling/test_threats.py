"""Check that every defence of docs/labelling-security.md names tests that exist."""

import re

import pytest

from labelling.proxies import DEPLOY
from test_promises import names_in

PAGE = DEPLOY.parent / "docs" / "labelling-security.md"
HEADER = "| threat | defence | test |\n|---|---|---|\n"
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def rows():
    """Return the rows of all tables of threats."""
    tables = PAGE.read_text().split(HEADER)[1:]
    return [row for table in tables for row in table.split("\n\n")[0].strip().splitlines()]


def test_the_page_lists_threats():
    assert len(rows()) >= 25  # the list of the design has that many


@pytest.mark.parametrize("row", rows())
def test_every_defence_has_a_test(row):
    tests = TEST.findall(row)
    assert tests, f"no test in: {row}"
    for path, name in tests:
        assert name in names_in(path), f"{path} has no {name}"
