"""The guide: its plug-ins run from the wheel in a fresh environment, with two jobs and on Ray, and end in the page."""

import json
import os
import re
import shlex
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
PAGE = (ROOT / "docs" / "plug-ins.md").read_text()
FILES = dict(re.findall(r"```python file=(\w+\.py)\n(.*?)```", PAGE, re.DOTALL))
COMMANDS = [shlex.split(line) for line in re.findall(r"^    (confdiff (?:run|report)[^\n]+)", PAGE, re.MULTILINE)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel of this source tree."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, ROOT]
    built = subprocess.run(command, capture_output=True, text=True, check=False)
    if built.returncode and "No matching distribution found for hatchling" in built.stderr:
        pytest.skip("the wheel is built by hatchling, which needs a package index")
    assert built.returncode == 0, built.stderr
    (path,) = folder.glob("confdiff-*.whl")
    return path


@pytest.fixture(scope="module")
def fresh(wheel, tmp_path_factory):
    """A new environment with the wheel; the dependencies are those of this one. Returns its command."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    python = folder / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "--python", python]
    subprocess.run([*pip, "install", "--no-deps", "--no-index", wheel], check=True)
    place = Path(sysconfig.get_paths(vars={"base": str(folder), "platbase": str(folder)})["purelib"])
    (place / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    return folder / "bin" / "confdiff"


def call(command, words, folder):
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CONFDIFF_DATA")}
    environment |= {"COLUMNS": "200", "NO_COLOR": "1", "CONFDIFF_CACHE": str(folder / "cache")}
    result = subprocess.run([command, *words], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert "Traceback" not in result.stderr
    return result


def records(folder):
    """Return the trials of a folder without their times, sorted."""
    lines = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    timeless = [{name: value for name, value in line.items() if "seconds" not in name} for line in lines]
    return sorted(timeless, key=lambda line: line["key"])


def test_the_method_has_at_most_twenty_lines():
    assert len(FILES["my_squares.py"].splitlines()) <= 20


def test_the_guide_runs_from_the_wheel_with_two_jobs_and_on_ray(fresh, tmp_path):
    pytest.importorskip("ray", reason="needs Ray: install confdiff[ray]")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    module = subprocess.run(
        [fresh.with_name("python"), "-c", "import confdiff; print(confdiff.__file__)"],
        capture_output=True,
        text=True,
        check=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    ).stdout
    assert Path(module).is_relative_to(fresh.parent.parent)
    first, report, *others = COMMANDS
    assert "--jobs" in first
    call(fresh, first[1:], tmp_path)
    call(fresh, report[1:], tmp_path)
    page = (tmp_path / "report" / "results.html").read_text()
    assert "<td>My squares</td>" in page
    text = (tmp_path / "report" / "results.md").read_text()
    (row,) = re.findall(r"\| Digits \| 0.5 \| My squares \|.*", text)
    assert "(3)" in row
    for command in others:
        call(fresh, command[1:], tmp_path)
    on_ray = " ".join(first[1:]).replace("--jobs 2", "--engine ray --results on-ray")
    call(fresh, on_ray.split(), tmp_path)
    by_ray = records(tmp_path / "on-ray")
    keys = {record["key"] for record in by_ray}
    assert len(by_ray) == 6
    assert by_ray == [record for record in records(tmp_path / "results") if record["key"] in keys]
    assert {str(record.get("plugins")) for record in by_ray} == {"None", "{'my_squares': '1.0'}"}


def test_the_wheel_announces_a_plugin_of_an_installed_package(fresh, tmp_path):
    """A package with an entry point is loaded without --plugin, here and in workers."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "my_squares_package.py").write_text(FILES["my_squares.py"])
    info = package / "my_squares_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: my-squares-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[confdiff.plugins]\nmine = my_squares_package\n")
    python = fresh.with_name("python")
    program = "import sysconfig; print(sysconfig.get_paths()['purelib'])"
    place = Path(subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.strip())
    (place / "package.pth").write_text(f"{package}\n")
    try:
        words = [
            "run",
            "digits",
            "--methods",
            "my-squares",
            "--n-pairs",
            "60",
            "--epochs",
            "1",
            "--trials",
            "2",
            "--jobs",
            "2",
        ]
        assert "my-squares" in call(fresh, words, tmp_path).stdout
    finally:
        (place / "package.pth").unlink()
    assert {str(record["plugins"]) for record in records(tmp_path / "results")} == {"{'my_squares_package': '1.0'}"}
