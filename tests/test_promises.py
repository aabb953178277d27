"""Check that every promise of docs/promises.md names a test that exists."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "promises.md"
ROW = re.compile(r"^\| .+ \|$", re.MULTILINE)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def promises():
    """Return the rows of all tables of the page, without headers and rules."""
    rows = ROW.findall(PAGE.read_text())
    return [row for row in rows if not row.startswith(("| promise |", "|---"))]


@cache
def names_in(path):
    """Return the names of all functions and methods of a test file."""
    tree = ast.parse((ROOT / path).read_text())
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def test_the_page_lists_promises():
    assert len(promises()) >= 21  # at least one per class of fault


@pytest.mark.parametrize("row", promises())
def test_every_promise_has_a_test(row):
    tests = TEST.findall(row)
    assert tests, f"no test in: {row}"
    for path, name in tests:
        assert (ROOT / path).is_file(), path
        assert name in names_in(path), f"{path} has no {name}"
