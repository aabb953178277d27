"""Habits of the code that a program can check: one home per name, one statement per line, no flags in the library."""

import ast
import re
import tokenize
from collections import defaultdict
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "confdiff"
FILES = sorted(SOURCE.rglob("*.py"))
FLAG = re.compile(r"(?<![\w-])(?<!confdiff )--[a-z]")
MOST_TUPLES = 3.4  # tuple assignments per 1,000 statements


def public_names(tree):
    """Yield the public functions, classes and constants that a module defines."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names = [node.target.id]
        else:
            names = []
        yield from (name for name in names if not name.startswith("_"))


def test_each_public_name_has_one_home():
    homes = defaultdict(set)
    for path in FILES:
        for name in public_names(ast.parse(path.read_text())):
            homes[name].add(str(path.relative_to(SOURCE)))
    assert {name: sorted(paths) for name, paths in homes.items() if len(paths) > 1} == {}


def is_tuple_assignment(node):
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)


def test_one_statement_per_line():
    nodes = [node for path in FILES for node in ast.walk(ast.parse(path.read_text()))]
    statements = sum(isinstance(node, ast.stmt) for node in nodes)
    tuples = sum(is_tuple_assignment(node) for node in nodes)
    assert 1000 * tuples / statements <= MOST_TUPLES


def test_formatting_is_skipped_only_with_a_reason():
    bare = []
    for path in FILES:
        with path.open("rb") as file:
            comments = [token for token in tokenize.tokenize(file.readline) if token.type == tokenize.COMMENT]
        bare += [f"{path}:{token.start[0]}" for token in comments if re.fullmatch(r"# fmt: (skip|off)", token.string)]
    assert bare == []


def texts_of(path):
    """Yield the string literals of a module, docstrings included."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("package", sorted({path.relative_to(SOURCE).parts[0] for path in FILES} - {"cli"}))
def test_messages_of_the_library_name_arguments_and_not_flags(package):
    """Only the command line speaks of flags; the commands that a report prints are its business."""
    home = SOURCE / package
    files = [home] if home.suffix else [path for path in sorted(home.rglob("*.py")) if "plans" not in path.parts]
    with_flags = [f"{path}: {text}" for path in files for text in texts_of(path) if FLAG.search(text)]
    assert with_flags == []
