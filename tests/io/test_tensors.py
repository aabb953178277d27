"""Trees of tensors come back as they were; a file that is not one is refused by its name."""

import json
import struct

import pytest
import torch

from confdiff.io.damage import DamagedFile
from confdiff.io.tensors import check_tensors, load_tree, save_tree

TREE = {"weights": {"a": torch.arange(6.0).view(2, 3)}, 3: [1, None, "text", float("nan")], "empty": {}}


def packed(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def header_of(tree):
    return packed({"__metadata__": {"tree": tree if isinstance(tree, str) else json.dumps(tree)}})


def test_a_tree_comes_back(tmp_path):
    save_tree(tmp_path / "tree", TREE)
    tree = load_tree(tmp_path / "tree")
    assert torch.equal(tree["weights"]["a"], TREE["weights"]["a"])
    assert str(tree[3]) == "[1, None, 'text', nan]"
    assert tree["empty"] == {}


@pytest.mark.parametrize(
    "contents",
    [
        b"",
        b"short",
        bytes(100),
        struct.pack("<Q", 2**60) + b"{}",
        packed({}),
        packed([]),
        packed({"a": 1}),
        packed({"__metadata__": {}}),
        packed({"__metadata__": 3}),
        packed({"__metadata__": {"tree": 3}}),
        packed({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}),
        packed({"a": {"dtype": "F32", "shape": [2**60], "data_offsets": [0, 8]}}, bytes(8)),
        packed({"a": {"dtype": "F32", "shape": [2], "data_offsets": "ab"}}, bytes(8)),
        packed(b"[" * 100_000),
        packed(b'{"__metadata__": {"tree": "1"}, "__metadata__": {"tree": "2"}}'),
        header_of("[" * 100_000 + "]" * 100_000),
        header_of("3"),
        header_of([]),
        header_of({"__tensor__": "a"}),
        header_of({"__tensor__": []}),
        header_of({"plain": 1}),
        header_of({"__dict__": 3}),
        header_of({"__dict__": [["a"]]}),
        header_of({"__dict__": [[["list"], 1]]}),
        header_of({"__dict__": [["a", 1], ["a", 2]]}),
    ],
)
def test_files_that_are_not_trees_are_refused(tmp_path, contents):
    (tmp_path / "tree").write_bytes(contents)
    with pytest.raises(DamagedFile, match=r"tree is damaged: .*\. Train again\.$"):
        load_tree(tmp_path / "tree", remedy="Train again.")


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ([1], "must be a dictionary"),
        ({}, "missing or unknown: 'a'"),
        ({"a": torch.zeros(2), "b": torch.zeros(1)}, "missing or unknown: 'b'"),
        ({"a": 1}, "a of the weights must be a tensor"),
        ({"a": torch.zeros(2, 1)}, "must have the shape"),
        ({"a": torch.zeros(2, dtype=torch.float64)}, "float32; got"),
        ({"a": torch.tensor([0.0, float("nan")])}, "finite numbers"),
    ],
)
def test_tensors_must_fit_the_description(tensors, message):
    expected = {"a": torch.empty(2, device="meta")}
    with pytest.raises(ValueError, match=message):
        check_tensors("the weights", tensors, expected)
    assert check_tensors("the weights", {"a": torch.ones(2)}, expected)["a"].sum() == 2
