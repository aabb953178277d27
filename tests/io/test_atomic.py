import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from confdiff.io.atomic import atomic_file, atomic_files, atomic_folder, recover_folder, write_text
from confdiff.io.tensors import load_tree, save_tree


def test_a_tree_comes_back_as_it_was(tmp_path):
    shared = torch.arange(6.0)
    tree = {
        "weights": {"a": shared.view(2, 3).t(), "b": shared},
        "state": {0: {"step": torch.tensor(3), "none": None}, 1: [1, 2.5, "three", True]},
        "exact": [0.1 + 0.2, 1e-320, math.inf],
    }
    save_tree(tmp_path / "deep" / "tree.safetensors", tree)
    back = load_tree(tmp_path / "deep" / "tree.safetensors")
    assert torch.equal(back["weights"]["a"], tree["weights"]["a"])
    assert torch.equal(back["weights"]["b"], shared)
    assert back["state"][0]["step"].item() == 3
    assert back["state"][0]["none"] is None
    assert back["state"][1] == [1, 2.5, "three", True]
    assert back["exact"] == tree["exact"]


@pytest.mark.parametrize("content", [b"", b"not safetensors", b"\x80\x04\x95"])
def test_a_foreign_file_is_refused(tmp_path, content):
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(ValueError, match="is damaged"):
        load_tree(tmp_path / "file")


def test_a_truncated_file_is_refused(tmp_path):
    path = tmp_path / "tree"
    save_tree(path, {"x": torch.zeros(100)})
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(ValueError, match="damaged"):
        load_tree(path)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file.txt"
    path.write_text("old")

    def write_half():
        with atomic_file(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError("disk full")

    with pytest.raises(RuntimeError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
    with atomic_file(path) as temporary:
        temporary.write_text("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


REPLACE = """
import sys, time, torch
from confdiff.io.tensors import save_tree
end = time.monotonic() + 4
while time.monotonic() < end:
    for size in (10, 10_000, 200):
        save_tree(sys.argv[1], {"values": torch.ones(size), "size": size})
"""


def test_a_reader_sees_one_file_while_another_process_replaces_it(tmp_path):
    save_tree(tmp_path / "tree", {"values": torch.ones(10), "size": 10})
    writer = subprocess.Popen([sys.executable, "-c", REPLACE, str(tmp_path / "tree")])
    sizes = set()
    while writer.poll() is None:
        tree = load_tree(tmp_path / "tree")
        assert len(tree["values"]) == tree["size"]
        sizes.add(tree["size"])
    assert writer.returncode == 0
    assert sizes == {10, 200, 10_000}


def old_folder(tmp_path):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "file").write_text("old")
    return folder


def replace_folder(folder):
    with atomic_folder(folder) as temporary:
        (temporary / "file").write_text("new")


@pytest.mark.parametrize("error", [KeyboardInterrupt, PermissionError("no"), OSError(28, "full")])
@pytest.mark.parametrize("step", [1, 2])
def test_a_failed_renaming_keeps_the_old_folder(tmp_path, monkeypatch, error, step):
    folder = old_folder(tmp_path)
    fail_at(monkeypatch, step, error)
    with pytest.raises(error if isinstance(error, type) else type(error)):
        replace_folder(folder)
    monkeypatch.undo()
    assert (folder / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [folder]
    replace_folder(folder)
    assert (folder / "file").read_text() == "new"
    assert list(tmp_path.iterdir()) == [folder]


def fail_at(monkeypatch, step, error):
    """Let the renaming of this number raise an error, and all others succeed."""
    rename = Path.rename
    calls = []

    def fail(self, target):
        calls.append(self)
        if len(calls) == step:
            raise error
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)


def test_the_old_folder_survives_if_another_takes_its_name_meanwhile(tmp_path, monkeypatch):
    folder = old_folder(tmp_path)
    rename = Path.rename

    def taken(self, target):
        rename(self, target)
        if self == folder:
            folder.mkdir()
            (folder / "theirs").write_text("kept")

    monkeypatch.setattr(Path, "rename", taken)
    with pytest.raises(FileExistsError, match="appeared while it was being replaced; the version before is in"):
        replace_folder(folder)
    assert (folder / "theirs").read_text() == "kept"
    (hidden,) = tmp_path.glob(".model.*.old")
    assert (hidden / "file").read_text() == "old"


KILL = """
import os, signal, sys
from pathlib import Path
from confdiff.io import atomic
folder, fatal = Path(sys.argv[1]), int(sys.argv[2])
events = ("open", "os.rename", "os.mkdir", "os.remove", "os.rmdir", "os.chmod", "os.listdir", "os.scandir",
          "tempfile.mkstemp", "tempfile.mkdtemp", "shutil.rmtree")
seen = 0

def die(event, arguments):
    global seen
    if event in events:
        if seen == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        seen += 1

sys.addaudithook(die)
with atomic.atomic_folder(folder) as temporary:
    atomic.write_text(temporary / "file", "new")
"""


def test_killed_at_any_call_the_old_or_the_new_folder_is_recovered(tmp_path):
    """Kill the writer before each call to the system, from the first to the last one."""
    contents = []
    hidden = 0
    for step in range(100):
        folder = tmp_path / str(step) / "model"
        folder.mkdir(parents=True)
        (folder / "file").write_text("old")
        code = forked(KILL, folder, step)
        hidden += not folder.exists()
        if not folder.exists():
            with pytest.warns(UserWarning, match="was stopped while it replaced .*; the version before was put back"):
                recover_folder(folder)
        contents.append((folder / "file").read_text())
        replace_folder(folder)
        assert [path.name for path in folder.parent.iterdir()] == ["model"]
        if code == 0:
            break
    assert code == 0
    assert step > 10
    assert hidden >= 1, "no kill between the two renamings"
    assert contents == sorted(contents, reverse=True)  # first old, then new
    assert set(contents) == {"old", "new"}


def forked(code, *arguments):
    """Run code in a forked process, which saves the imports, and return its exit status."""
    child = os.fork()
    if child == 0:
        try:
            sys.argv = ["-c", *map(str, arguments)]
            exec(code, {})
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_an_old_version_that_cannot_be_put_back_is_named(tmp_path, monkeypatch):
    folder = old_folder(tmp_path)
    assert forked(KILL_BETWEEN, folder) == -9
    fail_at(monkeypatch, 1, PermissionError(13, "Permission denied"))
    with pytest.raises(OSError, match=r"the version before is in .*\.old. Rename it. Permission denied"):
        recover_folder(folder)


KILL_BETWEEN = KILL.replace("if seen == fatal:", "if str(arguments[1:2]) == repr((str(folder),)):").replace(
    "int(sys.argv[2])", "0"
)


def test_files_that_belong_together_are_renamed_at_the_end(tmp_path):
    files = {"first": tmp_path / "a.txt", "second": tmp_path / "b.txt"}

    def write(text, error=None):
        with atomic_files(files) as temporaries:
            for path in temporaries.values():
                write_text(path, text)
            if error:
                raise error

    write("old")
    with pytest.raises(RuntimeError):
        write("new", RuntimeError())
    assert [path.read_text() for path in files.values()] == ["old", "old"]
    assert sorted(tmp_path.iterdir()) == list(files.values())
    write("new")
    assert [path.read_text() for path in files.values()] == ["new", "new"]


def test_a_link_is_followed(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_name_of_255_bytes_can_be_written(tmp_path):
    path = tmp_path / ("ä" * 124 + ".jsonl")
    write_text(path, "text")
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_names_the_output(tmp_path):
    with pytest.raises(OSError, match=r"out.txt cannot be written: No space left on device. Make room"):
        fill(tmp_path / "out.txt")
    assert list(tmp_path.iterdir()) == []


def fill(path):
    with atomic_file(path), Path("/dev/full").open("wb", buffering=0) as full:
        full.write(b"x")
