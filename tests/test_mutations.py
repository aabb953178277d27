"""Every mutation of benchmarks/mutations.py still applies: it changes code, not a comment or a docstring."""

import ast
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULE = runpy.run_path(str(ROOT / "benchmarks" / "mutations.py"))
CASES = [(file, old, new) for file, mutations in MODULE["MUTATIONS"].items() for old, new in mutations]


def code_of(source):
    """The syntax tree as text, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = None
    return ast.dump(tree)


@pytest.mark.parametrize(("file", "old", "new"), CASES)
def test_a_mutation_changes_code(file, old, new):
    source = (ROOT / "src" / "confdiff" / file).read_text()
    assert code_of(MODULE["mutated"](file, old, new)) != code_of(source)


def test_a_mutation_whose_source_is_gone_is_an_error():
    with pytest.raises(ValueError, match="update MUTATIONS"):
        MODULE["mutated"]("losses.py", "text that does not occur", "")
