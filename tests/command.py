"""The real command, run in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = Path(sys.executable).with_name("confdiff")


def confdiff(*arguments, cwd=None, **variables):
    environment = os.environ | {"COLUMNS": "200", "NO_COLOR": "1"} | variables
    return subprocess.run([COMMAND, *arguments], cwd=cwd, env=environment, capture_output=True, text=True, check=False)
