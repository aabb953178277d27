"""Temporary files of killed processes are removed, and nobody else's."""

import os
import signal
import time

import pytest

from confdiff.io.atomic import write_text
from confdiff.io.temporary import is_being_written, remove_leftovers, temporary_file, temporary_folder


def leave_behind(target, make=temporary_file):
    """Let a process die while it writes, and return the name of its temporary file."""
    child = os.fork()
    if child == 0:
        with make(target) as temporary:
            (temporary / "inner" if temporary.is_dir() else temporary).write_text("half")
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (name,) = (path for path in target.parent.iterdir() if f"-{child}-" in path.name)
    return name


@pytest.mark.parametrize("make", [temporary_file, temporary_folder])
@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz", "model", "ä" * 120 + ".csv"])
def test_the_next_run_removes_what_a_killed_one_left(tmp_path, make, name):
    target = tmp_path / name
    left = leave_behind(target, make)
    assert left.exists()
    write_text(target, "whole")
    assert list(tmp_path.iterdir()) == [target]


def test_other_files_are_never_removed(tmp_path):
    target = tmp_path / "scores.csv"
    left = leave_behind(target)
    others = [
        tmp_path / name
        for name in (
            left.name.replace("scores", "other"),  # of another output
            left.name.replace(".scores.csv.", ".scores.csv.old."),
            ".scores.csv.tmp",
            ".scores.csv.12345678-99999999-abcdefgh.tmp.csv",  # of another machine
            left.name.replace(".tmp", ".temp"),
            left.name[1:],
            f".scores.csv.{'g' * 8}-1-abcdefgh.tmp.csv",
        )
    ]
    for path in others:
        path.write_text("theirs")
    remove_leftovers(target)
    assert sorted(tmp_path.iterdir()) == sorted(others)


def test_a_file_that_a_running_process_writes_is_kept(tmp_path):
    target = tmp_path / "scores.csv"
    child = os.fork()
    if child == 0:
        with temporary_file(target):
            signal.pause()
    try:
        while not any(tmp_path.iterdir()):
            time.sleep(0.01)
        with temporary_file(target) as own:
            remove_leftovers(target)
            assert len(list(tmp_path.iterdir())) == 2
            assert all(map(is_being_written, tmp_path.iterdir()))
        assert not own.exists()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    remove_leftovers(target)
    assert list(tmp_path.iterdir()) == []


def test_a_leftover_with_the_number_of_this_process_is_removed(tmp_path):
    """As in a container, where every run has the same process number."""
    target = tmp_path / "scores.csv"
    with temporary_file(target) as own:
        name = own.name
    (tmp_path / name).write_text("half")
    remove_leftovers(target)
    assert list(tmp_path.iterdir()) == []
