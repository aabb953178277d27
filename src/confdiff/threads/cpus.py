"""Count the processors that this process may use: affinity and the quotas of control groups."""

import math
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

_ROOT = Path("/")


def available_cpus(root: Path = _ROOT) -> int:
    """Return the number of processors that this process may use: at least 1.

    It is the number in the affinity mask, or the quota of the control group (a container) if that is lower. A quota of
    2.5 processors counts as 2, because a third thread would be suspended half of the time.

    Parameters
    ----------
    root : Path, default="/"
        The folder that contains ``proc`` and ``sys``.

    Examples
    --------
    >>> available_cpus() >= 1
    True
    """
    return max(1, int(min(_cpus_of_affinity(), _least_quota(root))))


def _cpus_of_affinity() -> int:
    """Return the number of processors in the affinity mask, or of the machine if the system has no mask."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    count_of_process = getattr(os, "process_cpu_count", os.cpu_count)  # from Python 3.13
    return count_of_process() or 1


@cache
def _least_quota(root: Path) -> float:
    """Return the least quota of all control groups, or infinity. It is read once: a block of work asks for it."""
    return min(_quotas(root), default=math.inf)


def _quotas(root: Path) -> Iterator[float]:
    """Yield the quotas, in processors, of the control groups of this process and of all their parents."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2) if line.count(":") >= 2 else ("", "-", "")
        for folder in _mounts(root / "sys/fs/cgroup", controllers):
            for group in _with_parents(folder, path):
                quota = _quota_of(group)
                if quota is not None:
                    yield quota


def _mounts(base: Path, controllers: str) -> list[Path]:
    """Return where groups with these controllers may be mounted: version 2 has none, version 1 has "cpu"."""
    if controllers == "":
        return [base, base / "unified"]
    return [base / controllers, base / "cpu"] if "cpu" in controllers.split(",") else []


def _with_parents(mount: Path, path: str) -> Iterator[Path]:
    """Yield the folder of a group and those of its parents up to the mount.

    In a container the path may be that of the host; then only the mount itself exists.
    """
    names = PurePosixPath(path).parts[1:]
    for length in range(len(names), -1, -1):
        yield mount.joinpath(*names[:length])


def _quota_of(group: Path) -> float | None:
    """Return the quota of a control group in processors, or None if it is unlimited or unknown."""
    limits = _text(group / "cpu.max").split()
    if not limits:
        limits = [_text(group / "cpu.cfs_quota_us").strip(), _text(group / "cpu.cfs_period_us").strip()]
    try:
        quota, period = (int(number) for number in limits)
    except ValueError:  # "max", or a file that is missing or has another form
        return None
    return quota / period if quota > 0 and period > 0 else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except (OSError, UnicodeDecodeError):
        return ""
