"""The packages of the extra are imported only where they are used, and named where they are missing."""

import subprocess
import sys

import pytest

MISSING = "import sys; sys.modules[{name!r}] = None; "


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize(
    "code", ["import confdiff, confdiff.labelling", "from confdiff.cli.main import app", "import confdiff.cli.fit"]
)
def test_imports_do_not_load_the_extra(code):
    names = ("sqlalchemy", "fastapi", "uvicorn", "psycopg")
    result = run(f"{code}; import sys; print([name for name in {names!r} if name in sys.modules])")
    assert result.stdout.strip() == "[]", result.stderr


def test_a_missing_package_is_named(tmp_path):
    code = (
        MISSING.format(name="sqlalchemy")
        + f"sys.argv = ['confdiff', 'label', 'status', {str(tmp_path / 'a.db')!r}]; "
        + "from confdiff.cli.main import main; main()"
    )
    result = run(code)
    assert result.returncode == 2
    assert "needs the package sqlalchemy: install it with `pip install 'confdiff[label]'`" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_missing_driver_is_named():
    code = (
        MISSING.format(name="psycopg")
        + "sys.argv = ['confdiff', 'fit', 'postgresql://me@host/data?study=a']; "
        + "from confdiff.cli.main import main; main()"
    )
    result = run(code)
    assert result.returncode == 2
    assert "need the package psycopg: install it with `pip install 'confdiff[postgresql]'`" in result.stderr
