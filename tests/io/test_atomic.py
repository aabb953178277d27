import math
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from confdiff.io.atomic import atomic_file, atomic_folder, check_new_file, check_new_folder
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
    with pytest.raises(ValueError, match="not a file that confdiff saved, or it is damaged"):
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


def test_an_interruption_while_a_folder_is_replaced_keeps_the_old_one(tmp_path, monkeypatch):
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "file").write_text("old")
    rename = Path.rename

    def interrupted(self, target):
        if self.suffix == ".tmp":
            raise KeyboardInterrupt
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", interrupted)
    with pytest.raises(KeyboardInterrupt), atomic_folder(folder, overwrite=True) as temporary:
        (temporary / "file").write_text("new")
    assert (folder / "file").read_text() == "old"
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.parametrize("check", [check_new_file, check_new_folder])
def test_an_output_that_exists_is_kept_unless_it_may_be_overwritten(tmp_path, check):
    check(tmp_path / "missing")
    output = tmp_path / "output"
    inner = output / "file" if check is check_new_folder else output
    inner.parent.mkdir(exist_ok=True)
    inner.write_text("contents")
    check(output, overwrite=True)
    with pytest.raises(FileExistsError, match=r"output already exists.*overwrite=True"):
        check(output)
