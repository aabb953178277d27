"""Run the real command in a process: forked, which saves the imports, or as the installed script."""

import os
import signal
import subprocess
import sys
import tempfile
import traceback
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

COMMAND = Path(sys.executable).with_name("confdiff")
PLAIN = {"COLUMNS": "200", "NO_COLOR": "1"}
_EVERY_UPDATE = "from confdiff.display import progress; progress.INTERVAL = 0; from confdiff.cli import main; main()"
WITH_EVERY_UPDATE = [sys.executable, "-c", _EVERY_UPDATE]
"""The command, with a line for every update: a short run can be interrupted on a machine of any speed."""


@dataclass
class Result:
    returncode: int
    stdout: str
    stderr: str


def confdiff(*arguments, cwd=None, **variables):
    """Run a command in a forked process and wait for it."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name in ("stdout", "stderr")]
        child = start(*arguments, cwd=cwd, outputs=outputs, **variables)
        _, status = os.waitpid(child, 0)
        return Result(os.waitstatus_to_exitcode(status), *(path.read_text() for path in outputs))


@cache
def _warm():
    """Import once, before forking, what commands import: the first optimiser alone takes seconds."""
    for module in ("torch._dynamo", "matplotlib.backends.backend_agg", "sklearn.metrics", "pyarrow.parquet", "jinja2"):
        import_module(module)


def start(*arguments, cwd=None, outputs=(os.devnull, os.devnull), **variables):
    """Start a command in a forked process and return its process id."""
    _warm()
    child = os.fork()
    if child == 0:
        os._exit(_run([str(argument) for argument in arguments], cwd, outputs, variables))
    return child


def _run(arguments, cwd, outputs, variables):
    """Do what the installed script does, in this process, and return the exit status."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets its background jobs ignore Ctrl-C
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # which nohup ignores
        warnings.resetwarnings()
        warnings.filterwarnings("ignore", category=DeprecationWarning)
        os.environ.update(PLAIN | variables)
        for number, path in enumerate(outputs, start=1):
            os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8") for number in (1, 2))
        os.chdir(cwd or Path.cwd())
        sys.argv = ["confdiff", *arguments]
        from confdiff.cli import main
        from confdiff.cli.console import set_up_consoles

        set_up_consoles()
        main()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
    return 0


def installed(*arguments, cwd=None, **variables):
    """Run the installed script in a new process, as a user does."""
    environment = os.environ | PLAIN | variables
    return subprocess.run([COMMAND, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
