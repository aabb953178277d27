"""The option --plugin: on every command that uses methods, data sets or networks."""

import json

import pytest

from cli.test_commands import COMMANDS
from command import confdiff, installed
from plugged import DATA, NETWORK, method_file, write

TAKERS = {
    ("methods",),
    ("run",),
    ("reproduce",),
    ("compare",),
    ("report",),
    ("compare",),
    ("fit",),
    ("predict",),
    ("evaluate",),
    ("explain",),
    ("show",),
    ("export",),
    ("pairs", "make"),
    ("data", "list"),
    ("data", "show"),
}


def test_the_commands_that_take_plugins():
    with_option = {
        words for words, command in COMMANDS.items() if any("--plugin" in option.opts for option in command.params)
    }
    assert with_option >= TAKERS


def test_methods_and_data_sets_of_plugins_are_listed(tmp_path):
    method_file(tmp_path)
    write(tmp_path, "blobs.py", DATA)
    listed = confdiff("methods", "--json", "--plugin", "mine.py", cwd=tmp_path)
    assert json.loads(listed.stdout)[-1]["method"] == "my-squares"
    listed = confdiff("data", "list", "--json", "--plugin", "blobs.py", cwd=tmp_path)
    assert json.loads(listed.stdout)[-1] | {"licence": ""} == {
        "name": "my-blobs",
        "what": "a data set of a plug-in",
        "items": "",
        "features": None,
        "classes": 0,
        "positive": "",
        "here": "yes",
        "folder": None,
        "licence": "",
        "source": "a plug-in",
    }


def test_two_jobs_end_in_a_page_with_the_row(tmp_path):
    method_file(tmp_path)
    write(tmp_path, "blobs.py", DATA)
    write(tmp_path, "net.py", NETWORK)
    plugins = ("--plugin", "mine.py", "--plugin", "blobs.py", "--plugin", "net.py")
    run = installed(  # a forked process would inherit the worker processes of other tests
        *("run", "my-blobs", "--methods", "my-squares,confdiff-abs", "--model", "tiny", "--jobs", "2", *plugins),
        cwd=tmp_path,
    )
    assert run.returncode == 0, run.stderr
    assert "model tiny" in run.stdout
    hint = "Write a report with: confdiff report --results results --plugin mine.py --plugin blobs.py --plugin net.py"
    assert hint in run.stdout
    report = confdiff("report", *plugins, cwd=tmp_path)
    assert report.returncode == 0, report.stderr
    page = (tmp_path / "report" / "results.html").read_text()
    assert page.count("<td>My blobs</td>") == 5  # two priors with two methods, and the list of plug-ins
    text = (tmp_path / "report" / "results.md").read_text()
    assert "| My blobs | 0.3 | My squares | tiny |  | 2 |" in text
    assert f"--model tiny --priors 0.3 --methods my-squares --epochs 2 --trials 1 {' '.join(plugins)}" in text
    without = confdiff("report", "-o", "other", cwd=tmp_path)
    assert without.returncode == 0, without.stderr
    assert "4 trials come from plug-ins that are not loaded: blobs 0.2, mine 1.0 and net 3. Pass --plugin FILE" in (
        without.stderr
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--plugin", "missing.py"), "error: the plug-in missing.py does not exist."),
        (("run", "--plugin", "broken.py"), "error: the plug-in broken.py, line 1, raised ZeroDivisionError: division"),
        (("methods", "--plugin", "nothing"), "error: the plug-in nothing does not exist: it is neither"),
        (
            ("run", "--methods", "quadratics"),
            "error: unknown method 'quadratics'. Known: ",
        ),
        (("run", "--methods", "quadratics"), "If a plug-in defines it, load that plug-in first: --plugin FILE.py."),
        (("run", "xxxxxxx"), "If a plug-in defines it, load that plug-in first: --plugin FILE.py."),
        (("run", "--model", "xxxxxxx"), "If a plug-in defines it, load that plug-in first: --plugin FILE.py."),
        (("fit", "i.csv", "p.csv", "--method", "xxxxxxx"), "load that plug-in first: --plugin FILE.py."),
    ],
)
def test_mistakes_are_one_line(tmp_path, arguments, message):
    write(tmp_path, "broken.py", "1 / 0")
    result = confdiff(*arguments, cwd=tmp_path)
    assert result.returncode == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_an_installed_plugin_that_fails_is_a_warning(tmp_path):
    write(tmp_path, "bad_package.py", "1 / 0")
    write(tmp_path, "bad_package-1.dist-info/METADATA", "Metadata-Version: 2.1\nName: bad-package\nVersion: 1\n")
    write(tmp_path, "bad_package-1.dist-info/entry_points.txt", "[confdiff.plugins]\nbad = bad_package\n")
    result = installed("methods", PYTHONPATH=f"{tmp_path}:{__import__('os').environ.get('PYTHONPATH', '')}")
    assert result.returncode == 0
    assert "bad-package was not loaded: the plug-in bad_package raised ZeroDivisionError" in result.stderr
