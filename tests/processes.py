"""Find the processes that a command has started, in /proc."""

import os
from pathlib import Path

import pytest

in_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="finds processes in /proc")


def children_of(pid):
    """Return the process ids of all descendants."""
    children = [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return children + [descendant for child in children for descendant in children_of(child)]


def runs(pid):
    """Return whether a process runs; one that has ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().split(")")[-1][:3] if Path("/proc").exists() else True
