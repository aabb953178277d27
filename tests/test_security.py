"""No module unpickles, evaluates text or starts a shell."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src" / "confdiff"
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {"pickle", "cloudpickle", "dill", "marshal", "shelve", "yaml", "code", "ctypes", "subprocess", "skops"}
FUNCTIONS = {"eval", "exec", "compile", "__import__"}
PROGRAMS = ("exec_module", "run_path", "run_module")
CALLS = {"torch.load", "joblib.load", "os.system", "os.popen", "pandas.read_pickle", "np.fromfile"}
OWN_WORKERS = "work and results of the processes that a run starts itself, in files and pipes of its user"
CLUSTER = "work and results of a Ray cluster, which runs the code of its users anyway"
ALLOWED = {
    (
        "datasets/cifar.py",
        "pickle",
    ): "CIFAR-10 is published as pickles: known checksum, and arrays are all it may build",
    ("engines/handing_over.py", "cloudpickle"): OWN_WORKERS,
    ("engines/handing_over.py", "pickle"): OWN_WORKERS,
    ("engines/local.py", "pickle"): OWN_WORKERS,
    ("engines/local.py", "subprocess"): "runs this Python with a module of confdiff and no shell",
    ("engines/local_member.py", "cloudpickle"): OWN_WORKERS,
    ("engines/local_member.py", "pickle"): OWN_WORKERS,
    ("engines/ray_gang.py", "cloudpickle"): CLUSTER,
    ("engines/ray_gang.py", "pickle"): CLUSTER,
    ("training/distributed.py", "pickle"): "values that rank 0 sends to workers of the same run",
    ("plugins/loading.py", "exec_module"): "runs the plug-ins that the user names, and no others",
    (
        "estimators/checks.py",
        "pickle",
    ): "checks that an estimator can be pickled, on an object that it has just pickled",
    (
        "labelling/live_report.py",
        "subprocess",
    ): "runs this Python with a module of confdiff and no shell; the address of the study goes through stdin",
}


def findings(path):
    """Yield what a module uses of the above."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names if name.name.split(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom):
            root = (node.module or "").split(".")[0]
            if root in MODULES:
                yield root
        elif isinstance(node, ast.Call):
            yield from _of_call(node)


def _of_call(node):
    name = ast.unparse(node.func)
    if name in FUNCTIONS | CALLS:
        yield name
    if name.split(".")[-1] in PROGRAMS:
        yield name.split(".")[-1]
    for keyword in node.keywords:
        is_on = isinstance(keyword.value, ast.Constant) and keyword.value.value is not False
        if keyword.arg in ("allow_pickle", "shell") and is_on:
            yield f"{name}({keyword.arg}=...)"


def test_no_module_unpickles_or_evaluates_text():
    used = {(path.relative_to(SOURCE).as_posix(), name) for path in FILES for name in findings(path)}
    assert used - set(ALLOWED) == set()
    assert set(ALLOWED) - used == set(), "remove what is not needed from ALLOWED"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("import pickle", "pickle"),
        ("from pickle import loads", "pickle"),
        ("import yaml.reader", "yaml"),
        ("torch.load(f)", "torch.load"),
        ("eval(text)", "eval"),
        ("np.load(f, allow_pickle=True)", "np.load(allow_pickle=...)"),
        ("run(text, shell=True)", "run(shell=...)"),
        ("joblib.load(f)", "joblib.load"),
        ("spec.loader.exec_module(module)", "exec_module"),
    ],
)
def test_the_scan_finds_what_it_looks_for(tmp_path, source, name):
    (tmp_path / "module.py").write_text(source)
    assert list(findings(tmp_path / "module.py")) == [name]


def test_the_scan_passes_safe_calls(tmp_path):
    (tmp_path / "module.py").write_text("np.load(f, allow_pickle=False)\nre.compile('a')\nmodel.eval()\n")
    assert list(findings(tmp_path / "module.py")) == []
