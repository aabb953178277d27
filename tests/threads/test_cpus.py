import os

import pytest

from confdiff.threads import available_cpus


@pytest.fixture
def many_cpus(monkeypatch):
    """A machine with 64 processors."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(64)), raising=False)


def write(root, files):
    """Write a fake /proc and /sys, and return the folder that contains them."""
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def v1(quota, folder="cpu,cpuacct"):
    base = f"sys/fs/cgroup/{folder}"
    return {f"{base}/cpu.cfs_quota_us": f"{quota}\n", f"{base}/cpu.cfs_period_us": "100000\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 64),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "max 100000\n"}, 64),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "400000 100000\n"}, 4),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/unified/cpu.max": "400000 100000\n"}, 4),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "250000 100000\n"}, 2),
        ({"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/cpu.max": "50000 100000\n"}, 1),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/\n", **v1(300000)}, 3),
        ({"proc/self/cgroup": "4:cpu:/\n", **v1(300000, "cpu")}, 3),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/\n", **v1(-1)}, 64),
        ({"proc/self/cgroup": "4:cpuset:/\n", **v1(300000, "cpuset")}, 64),
        ({"proc/self/cgroup": "4:cpu,cpuacct:/docker/1f\n", **v1(300000)}, 3),  # the path of the host
    ],
)
def test_the_quota_of_a_container_limits_the_processors(tmp_path, many_cpus, files, expected):
    assert available_cpus(write(tmp_path, files)) == expected


def test_the_least_quota_of_nested_groups_counts(tmp_path, many_cpus):
    files = {
        "proc/self/cgroup": "0::/user/job/step\n",
        "sys/fs/cgroup/user/job/step/cpu.max": "max 100000\n",
        "sys/fs/cgroup/user/job/cpu.max": "200000 100000\n",
        "sys/fs/cgroup/user/cpu.max": "600000 100000\n",
    }
    assert available_cpus(write(tmp_path, files)) == 2


@pytest.mark.parametrize("text", ["", "what\n", "7 0\n", "-3 100000\n", "1 2 3\n", "\udcff"])
def test_unreadable_quotas_are_ignored(tmp_path, many_cpus, text):
    root = write(tmp_path, {"proc/self/cgroup": "nonsense\n0::/\n", "sys/fs/cgroup/cpu.max": ""})
    (root / "sys/fs/cgroup/cpu.max").write_bytes(text.encode(errors="surrogateescape"))
    assert available_cpus(root) == 64


def test_the_affinity_limits_the_processors(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 5, 7}, raising=False)
    assert available_cpus(tmp_path) == 3


def test_systems_without_affinity_count_the_processors(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "process_cpu_count", lambda: 6, raising=False)
    assert available_cpus(tmp_path) == 6
    monkeypatch.delattr(os, "process_cpu_count")
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert available_cpus(tmp_path) == 1
