"""Check what the project promises about itself: import layers, lazy imports, and examples that run."""

import ast
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import typer.main

import confdiff
from confdiff.cli.main import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
WITHOUT_PANDAS = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        return None if name.split(".")[0] == "pandas" else self.finder.find_spec(name, path, target)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""


def test_import_layers():
    command = [Path(sys.executable).with_name("lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout


def test_importing_is_lazy():
    program = "import sys, confdiff.cli; print(sorted({'torch', 'sklearn', 'pandas', 'matplotlib'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_public_names():
    assert set(confdiff.__all__) == set(dir(confdiff))
    for name in confdiff.__all__:
        assert getattr(confdiff, name) is not None
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = confdiff.nothing


def code_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


@pytest.mark.parametrize("path", [path for path in PAGES if code_blocks(path)], ids=lambda path: path.name)
def test_examples_in_documents_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some write files
    scope = {}
    for block in code_blocks(path):
        exec(compile(block, str(path), "exec"), scope)


def test_the_readme_runs_twice_in_one_folder_without_pandas(tmp_path):
    blocks = code_blocks(ROOT / "README.md")
    assert blocks
    program = WITHOUT_PANDAS + 2 * "".join(blocks)
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    first, second = result.stdout[: len(result.stdout) // 2], result.stdout[len(result.stdout) // 2 :]
    assert first == second != ""


@pytest.mark.filterwarnings("ignore::UserWarning")  # what a fit warns of is a part of what examples show
@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples_run(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_links_in_documents_lead_somewhere():
    for path in PAGES:
        for target in re.findall(r"\]\((?!http)([^)#]+)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def commands_in(path):
    """Yield the words of every `confdiff ...` command in the code of a page."""
    text = path.read_text().replace("\\\n", " ")
    spans = re.findall(r"`(confdiff [^`]+)`", text)
    lines = re.findall(r"^    (confdiff [^#\n]+)", text, re.MULTILINE)
    for command in (*spans, *lines):
        yield command.replace("[", "").replace("]", "").split()[1:]


@pytest.mark.parametrize("path", [path for path in PAGES if path.name != "CONTRIBUTING.md"], ids=lambda path: path.name)
def test_commands_in_documents_exist(path):
    for words in commands_in(path):
        command = typer.main.get_command(app)
        while words and hasattr(command, "commands") and not words[0].startswith("-"):
            name, *words = words
            assert set(name.split("|")) <= set(command.commands), f"{path.name}: no command {name!r}"
            command = command.commands[name.split("|")[0]]
        options = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        for word in words:
            flag = word.split("=")[0]
            assert not flag.startswith("-") or flag in options, f"{path.name}: {command.name} has no option {flag}"


def listed_calls():
    """Yield (indentation, file, name) of every function in the call paths of docs/design.md."""
    for line in (ROOT / "docs" / "design.md").read_text().splitlines():
        match = re.match(r"( *)\d+\. `([\w/]+\.py):([\w.]+)`", line)
        if match:
            yield len(match[1]), match[2], match[3]


def definitions(path):
    """Return the functions, classes and methods that a file defines."""
    names = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            names |= {f"{node.name}.{member.name}" for member in node.body if isinstance(member, ast.FunctionDef)}
    return names


def layer_numbers():
    """Return package -> number of its layer, counted from 0 at the bottom."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {package: number for number, layer in enumerate(reversed(layers)) for package in layer.split(" | ")}


def test_call_paths_name_functions_that_exist_and_go_downwards():
    layer_of = layer_numbers()
    callers = []
    for indentation, file, name in listed_calls():
        path = ROOT / "src" / "confdiff" / file
        assert path.is_file(), file
        assert name in definitions(path), f"{file} does not define {name}"
        package = file.split("/")[0].removesuffix(".py")
        callers = [(column, above) for column, above in callers if column < indentation]
        if callers:
            caller = callers[-1][1]
            assert package == caller or layer_of[package] < layer_of[caller], f"{file}:{name} is not below {caller}"
        callers.append((indentation, package))
    assert callers


def test_versions_agree():
    assert f"version: {confdiff.__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {confdiff.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_every_dependency_is_pinned_and_explained():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = (ROOT / "constraints.txt").read_text().lower()
    explained = (ROOT / "docs" / "design.md").read_text()
    extras = [requirement for extra in project["optional-dependencies"].values() for requirement in extra]
    for requirement in [*project["dependencies"], *extras]:
        name = re.match(r"[\w-]+", requirement).group()
        if name == project["name"]:  # an extra that holds another
            continue
        assert f"\n{name}==" in pinned, name
        assert name in explained, name
